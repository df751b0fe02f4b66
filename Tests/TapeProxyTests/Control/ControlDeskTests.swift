import Testing
@testable import TapeProxy

@Suite struct ControlDeskTests {
    @Test func connectionsHaveALimitAndComeBack() throws {
        let running = try RunningSessions()
        var idle: [RawConnection] = []
        for _ in 0..<ControlDesk.connectionLimit { idle.append(try RawConnection(port: running.controlPort)) }
        let late = try RawConnection(port: running.controlPort)
        #expect(String(decoding: try late.readToEnd().octets, as: UTF8.self).hasPrefix("HTTP/1.1 503 "))
        for connection in idle { connection.closeOutput() }
        for connection in idle { try connection.expectEnd() }
        #expect(try running.ask("GET", "/sessions").status == 200)
    }
}
