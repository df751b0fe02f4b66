import Foundation
import Testing
@testable import TapeProxy

@Suite struct ControlServerTests {
    @Test(arguments: ["0.0.0.0", "::", "192.0.2.1", "example.com"]) func controlIsForThisMachineAlone(_ host: String) throws {
        let running = try RunningSessions()
        let error = #expect(throws: ProxyError.self) {
            try ControlServer.start(for: running.server, host: host, token: Secret(RunningSessions.token))
        }
        #expect(error?.code == .remoteNotAllowed)
    }

    @Test func aPortInUseIsReported() throws {
        let running = try RunningSessions()
        let error = #expect(throws: ProxyError.self) {
            try ControlServer.start(for: running.server, port: running.port, token: Secret(RunningSessions.token))
        }
        #expect(error?.code == .cannotListen)
    }

    @Test func requestsWithoutTheTokenOrFromAPageAreRefused() throws {
        let running = try RunningSessions()
        let host = "Host: \(running.control.address)"
        let token = "Authorization: Bearer \(RunningSessions.token)"
        for (fields, status) in [
            ([host], 401), ([host, "Authorization: Bearer wrong"], 401), (["Host: evil.test", token], 403),
            (["Host: evil.test:\(running.controlPort)", token], 403), ([host, token, "Origin: http://evil.test"], 403),
            ([host, token, "Origin: null"], 403), ([host, token, "Origin: http://\(running.control.address)"], 200), ([token], 400),
        ] {
            for path in ["/sessions", "/"] {
                let answer = try running.raw((["GET \(path) HTTP/1.1"] + fields).joined(separator: "\r\n") + "\r\n\r\n")
                let wanted = status == 200 && path == "/" ? 404 : status
                #expect(answer.hasPrefix("HTTP/1.1 \(wanted) "), "\(fields) \(answer.prefix(30))")
                #expect(!answer.contains(RunningSessions.token))
            }
        }
    }

    @Test func aStopLetsOrdersComeToTheirEnd() throws {
        let running = try RunningSessions()
        _ = try running.ask("POST", "/sessions", body: #"{"cassette": "a.json"}"#)
        running.control.stop()
        #expect(throws: RawError.self) { try RawConnection(port: running.controlPort) }
        #expect(running.stop().count == 1)
    }
}
