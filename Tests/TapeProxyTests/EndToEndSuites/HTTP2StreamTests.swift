import CassetteModel
import Foundation
import NIOCore
import TapeBytes
import TapeExchange
import TapeHTTP2
import TapeTestSupport
import Testing
import TrafficRules
@testable import TapeProxy

/// HTTP/2 streams through a proxy, one at a time and concurrently, with origins that behave arbitrarily.
@Suite struct HTTP2StreamTests {
    private func client(_ proxy: RunningProxy) throws -> HTTP2Peer { try HTTP2Peer(.client, over: proxy.connect()) }

    /// An origin that speaks HTTP/2 with prior knowledge.
    private func origin(_ scripts: (@Sendable (HTTP2Peer) throws -> Void)...) throws -> RawOrigin {
        try RawOrigin(scripts: scripts.map { script in { try script(try HTTP2Peer(.server, over: $0)) } })
    }

    @Test func aStreamThatIsNotReadStopsNoOther() throws {
        let large = String(repeating: "x", count: 2_000_000)
        let origin = try self.origin { peer in
            try peer.wait(for: "two requests") { $0.heads.count == 2 }
            for (id, head) in peer.heads { try peer.respond(id, body: head.path == "/large" ? large : "small") }
            try peer.wait(for: "the large body to be taken") { $0.closed.count == 2 }
        }
        let proxy = try RunningProxy()
        let client = try self.client(proxy)
        let stalled = try client.request("http://\(origin.authority)/large")
        client.stalled = [stalled]
        let other = try client.request("http://\(origin.authority)/small")
        try client.wait(for: "the other answer") { $0.ended.contains(other) && ($0.bodies[stalled]?.count ?? 0) == 65_535 }
        #expect(client.text(other) == "small" && !client.ended.contains(stalled))
        client.stalled = []
        client.codec.credit(stalled, 65_535)
        try client.flush()
        try client.wait(for: "the rest") { $0.ended.contains(stalled) }
        #expect(client.bodies[stalled]?.count == large.utf8.count)
        origin.finish()
        let sizes = try proxy.recorded().map { $0.response?.body?.size ?? -1 }
        #expect(sizes.sorted() == [5, 2_000_000])
    }

    @Test func aBodyThatTheOriginDoesNotReadHoldsItsClientAlone() throws {
        let origin = try self.origin { peer in
            // In the order of the requests; the body may arrive before the second.
            let (upload, other): (Int32, Int32) = (1, 3)
            peer.stalled = [upload]
            try peer.wait(for: "two requests") { $0.heads.count == 2 && $0.heads[upload]?.method == "POST" }
            try peer.wait(for: "a window of the body") { $0.bodies[upload]?.count == 65_535 }
            try peer.respond(other, body: "small")
            try peer.wait(for: "the other to be read") { $0.closed[other] != nil }
            peer.stalled = []
            peer.codec.credit(upload, 65_535)
            try peer.flush()
            try peer.wait(for: "the whole body") { $0.ended.contains(upload) }
            try peer.respond(upload, body: "\(peer.bodies[upload]?.count ?? 0)")
            try peer.wait(for: "the answer to be read") { $0.closed[upload] != nil }
        }
        let proxy = try RunningProxy()
        let client = try self.client(proxy)
        let upload = try client.request("http://\(origin.authority)/up", method: "POST", hasBody: true)
        let other = try client.request("http://\(origin.authority)/small")
        client.codec.send(upload, ByteBuffer(repeating: 7, count: 1_000_000))
        client.codec.end(upload)
        try client.flush()
        try client.wait(for: "the other answer") { $0.ended.contains(other) }
        try client.wait(for: "the upload's answer") { $0.ended.contains(upload) }
        #expect(client.text(upload) == "1000000")
        origin.finish()
    }

    @Test func unprocessedRequestIsSentAgainOnce() throws {
        let origin = try self.origin(
            { peer in
                try peer.wait(for: "a request") { !$0.ended.isEmpty }
                peer.codec.reset(1, code: .refusedStream)
                try peer.flush()
                try peer.wait(for: "it again") { $0.ended.contains(3) }
                try peer.respond(3, body: "second")
                try peer.wait(for: "a third") { $0.ended.contains(5) }
                peer.codec.reset(5, code: .refusedStream)
                try peer.flush()
                try peer.wait(for: "that again") { $0.ended.contains(7) }
                peer.codec.reset(7, code: .refusedStream)
                try peer.flush()
                try peer.wait(for: "the end") { $0.isOver }
            })
        let proxy = try RunningProxy()
        let client = try self.client(proxy)
        let first = try client.request("http://\(origin.authority)/a")
        try client.wait(for: "the answer") { $0.ended.contains(first) }
        #expect(client.text(first) == "second")
        let second = try client.request("http://\(origin.authority)/b")
        try client.wait(for: "the refusal") { $0.closed[second] != nil }
        #expect(client.closed[second] == .refusedStream && client.heads[second] == nil)
        let recorded = try proxy.recorded()
        origin.finish()
        #expect(recorded.count == 2 && recorded.first?.outcome == .complete)
        guard case .failed(let failure)? = recorded.last?.outcome else {
            Issue.record("\(recorded)")
            return
        }
        #expect(failure.kind == .unprocessed && failure.message.contains("REFUSED_STREAM"))
        let replay = try RunningProxy(.none, in: proxy.folder, repetition: .last)
        let replayed = try self.client(replay)
        let third = try replayed.request("http://\(origin.authority)/b")
        try replayed.wait(for: "the refusal again") { $0.closed[third] != nil }
        #expect(replayed.closed[third] == .refusedStream && replayed.heads[third] == nil)
        let answer = try replay.ask(
            "GET http://\(origin.authority)/b HTTP/1.1\r\nHost: \(origin.authority)\r\nConnection: close\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 503 Service Unavailable\r\n") && answer.contains("Retry-After: 1\r\n"))
        #expect(replay.session.verdict().flaws.isEmpty || replay.session.verdict().flaws == [.unused])
    }

    /// An origin that refuses the first request with a body, and answers the next one with the bytes that it got.
    private func refusingOrigin(_ refuse: @escaping @Sendable (HTTP2Peer) throws -> Void) throws -> RawOrigin {
        try self.origin(
            { peer in
                try peer.wait(for: "a request with its body") { $0.bodies[1]?.isEmpty == false }
                try refuse(peer)
                try peer.flush()
                try peer.wait(for: "it again, or the end") { $0.isOver || $0.ended.contains(3) }
                guard !peer.isOver else { return }
                try peer.respond(3, body: String(decoding: peer.bodies[3] ?? [], as: UTF8.self))
                try peer.wait(for: "the answer to be read") { $0.closed[3] != nil }
            })
    }

    @Test(arguments: ["POST", "PUT", "PATCH", "DELETE"]) func refusedRequestIsSentAgainWithItsBody(method: String) throws {
        let origin = try self.refusingOrigin { $0.codec.reset(1, code: .refusedStream) }
        let proxy = try RunningProxy()
        let client = try self.client(proxy)
        let id = try client.request("http://\(origin.authority)/a", method: method, hasBody: true)
        client.codec.send(id, ByteBuffer(string: "first half, "))
        try client.flush()
        client.codec.send(id, ByteBuffer(string: "second half"))
        client.codec.end(id)
        try client.flush()
        try client.wait(for: "the answer") { $0.ended.contains(id) }
        #expect(client.text(id) == "first half, second half")
        let recorded = try proxy.recorded()
        origin.finish()
        #expect(recorded.count == 1 && recorded[0].outcome == .complete && recorded[0].request.body?.size == 23)
    }

    /// RST_STREAM of stream 1, and GOAWAY that names no stream as processed, both with HTTP_1_1_REQUIRED.
    private static let demandsOfHTTP1: [[UInt8]] = [
        [0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, 0xd], [0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xd],
    ]

    /// Servers answer so where a login binds a connection.
    @Test(arguments: demandsOfHTTP1) func aRequestThatNeedsHTTP1IsSentAgainInHTTP1(demand: [UInt8]) throws {
        let origin = try RawOrigin(scripts: [
            { connection in
                let peer = try HTTP2Peer(.server, over: connection)
                try peer.wait(for: "a request with its body") { $0.ended.contains(1) }
                try connection.send(demand)
                try peer.wait(for: "the end") { $0.isOver }
            },
            { connection in
                for path in ["/a", "/b"] {
                    _ = try connection.expectRequest("POST \(path)")
                    #expect(try connection.read(count: 4) == Array("body".utf8))
                    try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none")
                }
            },
        ])
        let proxy = try RunningProxy()
        let client = try self.client(proxy)
        for path in ["/a", "/b"] {
            let id = try client.request("http://\(origin.authority)\(path)", method: "POST", ["content-length: 4"], hasBody: true)
            client.codec.send(id, ByteBuffer(string: "body"))
            client.codec.end(id)
            try client.flush()
            try client.wait(for: "the answer") { $0.ended.contains(id) }
            #expect(client.text(id) == "one")
        }
        client.closeOutput()
        let recorded = try proxy.recorded()
        origin.finish()
        #expect(recorded.count == 2 && recorded.allSatisfy { $0.outcome == .complete })
    }

    @Test func refusedBodyThatIsNotHeldAnyMoreIsHandedToTheClient() throws {
        let origin = try self.origin(
            { peer in
                try peer.wait(for: "a large part of the body") { ($0.bodies[1]?.count ?? 0) > 300_000 }
                peer.codec.reset(1, code: .refusedStream)
                try peer.flush()
                try peer.wait(for: "the end") { $0.isOver }
            })
        let proxy = try RunningProxy()
        let client = try self.client(proxy)
        let id = try client.request("http://\(origin.authority)/a", method: "POST", hasBody: true)
        client.codec.send(id, ByteBuffer(repeating: 7, count: 2_000_000))
        try client.flush()
        try client.wait(for: "the refusal") { $0.closed[id] != nil }
        #expect(client.closed[id] == .refusedStream)
        _ = try proxy.recorded()
        origin.finish()
    }

    @Test func anOriginThatBreaksTheProtocolFailsItsRequestsAtOnce() throws {
        let origin = try RawOrigin(scripts: [
            { connection in
                let peer = try HTTP2Peer(.server, over: connection)
                try peer.wait(for: "a request") { !$0.ended.isEmpty }
                // A frame longer than announced.
                try connection.send([UInt8](repeating: 0xFF, count: 300))
                try peer.wait(for: "the end") { $0.isOver }
            },
            { connection in
                let peer = try HTTP2Peer(.server, over: connection)
                try peer.wait(for: "the next request") { !$0.ended.isEmpty }
                try peer.respond(1, body: "fine")
                try peer.wait(for: "it to be read") { $0.closed[1] != nil }
            },
        ])
        let proxy = try RunningProxy()
        let client = try self.client(proxy)
        let broken = try client.request("http://\(origin.authority)/a")
        try client.wait(for: "the failure") { $0.ended.contains(broken) }
        #expect(client.heads[broken]?.status == 502 && client.text(broken).contains("violated HTTP/2"))
        let next = try client.request("http://\(origin.authority)/b")
        try client.wait(for: "the next answer") { $0.ended.contains(next) }
        #expect(client.text(next) == "fine")
        origin.finish()
    }

    @Test func aClientThatResetsIsRecordedAsGoneAndTheOriginIsReset() throws {
        let origin = try self.origin { peer in
            try peer.wait(for: "a request") { !$0.ended.isEmpty }
            let head = ["content-length: 10"]
            peer.codec.respond(
                1, HTTP2Fields(.init(version: .http2, status: 200, reason: [], fields: HeaderFields(head))), hasBody: true)
            peer.codec.send(1, ByteBuffer(string: "half"))
            try peer.flush()
            try peer.wait(for: "the reset") { $0.closed[1] != nil }
            #expect(peer.closed[1] == .cancel)
        }
        let proxy = try RunningProxy()
        let client = try self.client(proxy)
        let id = try client.request("http://\(origin.authority)/a")
        try client.wait(for: "half") { $0.text(id) == "half" }
        client.codec.reset(id, code: .cancel)
        try client.flush()
        origin.finish()
        let recorded = try #require(try proxy.recorded().first)
        guard case .cut(let cut) = recorded.outcome else {
            Issue.record("\(recorded.outcome)")
            return
        }
        #expect(cut.by == .client && cut.reason.contains("CANCEL"))
        #expect(recorded.response?.body?.isComplete == false && recorded.response?.body?.size == 4)
    }

    /// More frames than are read in one turn of the event loop, in one write. The client may close its side after them.
    @Test(arguments: [false, true]) func requestAfterManyResetsIsReadToo(isClosed: Bool) throws {
        let origin = try self.origin { peer in
            // The origin sees some or none of the requests that were reset at once.
            try peer.wait(for: "the last request") { $0.heads.values.contains { $0.path == "/last" } }
            for (id, head) in peer.heads where head.path == "/last" { try peer.respond(id, body: "fine") }
            try peer.wait(for: "the answer to be read") { peer in peer.closed.keys.contains { peer.heads[$0]?.path == "/last" } }
        }
        let proxy = try RunningProxy()
        let client = try proxy.connect()
        var bytes = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + Self.frame(type: 4, stream: 0, [])
        for number in 0..<100 {
            let id = UInt8(2 * number + 1)
            bytes += Self.frame(type: 1, flags: 5, stream: id, Self.fields(path: "/http://\(origin.authority)/\(number)"))
            bytes += Self.frame(type: 3, stream: id, [0, 0, 0, 8])
        }
        bytes += Self.frame(type: 1, flags: 5, stream: 201, Self.fields(path: "/http://\(origin.authority)/last"))
        try client.send(bytes)
        if isClosed { client.closeOutput() }
        _ = try client.read(through: "fine")
        origin.finish()
        #expect(try proxy.recorded().count == 101)
    }

    /// RFC 9113, 4.1.
    private static func frame(type: UInt8, flags: UInt8 = 0, stream: UInt8, _ payload: [UInt8]) -> [UInt8] {
        [0, 0, UInt8(payload.count), type, flags, 0, 0, 0, stream] + payload
    }

    /// A GET, with literals that are in no table (RFC 7541, 6.2.2).
    private static func fields(path: String) -> [UInt8] {
        func literal(_ name: String, _ value: String) -> [UInt8] {
            [0, UInt8(name.utf8.count)] + name.utf8 + [UInt8(value.utf8.count)] + value.utf8
        }
        return [0x82, 0x86] + literal(":authority", "127.0.0.1") + literal(":path", path)
    }

    @Test func aCutAnswerOfHTTP1IsAResetAndNoEnd() throws {
        let origin = try RawOrigin(
            { connection in
                // It is first asked in HTTP/2, which it does not know.
                try connection.expect("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
                try connection.send("HTTP/1.1 505 HTTP Version Not Supported\r\nContent-Length: 0\r\n\r\n")
            },
            { connection in
                _ = try connection.expectRequest("GET /")
                try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort")
            })
        let proxy = try RunningProxy()
        let client = try self.client(proxy)
        let id = try client.request("http://\(origin.authority)/")
        try client.wait(for: "the end") { $0.closed[id] != nil }
        #expect(client.heads[id]?.status == 200 && client.text(id) == "short")
        #expect(!client.ended.contains(id) && client.closed[id] == .internalError)
        origin.finish()
        guard case .cut(let cut)? = try proxy.recorded().first?.outcome else {
            Issue.record("not cut")
            return
        }
        #expect(cut.by == .origin)
    }

    /// A client of gRPC, for example, decides by the code.
    @Test(arguments: [HTTP2ErrorCode.noError, .cancel, .enhanceYourCalm], [true, false])
    func theCodeOfAnOriginsResetIsPassedOnIfBreaksAre(code: HTTP2ErrorCode, hasBegun: Bool) throws {
        let gate = Gate("the client has the part")
        let origin = try self.origin { peer in
            try peer.wait(for: "a request") { $0.ended.contains(1) }
            if hasBegun {
                peer.codec.respond(
                    1, HTTP2Fields(ResponseHead(version: .http2, status: 200, reason: [], fields: HeaderFields())), hasBody: true)
                peer.codec.send(1, ByteBuffer(string: "part"))
                try peer.flush()
                try gate.wait()
            }
            peer.codec.reset(1, code: code)
            try peer.flush()
        }
        let proxy = try RunningProxy { $0.originErrors = .break }
        let client = try self.client(proxy)
        let id = try client.request("http://\(origin.authority)/")
        if hasBegun {
            try client.wait(for: "the part") { $0.text(id) == "part" }
            gate.open()
        }
        try client.wait(for: "the reset") { $0.closed[id] != nil }
        #expect(client.closed[id] == code)
        origin.finish()
        let recorded = try #require(try proxy.recorded().first)
        let kept: Int? =
            switch recorded.outcome {
            case .cut(let cut): cut.code
            case .failed(let failure): failure.code
            case .complete: nil
            }
        #expect(kept == Int(code.rawValue))

        let replay = try RunningProxy(.none, in: proxy.folder)
        let again = try self.client(replay)
        let answered = try again.request("http://\(origin.authority)/")
        try again.wait(for: "the reset") { $0.closed[answered] != nil }
        #expect(again.closed[answered] == code && again.text(answered) == (hasBegun ? "part" : ""))
    }

    @Test func aCompleteUnreadAnswerSurvivesItsConnection() throws {
        // One window that the client has, one that waits for it, and one more that makes the proxy stop reading.
        let body = String(repeating: "x", count: 3 * 65_535)
        let hasSent = Guarded(false)
        let (isSent, isRead) = (Gate("the answer and the end of the connection were sent"), Gate("the answer was read"))
        let origin = try self.origin { peer in
            try peer.wait(for: "a request") { $0.ended.contains(1) }
            try peer.respond(1, 200, ["content-length: \(body.utf8.count)"], body: body)
            try peer.wait(for: "the windows to open") { $0.codec.pending(1) == 0 }
            peer.closeOutput()
            hasSent.withLock { $0 = true }
            isSent.open()
            // A socket that is closed before its peer's last window updates are read discards what the peer has not read.
            try isRead.wait()
        }
        let proxy = try RunningProxy()
        let client = try self.client(proxy)
        let id = try client.request("http://\(origin.authority)/")
        client.stalled = [id]
        try client.wait(for: "a window of the body") { $0.bodies[id]?.count == 65_535 }
        // How much the proxy takes before it stops depends on how the bytes arrive, so the client makes room step by step. A smaller step
        // than half a window would not be sent.
        let step = 32_768
        var count = 65_535
        while !hasSent.withLock({ $0 }), count + step < body.utf8.count {
            client.codec.credit(id, step)
            try client.flush()
            count += step
            try client.wait(for: "a little more") { $0.bodies[id]?.count == count }
        }
        try isSent.wait()
        client.stalled = []
        client.codec.credit(id, 65_535)
        try client.flush()
        try client.wait(for: "the rest") { $0.closed[id] != nil }
        isRead.open()
        origin.finish()
        let got = client.bodies[id]?.count ?? 0
        #expect(got == body.utf8.count && client.ended.contains(id), "\(got) bytes, \(String(describing: client.closed[id]))")
        #expect(try proxy.recorded().first?.outcome == .complete)
    }

    @Test func trailersOfEitherSideArriveAndAreRecorded() throws {
        let origin = try self.origin { peer in
            try peer.wait(for: "the request") { $0.ended.contains(1) }
            #expect(peer.trailers[1]?.fields.lines == ["x-up: 1"] && peer.text(1) == "body")
            try peer.respond(1, 200, ["content-type: text/plain"], body: "answer", trailers: ["x-down: 2"])
            try peer.wait(for: "its end") { $0.closed[1] != nil }
        }
        let proxy = try RunningProxy()
        let client = try self.client(proxy)
        let id = try client.request("http://\(origin.authority)/", method: "POST", ["te: trailers"], hasBody: true)
        client.codec.send(id, ByteBuffer(string: "body"))
        client.codec.end(id, trailers: HTTP2Fields(trailers: HeaderFields(["x-up: 1"])))
        try client.flush()
        try client.wait(for: "the answer") { $0.ended.contains(id) }
        #expect(client.text(id) == "answer" && client.trailers[id]?.fields.lines == ["x-down: 2"])
        origin.finish()
        let recorded = try #require(try proxy.recorded().first)
        #expect(recorded.request.trailers?.lines == ["x-up: 1"] && recorded.response?.trailers?.lines == ["x-down: 2"])
        #expect(recorded.request.version == .http2 && recorded.request.body?.size == 4)
    }

    /// The trailers come in a later read than the body, or are too long for the same one.
    @Test(arguments: [1, 3000]) func trailersThatComeAfterTheBodyWasReadEndTheRequest(size: Int) throws {
        let hasBody = Gate("the body")
        let value = String(repeating: "1", count: size)
        let origin = try self.origin { peer in
            try peer.wait(for: "the body") { $0.text(1) == "body" }
            hasBody.open()
            try peer.wait(for: "the request's end") { $0.ended.contains(1) }
            #expect(peer.trailers[1]?.fields.lines == ["x-up: \(value)"])
            try peer.respond(1, 200, body: "answer")
            try peer.wait(for: "its end") { $0.closed[1] != nil }
        }
        let proxy = try RunningProxy()
        let client = try self.client(proxy)
        let id = try client.request("http://\(origin.authority)/", method: "POST", ["te: trailers"], hasBody: true)
        client.codec.send(id, ByteBuffer(string: "body"))
        try client.flush()
        try hasBody.wait()
        client.codec.end(id, trailers: HTTP2Fields(trailers: HeaderFields(["x-up: \(value)"])))
        try client.flush()
        try client.wait(for: "the answer") { $0.ended.contains(id) }
        #expect(client.text(id) == "answer")
        origin.finish()
        let recorded = try #require(try proxy.recorded().first)
        #expect(recorded.request.trailers?.lines == ["x-up: \(value)"] && recorded.outcome == .complete)
    }

    /// The end of a cut answer comes in the same read as its head.
    @Test(arguments: ["", "abc"], [Failure.Answer.page, .break])
    func theHeadOfAnAnswerThatIsCutAtOnceArrives(body: String, choice: Failure.Answer) throws {
        let origin = try self.origin { peer in
            try peer.wait(for: "a request") { $0.ended.contains(1) }
            peer.codec.respond(
                1, HTTP2Fields(ResponseHead(version: .http2, status: 200, reason: [], fields: HeaderFields())), hasBody: true)
            peer.codec.send(1, ByteBuffer(string: body))
            peer.codec.cut(1, .reset(.cancel))
            try peer.flush()
        }
        let proxy = try RunningProxy { $0.originErrors = choice }
        let client = try self.client(proxy)
        let id = try client.request("http://\(origin.authority)/")
        try client.wait(for: "the reset") { $0.closed[id] != nil }
        #expect(client.heads[id]?.status == 200 && client.text(id) == body)
        origin.finish()
        #expect(try proxy.recorded().first?.response?.status == 200)

        let replay = try RunningProxy(.none, in: proxy.folder)
        let again = try self.client(replay)
        let answered = try again.request("http://\(origin.authority)/")
        try again.wait(for: "the reset") { $0.closed[answered] != nil }
        #expect(again.heads[answered]?.status == 200 && again.text(answered) == body)
    }

    private static let ok = ResponseHead(version: .http2, status: 200, reason: [], fields: HeaderFields())

    /// Without a proxy, the client would lose its connection. gRPC, for one, calls that UNAVAILABLE and tries again.
    @Test(arguments: [true, false], [true, false])
    func theConnectionOfAClientBreaksAsThatOfItsOriginIfBreaksAre(isReset: Bool, hasBegun: Bool) throws {
        let gate = Gate("the client has the part")
        let origin = try self.origin { peer in
            try peer.wait(for: "a request") { $0.ended.contains(1) }
            if hasBegun {
                peer.codec.respond(1, HTTP2Fields(Self.ok), hasBody: true)
                peer.codec.send(1, ByteBuffer(string: "part"))
                try peer.flush()
                try gate.wait()
            }
            if isReset { peer.reset() }
        }
        let proxy = try RunningProxy { $0.originErrors = .break }
        let connection = try proxy.connect()
        let client = try HTTP2Peer(.client, over: connection)
        let id = try client.request("http://\(origin.authority)/", method: "POST")
        if hasBegun {
            try client.wait(for: "the part") { $0.text(id) == "part" }
            gate.open()
        }
        // A reset could drop the part.
        #expect(try connection.readToEnd().end == (isReset && !hasBegun ? .reset : .closed))
        origin.finish()
        #expect(try proxy.recorded().count == 1)

        let replay = try RunningProxy(.none, in: proxy.folder)
        let second = try replay.connect()
        let again = try HTTP2Peer(.client, over: second)
        let answered = try again.request("http://\(origin.authority)/", method: "POST")
        if hasBegun { try again.wait(for: "the part") { $0.text(answered) == "part" } }
        #expect(throws: (any Error).self) { try again.wait(for: "a reset of the stream") { !$0.closed.isEmpty } }
        #expect(again.closed.isEmpty && !again.hasGoAway)
    }

    /// Streams of other origins on the connection of the client have nothing to do with it.
    @Test func aBrokenOriginEndsNoOtherStream() throws {
        let gate = Gate("the client has the part")
        let origin = try self.origin { peer in
            try peer.wait(for: "a request") { $0.ended.contains(1) }
            peer.codec.respond(1, HTTP2Fields(Self.ok), hasBody: true)
            peer.codec.send(1, ByteBuffer(string: "part"))
            try peer.flush()
            try gate.wait()
        }
        let released = Gate("the first stream has ended")
        let patient = try self.origin { peer in
            try peer.wait(for: "a request") { $0.ended.contains(1) }
            try released.wait()
            try peer.respond(1, body: "full")
            try peer.wait(for: "the end") { $0.closed[1] != nil }
        }
        let proxy = try RunningProxy { $0.originErrors = .break }
        let client = try self.client(proxy)
        let waiting = try client.request("http://\(patient.authority)/")
        let id = try client.request("http://\(origin.authority)/")
        try client.wait(for: "the part") { $0.text(id) == "part" }
        gate.open()
        try client.wait(for: "the reset") { $0.closed[id] != nil }
        #expect(client.closed[id] == .internalError)
        released.open()
        try client.wait(for: "the other answer") { $0.ended.contains(waiting) }
        #expect(client.text(waiting) == "full")
    }

    /// A rule that does nothing to an answer does nothing to its end.
    @Test func theCodeOfAnOriginsResetPassesRules() throws {
        let origin = try self.origin { peer in
            try peer.wait(for: "a request") { $0.ended.contains(1) }
            peer.codec.respond(
                1, HTTP2Fields(ResponseHead(version: .http2, status: 200, reason: [], fields: HeaderFields())), hasBody: true)
            peer.codec.cut(1, .reset(.enhanceYourCalm))
            try peer.flush()
        }
        let node = RuleNode(try JSONDocument(Array(#"[{"pace": {"latency": "1ms"}}]"#.utf8)).root)
        let rules = try TrafficRules([RuleList(node: node, file: "rules", folder: nil)])
        let proxy = try RunningProxy {
            $0.originErrors = .break
            $0.rules = RuleEngine(rules)
        }
        let client = try self.client(proxy)
        let id = try client.request("http://\(origin.authority)/")
        try client.wait(for: "the reset") { $0.closed[id] != nil }
        #expect(client.closed[id] == .enhanceYourCalm)
    }

    @Test func aStopLetsOpenStreamsFinish() throws {
        let asked = DispatchSemaphore(value: 0)
        let released = DispatchSemaphore(value: 0)
        let origin = try self.origin { peer in
            try peer.wait(for: "a request") { $0.ended.contains(1) }
            asked.signal()
            released.wait()
            try peer.respond(1, body: "late")
            try peer.wait(for: "its end") { $0.closed[1] != nil }
        }
        let proxy = try RunningProxy { $0.limits.grace = 20 }
        let client = try self.client(proxy)
        let id = try client.request("http://\(origin.authority)/")
        asked.wait()
        let stopped = DispatchSemaphore(value: 0)
        // SAFETY: nobody else uses the proxy until the semaphore signals the end.
        nonisolated(unsafe) let stopping = proxy
        Thread {
            _ = try? stopping.stop()
            stopped.signal()
        }.start()
        try client.wait(for: "GOAWAY") { $0.hasGoAway }
        released.signal()
        try client.wait(for: "the answer") { $0.ended.contains(id) }
        #expect(client.text(id) == "late")
        stopped.wait()
        origin.finish()
    }

    // MARK: Windows

    @Test func aStreamThatIsReadGetsALargerWindow() throws {
        let total = 6 << 20
        let taken = 3 << 20
        let origin = try self.origin { peer in
            try peer.wait(for: "a request") { $0.ended.contains(1) }
            try peer.respond(1, body: String(repeating: "x", count: total))
            // More than three of the first windows, one for each side and the bytes between them, are on their way to a client that has
            // stopped.
            try peer.wait(for: "a window that has grown") { total - $0.codec.pending(1) > taken + 5 * 65_535 }
            try peer.wait(for: "the end") { $0.closed[1] != nil }
        }
        let proxy = try RunningProxy()
        let client = try self.client(proxy)
        let id = try client.request("http://\(origin.authority)/large")
        try client.wait(for: "the first half") { ($0.bodies[id]?.count ?? 0) >= taken }
        client.stalled = [id]
        // nghttp2 gives credit back in half windows, so up to half a window of the read bytes may still count.
        try client.wait(for: "a full window") { ($0.bodies[id]?.count ?? 0) >= taken + 65_535 / 2 }
        let before = client.bodies[id]?.count ?? 0
        client.stalled = []
        client.codec.credit(id, before - taken)
        try client.flush()
        try client.wait(for: "the rest") { $0.ended.contains(id) }
        #expect(client.bodies[id]?.count == total)
        origin.finish()
    }

    // MARK: Tables

    @Test func neverIndexedFieldsStaySoOnTheOtherLeg() throws {
        @Sendable func secret(_ name: String) -> NeverIndexed {
            var names = NeverIndexed()
            Array(name.utf8).withUnsafeBufferPointer { names.insert($0) }
            return names
        }
        let origin = try self.origin { peer in
            try peer.wait(for: "a request") { $0.ended.contains(1) }
            #expect(peer.heads[1]?.neverIndexed == secret("x-key"))
            #expect(peer.trailers[1]?.neverIndexed == secret("x-sum"))
            var head = ResponseHead(version: .http2, status: 200, reason: [], fields: HeaderFields(["x-token: t", "x-open: o"]))
            head.neverIndexed = secret("x-token")
            peer.codec.respond(1, HTTP2Fields(head), hasBody: true)
            peer.codec.end(1, trailers: HTTP2Fields(trailers: HeaderFields(["x-end: e"]), neverIndexed: secret("x-end")))
            try peer.flush()
            try peer.wait(for: "the end") { $0.closed[1] != nil }
        }
        let proxy = try RunningProxy()
        let client = try self.client(proxy)
        var head = RequestHead(
            method: "POST", target: "/http://\(origin.authority)/", version: .http2, fields: HeaderFields(["x-key: k", "x-open: o"]))
        head.authority = "127.0.0.1"
        head.neverIndexed = secret("x-key")
        let fields = HTTP2Fields(head, target: .origin(head.target), origin: Origin(scheme: .http, host: "127.0.0.1", port: 80))
        let id = try client.codec.request(fields, hasBody: true)
        client.codec.end(id, trailers: HTTP2Fields(trailers: HeaderFields(["x-sum: s"]), neverIndexed: secret("x-sum")))
        try client.flush()
        try client.wait(for: "the answer") { $0.ended.contains(id) }
        #expect(client.heads[id]?.neverIndexed == secret("x-token"))
        #expect(client.trailers[id]?.neverIndexed == secret("x-end"))
        origin.finish()
    }

    // MARK: Ends

    @Test func aHeadThatIsTooLargeIsAnsweredBeforeItsBodyAndItsStreamEnds() throws {
        let origin = try self.origin { peer in
            try peer.wait(for: "a request") { !$0.ended.isEmpty }
            try peer.respond(1, body: "fine")
            try peer.wait(for: "its end") { $0.closed[1] != nil }
        }
        let proxy = try RunningProxy()
        let client = try self.client(proxy)
        let url = "http://\(origin.authority)/"
        let large = try client.request(
            url, method: "POST", (1...3).map { "x-long-\($0): " + String(repeating: "a", count: 50_000) }, hasBody: true)
        try client.wait(for: "the answer and its end") { $0.closed[large] != nil }
        #expect(client.heads[large]?.status == 431 && client.ended.contains(large) && client.closed[large] == .noError)
        let good = try client.request(url)
        try client.wait(for: "the next") { $0.ended.contains(good) }
        #expect(client.text(good) == "fine")
        origin.finish()
    }

    @Test func aClientThatOnlyEndsItsSideReadsItsAnswers() throws {
        let asked = DispatchSemaphore(value: 0)
        let origin = try self.origin { peer in
            try peer.wait(for: "two requests") { $0.heads.count == 2 && $0.ended.count == 1 }
            asked.signal()
            try peer.wait(for: "the part to be given up") { $0.closed[3] == .cancel }
            try peer.respond(1, body: "whole")
            try peer.wait(for: "its end") { $0.closed[1] != nil }
        }
        let proxy = try RunningProxy()
        let connection = try proxy.connect()
        let client = try HTTP2Peer(.client, over: connection)
        let whole = try client.request("http://\(origin.authority)/whole")
        let part = try client.request("http://\(origin.authority)/part", method: "POST", hasBody: true)
        asked.wait()
        connection.closeOutput()
        client.isSilent = true
        try client.wait(for: "the answer") { $0.ended.contains(whole) }
        #expect(client.text(whole) == "whole" && client.closed[part] == .cancel)
        #expect(throws: RawError.self) { try client.wait(for: "more") { _ in false } }
        #expect(client.isOver)
        origin.finish()
        let outcomes = Dictionary(uniqueKeysWithValues: try proxy.recorded().map { ($0.request.url.suffix(5), $0.outcome) })
        #expect(outcomes["whole"] == .complete)
        guard case .cut(let cut)? = outcomes["/part"] else {
            Issue.record("\(outcomes)")
            return
        }
        #expect(cut.by == .client)
    }

    @Test func aClientThatIsGoneCancelsItsRequests() throws {
        let asked = DispatchSemaphore(value: 0)
        let origin = try self.origin { peer in
            try peer.wait(for: "a request") { $0.ended.contains(1) }
            asked.signal()
            // Nothing is sent: only the client's end can be the reason.
            try peer.wait(for: "the reset") { $0.closed[1] == .cancel }
        }
        let proxy = try RunningProxy()
        let connection = try proxy.connect()
        _ = try HTTP2Peer(.client, over: connection).request("http://\(origin.authority)/")
        asked.wait()
        connection.close()
        origin.finish()
    }

    @Test func aConnectionWhoseNumbersAreUsedUpEndsAfterItsLastAnswer() throws {
        let origin = try self.origin { peer in
            try peer.wait(for: "a request") { $0.ended.contains(1) }
            try peer.respond(1, body: "last")
            try peer.wait(for: "its end") { $0.closed[1] != nil }
        }
        let proxy = try RunningProxy()
        var settings = HTTP2Connection.Settings()
        settings.firstStream = .max
        let client = try HTTP2Peer(.client, over: proxy.connect(), settings: settings)
        let id = try client.request("http://\(origin.authority)/")
        #expect(id == .max)
        try client.wait(for: "the answer") { $0.ended.contains(id) && $0.hasGoAway }
        #expect(client.text(id) == "last")
        #expect(throws: RawError.self) { try client.wait(for: "more") { _ in false } }
        #expect(client.isOver)
        origin.finish()
    }

    @Test func lettersInATargetAreForwardedAsTheyCame() throws {
        let target = "/보리?q=é"
        let older = try RawOrigin { connection in
            let head = String(decoding: try connection.read(through: "\r\n\r\n"), as: UTF8.self)
            let line = head.prefix { $0 != "\r\n" }
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(line.utf8.count)\r\n\r\n\(line)")
        }
        let origin = try self.origin { peer in
            try peer.wait(for: "a request") { $0.ended.contains(1) }
            try peer.respond(1, body: peer.heads[1]?.path ?? "")
            try peer.wait(for: "the end") { $0.closed[1] != nil }
        }
        let proxy = try RunningProxy()
        let client = try self.client(proxy)
        let id = try client.request("http://\(origin.authority)\(target)")
        try client.wait(for: "the answer") { $0.ended.contains(id) }
        #expect(client.text(id) == target)
        let other = try proxy.connect()
        try other.send(older.request("GET", target))
        #expect(String(decoding: try other.readMessage(), as: UTF8.self).hasSuffix("GET \(target) HTTP/1.1"))
        for origin in [origin, older] { origin.finish() }
        let recorded = try proxy.recorded()
        #expect(recorded.count == 2 && recorded.allSatisfy { $0.request.url.hasSuffix("/%EB%B3%B4%EB%A6%AC?q=%C3%A9") })
        #expect(recorded.allSatisfy { $0.request.note?.contains("forwarded as they came") == true })
    }

    // MARK: Translation

    /// The settings that indicate HTTP/2 may arrive in parts.
    @Test(arguments: 1...9) func originOfHTTP2OnAConnectionOfHTTP1IsDetected(first: Int) throws {
        let scene = try ExchangeScene()
        scene.client(ForwardTranscriptTests.get)
        scene.connected()
        _ = scene.heard()
        let settings = "\0\0\u{6}\u{4}\0\0\0\0\0\0\u{3}\0\0\0\u{64}"
        scene.origin(String(settings.prefix(first)))
        if first < 9 { #expect(scene.heard() == [], "nothing is known yet") }
        scene.origin(String(settings.dropFirst(first)))
        #expect(scene.heard().contains("dial h"), "it is asked again in HTTP/2")
    }

    /// A zero byte that does not begin settings is not HTTP at all.
    @Test func bytesThatAreNoHTTPAreNotTakenForHTTP2() throws {
        let scene = try ExchangeScene()
        scene.client(ForwardTranscriptTests.get)
        scene.connected()
        _ = scene.heard()
        scene.origin("\0\0\0\u{1}")
        let heard = scene.heard()
        #expect(heard.contains { $0.contains("502") } && !heard.contains { $0.hasPrefix("dial") }, "\(heard)")
    }

    @Test func originThatSpeaksHTTP2WithoutChoosingItInTLSIsNamed() throws {
        let tls = try TLSScene()
        let origin = try RawOrigin(
            tls.origin().plays { stream in
                _ = try stream.read(through: "\r\n\r\n")
                try stream.send([0, 0, 0, 4, 0, 0, 0, 0, 0] as [UInt8])
                try stream.expectEnd()
            })
        let proxy = try tls.proxy(.all, in: tls.emptyCassette())
        let stream = try tls.secure(proxy.connect(), to: origin.authority)
        try stream.send(TLSScene.request())
        let answer = String(decoding: try stream.readMessage(), as: UTF8.self)
        #expect(answer.hasPrefix("HTTP/1.1 502 ") && answer.contains("speaks HTTP/2 without having selected it in TLS"), "\(answer)")
    }

    @Test(arguments: ["GET", "POST"]) func aClientOfHTTP1ReachesAnOriginOfHTTP2Alone(method: String) throws {
        let origin = try RawOrigin(
            { connection in
                // It does not know what will come, so it sends its settings, and leaves when the peer does not speak HTTP/2.
                try HTTP2Peer(.server, over: connection).flush()
                try connection.expectRequest("\(method) /")
            },
            { connection in
                let peer = try HTTP2Peer(.server, over: connection)
                try peer.wait(for: "a request") { $0.ended.contains(1) }
                #expect(peer.heads[1]?.fields.lines == ["accept: x"] && peer.heads[1]?.method == method)
                try peer.respond(1, 200, ["x-a: b"], body: "translated")
                try peer.wait(for: "another") { $0.ended.contains(3) }
                try peer.respond(3, body: "again")
                try peer.wait(for: "the end") { $0.closed[3] != nil }
            })
        let proxy = try RunningProxy()
        let client = try proxy.connect()
        func ask() throws -> String {
            try client.send(origin.request(method, "/", "Accept: x", "Connection: keep-alive"))
            return String(decoding: try client.read(through: "0\r\n\r\n"), as: UTF8.self)
        }
        #expect(try ask() == "HTTP/1.1 200 \r\nx-a: b\r\nTransfer-Encoding: chunked\r\n\r\na\r\ntranslated\r\n0\r\n\r\n")
        // On the existing connection.
        #expect(try ask().hasSuffix("again\r\n0\r\n\r\n"))
        origin.finish()
        let recorded = try proxy.recorded()
        #expect(recorded.map(\.request.version) == [.http11, .http11] && recorded.map(\.response?.version) == [.http2, .http2])
    }

    @Test func aHeadThatIsTooLargeIsAnsweredAndAMalformedOneResetsItsStreamAlone() throws {
        let origin = try self.origin { peer in
            try peer.wait(for: "a request") { !$0.ended.isEmpty }
            try peer.respond(1, body: "fine")
            try peer.wait(for: "its end") { $0.closed[1] != nil }
        }
        let proxy = try RunningProxy()
        let client = try self.client(proxy)
        let url = "http://\(origin.authority)/"
        let large = try client.request(url, (1...3).map { "x-long-\($0): " + String(repeating: "a", count: 50_000) })
        let other = try client.request(url, ["te: gzip"])
        let good = try client.request(url)
        try client.wait(for: "all three") { $0.closed.count == 3 }
        #expect(client.heads[large]?.status == 431)
        #expect(client.closed[other] == .protocolError && client.heads[other] == nil)
        #expect(client.text(good) == "fine")
        origin.finish()
        #expect(proxy.server.counts.malformed == 1)
    }
}
