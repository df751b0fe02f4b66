import CassetteModel
import Testing
@testable import TapeProxy

/// Peers that keep the proxy waiting are disconnected. The proxy checks once a second.
@Suite struct TimeoutTests {
    @Test func aHeadThatDoesNotComeToItsEndIsA408() throws {
        let proxy = try RunningProxy { $0.limits.requestHead = 1 }
        let client = try proxy.connect()
        try client.send("GET http://h/ HTTP/1.1\r\nHost:")
        let (bytes, _) = try client.readToEnd()
        #expect(String(decoding: bytes, as: UTF8.self).hasPrefix("HTTP/1.1 408 Request Timeout\r\nWiretape-Error: timeout\r\n"))
    }

    @Test func aConnectionWithoutARequestIsClosedSilently() throws {
        let proxy = try RunningProxy {
            $0.limits.requestHead = 1
            $0.limits.clientIdle = 1
        }
        try proxy.connect().expectEnd()
        let used = try proxy.connect()
        try used.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        _ = try used.readMessage()
        try used.expectEnd()
    }

    @Test func aClientThatStopsInItsBodyIsCut() throws {
        let origin = try RawOrigin { connection in
            try connection.expectRequest("POST /")
            try connection.expect("part")
            try connection.expectEnd()
        }
        let proxy = try RunningProxy { $0.limits.clientStall = 1 }
        let client = try proxy.connect()
        try client.send(origin.request("POST", "/", "Content-Length: 9", body: "part"))
        _ = try client.readToEnd()
        origin.finish()
        let recorded = try proxy.recorded()
        guard case .cut(let cut)? = recorded.first?.outcome else { throw RawError("\(recorded) is not cut") }
        #expect(cut.by == .client)
        #expect(recorded.first?.request.body?.isComplete == false)
    }

    @Test func anOriginThatSaysNothingIsA504LiveAndReplayed() throws {
        let origin = try RawOrigin { connection in
            try connection.expectRequest("GET /")
            try connection.expectEnd()
        }
        let (answer, _) = try LiveAndReplayed.compare(origin, configure: { $0.limits.upstreamSilence = 1 }) { client in
            try client.send(origin.request())
            return LiveAndReplayed.Answer(bytes: try client.readMessage())
        }
        #expect(answer.text.hasPrefix("HTTP/1.1 504 Gateway Timeout\r\nWiretape-Error: timeout\r\n"))
    }

    @Test func anOriginThatStopsInItsBodyIsCut() throws {
        let origin = try RawOrigin { connection in
            try connection.expectRequest("GET /")
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart")
            try connection.expectEnd()
        }
        let (answer, recorded) = try LiveAndReplayed.compare(origin, configure: { $0.limits.upstreamSilence = 1 }) { client in
            try client.send(origin.request())
            let (bytes, end) = try client.readToEnd()
            return LiveAndReplayed.Answer(bytes: bytes, end: end)
        }
        #expect(answer.text.hasSuffix("\r\n\r\npart"))
        guard case .cut(let cut)? = recorded.first?.outcome else { throw RawError("\(recorded) is not cut") }
        #expect(cut.by == .origin)
    }

    @Test func anUnusedUpstreamConnectionIsClosed() throws {
        let origin = try RawOrigin { connection in
            try connection.expectRequest("GET /")
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            try connection.expectEnd()
        }
        let proxy = try RunningProxy { $0.limits.upstreamIdle = 1 }
        let client = try proxy.connect()
        try client.send(origin.request())
        _ = try client.readMessage()
        origin.finish()
    }

    @Test func aTunnelWithoutTrafficIsClosed() throws {
        let origin = try RawOrigin { try $0.expectEnd() }
        let proxy = try RunningProxy { $0.limits.tunnelIdle = 1 }
        let client = try proxy.connect()
        try client.send("CONNECT \(origin.authority) HTTP/1.1\r\nHost: \(origin.authority)\r\n\r\n")
        _ = try client.read(through: "\r\n\r\n")
        try client.expectEnd()
        origin.finish()
    }
}
