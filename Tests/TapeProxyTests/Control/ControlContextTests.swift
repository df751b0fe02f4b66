@testable import TapeProxy
import Testing

@Suite struct ControlContextTests {
    @Test func connectionsHaveALimitAndComeBack() throws {
        let running = try RunningSessions()
        var idle: [RawConnection] = []
        for _ in 0..<ControlContext.connectionLimit { idle.append(try RawConnection(port: running.controlPort)) }
        let late = try RawConnection(port: running.controlPort)
        #expect(String(decoding: try late.readToEnd().bytes, as: UTF8.self).hasPrefix("HTTP/1.1 503 "))
        for connection in idle { connection.closeOutput() }
        for connection in idle { try connection.expectEnd() }
        #expect(try running.ask("GET", "/sessions").status == 200)
    }
}
