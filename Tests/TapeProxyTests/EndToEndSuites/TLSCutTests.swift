import CassetteModel
import CassetteStore
import TapeTestSupport
import Testing
@testable import TapeProxy

/// Answers inside TLS that do not reach their end. They are never forwarded, recorded or replayed as whole (RFC 8446, 6.1).
@Suite struct TLSCutTests {
    private typealias Answer = LiveAndReplayed.Answer

    private let scene: TLSScene

    init() throws { self.scene = try TLSScene() }

    @Test(
        arguments: [
            ("Content-Length: 10", "part"), ("Transfer-Encoding: chunked", "a\r\npart"), ("Transfer-Encoding: chunked", "4\r\npart\r\n"),
        ])
    func aCutBodyIsDeliveredWithoutAGoodbye(field: String, part: String) throws {
        let origin = try RawOrigin(
            self.scene.origin().plays { stream in
                try stream.expectRequest("GET /")
                try stream.send("HTTP/1.1 200 OK\r\n\(field)\r\n\r\n\(part)")
            })
        let (answer, recorded) = try LiveAndReplayed.compare(origin, configure: self.scene.configure) { client in
            let stream = try self.scene.secure(client, to: origin.authority)
            try stream.send(TLSScene.request())
            let (bytes, end) = try stream.readToEnd()
            return Answer(bytes: bytes, end: end)
        }
        #expect(answer.text == "HTTP/1.1 200 OK\r\n\(field)\r\n\r\n\(part)")
        #expect(answer.end == .truncated)
        #expect(recorded.first?.response?.body?.isComplete == false)
        guard case .cut(let cut)? = recorded.first?.outcome else { throw RawError("\(recorded) is not cut") }
        #expect(cut.by == .origin)
    }

    @Test func aBodyToTheEndWithoutCloseNotifyIsCut() throws {
        let gate = Gate("the client has the part")
        let origin = try RawOrigin(
            self.scene.origin().plays { stream in
                try stream.expectRequest("GET /")
                try stream.send("HTTP/1.1 200 OK\r\n\r\npart")
                try gate.wait()
                stream.cutOutput()
                _ = try? stream.readToEnd()
            })
        let proxy = try self.scene.proxy()
        let stream = try self.scene.secure(proxy.connect(), to: origin.authority)
        try stream.send(TLSScene.request())
        _ = try stream.read(through: "part")
        gate.open()
        #expect(try stream.readToEnd().end != .closed)
        stream.close()
        origin.finish()
        let recorded = try proxy.recorded()
        #expect(recorded.first?.response?.body?.isComplete == false)
        guard case .cut(let cut)? = recorded.first?.outcome else { throw RawError("\(recorded) is not cut") }
        #expect(cut.by == .origin)
        #expect(cut.reason.contains("close_notify"))

        let replay = try self.scene.proxy(.none, in: proxy.folder)
        let again = try self.scene.secure(replay.connect(), to: origin.authority)
        try again.send(TLSScene.request())
        #expect(try again.readToEnd().end != .closed)
    }

    @Test func aWholeBodyNeedsNoGoodbye() throws {
        let origin = try RawOrigin(
            self.scene.origin().plays { stream in
                try stream.expectRequest("GET /")
                try stream.send(TLSScene.answer("whole"))
                stream.cutOutput()
                _ = try? stream.readToEnd()
            })
        let (answer, recorded) = try LiveAndReplayed.compare(origin, configure: self.scene.configure) { client in
            let stream = try self.scene.secure(client, to: origin.authority)
            try stream.send(TLSScene.request())
            return Answer(bytes: try stream.readMessage())
        }
        #expect(answer.text == TLSScene.answer("whole"))
        #expect(recorded.first?.outcome == .complete)
    }

    @Test func aClientThatLeavesCancelsTheRequestAtItsOrigin() throws {
        for saysGoodbye in [true, false] {
            let gate = Gate("the client has left")
            let origin = try RawOrigin(
                self.scene.origin().plays { stream in
                    try stream.expectRequest("GET /")
                    try stream.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart")
                    try gate.wait()
                    _ = try stream.readToEnd()
                })
            let proxy = try self.scene.proxy()
            let stream = try self.scene.secure(proxy.connect(), to: origin.authority)
            try stream.send(TLSScene.request())
            _ = try stream.read(through: "part")
            if saysGoodbye { stream.closeOutput() } else { stream.cutOutput() }
            gate.open()
            origin.finish()
            let recorded = try #require(try proxy.recorded().first)
            guard case .cut(let cut) = recorded.outcome else { throw RawError("\(recorded.outcome) is no cut") }
            #expect(cut.by == .client)
            #expect(proxy.notices.lines.isEmpty)
        }
    }

    @Test func aRequestBodyThatTheClientBreaksOffIsCut() throws {
        let gate = Gate("the part is at the origin")
        let origin = try RawOrigin(
            self.scene.origin().plays { stream in
                try stream.expectRequest("POST /")
                try stream.expect("part")
                gate.open()
                _ = try stream.readToEnd()
            })
        let proxy = try self.scene.proxy()
        let stream = try self.scene.secure(proxy.connect(), to: origin.authority)
        try stream.send(TLSScene.request("POST", "/", "Content-Length: 9", body: "part"))
        // If the client leaves earlier, nothing is forwarded.
        try gate.wait()
        stream.cutOutput()
        origin.finish()
        let recorded = try proxy.recorded()
        #expect(recorded.first?.request.body?.isComplete == false)
    }
}
