import Foundation
@testable import TapeProxy
import Testing

@Suite struct ControlHandlerTests {
    @Test func aConnectionServesOneRequest() throws {
        let running = try RunningSessions()
        let request = running.request("GET", "/sessions")
        let answer = try running.raw(request + request)
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.hasSuffix("{ \"sessions\": [] }\n"), "\(answer)")
        #expect(answer.components(separatedBy: "HTTP/1.1").count == 2)
    }

    @Test func anAnswerToHEADIsItsHeadAlone() throws {
        let running = try RunningSessions()
        let answer = try running.raw(running.request("HEAD", "/sessions"))
        #expect(answer.hasPrefix("HTTP/1.1 405 ") && answer.hasSuffix("\r\n\r\n"), "\(answer)")
        let refused = try running.raw("HEAD /sessions HTTP/1.1\r\nHost: \(running.control.address)\r\n\r\n")
        #expect(refused.hasPrefix("HTTP/1.1 401 ") && refused.hasSuffix("\r\n\r\n"), "\(refused)")
    }

    @Test func aClientThatEndsItsSideGetsItsAnswer() throws {
        let running = try RunningSessions()
        let client = try RawConnection(port: running.controlPort)
        try client.send(running.request("GET", "/sessions"))
        client.closeOutput()
        #expect(String(decoding: try client.readToEnd().bytes, as: UTF8.self).hasPrefix("HTTP/1.1 200 OK\r\n"))
    }

    @Test func aHugeBodyIsRefusedWhileItComes() throws {
        let running = try RunningSessions()
        for fields in [["Content-Length: 1073741824"], ["Transfer-Encoding: chunked"]] {
            let client = try RawConnection(port: running.controlPort)
            try client.send(
                "POST /sessions HTTP/1.1\r\nHost: \(running.control.address)\r\nAuthorization: Bearer \(RunningSessions.token)\r\n"
                    + "Content-Type: application/json\r\n\(fields[0])\r\n\r\n")
            let megabyte = [UInt8](repeating: UInt8(ascii: " "), count: 1 << 20)
            if fields[0].hasPrefix("T") { try client.send("40000000\r\n") }
            _ = try? client.send(megabyte, milliseconds: 2000)
            let answer = String(decoding: try client.read(through: "\r\n\r\n"), as: UTF8.self)
            #expect(answer.hasPrefix("HTTP/1.1 413 "), "\(answer)")
        }
        #expect(try running.ask("GET", "/sessions").status == 200)
    }

    @Test func aClientThatWaitsForItGetsA100() throws {
        let running = try RunningSessions()
        let client = try RawConnection(port: running.controlPort)
        let body = #"{"cassette": "a.json"}"#
        let request = running.request("POST", "/sessions", "Expect: 100-continue", body: body)
        try client.send(String(request.dropLast(body.count)))
        try client.expect("HTTP/1.1 100 Continue\r\n\r\n")
        try client.send(body)
        #expect(String(decoding: try client.readToEnd().bytes, as: UTF8.self).hasPrefix("HTTP/1.1 201 Created\r\n"))
    }

    /// The limit for requests is 30 seconds. This client has not shown the token.
    @Test func connectionThatDoesNotShowTheTokenEndsSoon() throws {
        let running = try RunningSessions()
        let client = try RawConnection(port: running.controlPort)
        #expect(String(decoding: try client.readToEnd().bytes, as: UTF8.self).hasPrefix("HTTP/1.1 408 "))
    }

    @Test func aSlowRequestIsGivenUp() throws {
        let running = try RunningSessions { $0.limits.requestHead = 1 }
        let client = try RawConnection(port: running.controlPort)
        try client.send("GET /sess")
        #expect(String(decoding: try client.readToEnd().bytes, as: UTF8.self).hasPrefix("HTTP/1.1 408 "))
    }
}
