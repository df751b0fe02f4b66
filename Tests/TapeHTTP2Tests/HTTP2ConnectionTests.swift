import CassetteModel
import NIOCore
import TapeExchange
import TapeHTTP2
import Testing

/// A client and a server, connected without sockets.
private final class Pair {
    let client: HTTP2Connection
    let server: HTTP2Connection
    private(set) var toServer: [HTTP2Event] = []
    private(set) var toClient: [HTTP2Event] = []
    private(set) var serverBytes: [UInt8] = []
    private(set) var clientBytes: [UInt8] = []

    init(
        client: HTTP2Connection.Settings = HTTP2Connection.Settings(),
        server settings: HTTP2Connection.Settings = HTTP2Connection.Settings()
    ) throws {
        self.client = try HTTP2Connection(.client, settings: client)
        self.server = try HTTP2Connection(.server, settings: settings)
    }

    /// Moves bytes in pieces of `size` until neither side has any.
    func settle(size: Int = .max) throws {
        while true {
            let (fromClient, clientEvents) = try self.client.takeOutput()
            self.toClient += clientEvents
            try self.move(fromClient, size: size) { piece in
                let events = try self.server.receive(piece)
                self.toServer += events
                self.serverBytes += Self.data(events, piece)
            }
            let (fromServer, serverEvents) = try self.server.takeOutput()
            self.toServer += serverEvents
            try self.move(fromServer, size: size) { piece in
                let events = try self.client.receive(piece)
                self.toClient += events
                self.clientBytes += Self.data(events, piece)
            }
            if fromClient.readableBytes == 0, fromServer.readableBytes == 0 { return }
        }
    }

    private func move(_ bytes: ByteBuffer, size: Int, _ receive: (ByteBuffer) throws -> Void) throws {
        var bytes = bytes
        while let piece = bytes.readSlice(length: min(size, bytes.readableBytes)), piece.readableBytes > 0 { try receive(piece) }
    }

    private static func data(_ events: [HTTP2Event], _ bytes: ByteBuffer) -> [UInt8] {
        var result: [UInt8] = []
        for case .data(_, let range) in events {
            result += bytes.getBytes(at: bytes.readerIndex + range.lowerBound, length: range.count) ?? []
        }
        return result
    }

    func request(
        _ lines: [String] = [], method: String = "GET", path: String = "/a", hasBody: Bool = false, secret: String? = nil
    ) throws -> Int32 {
        var head = RequestHead(method: method, target: path, version: .http2, fields: HeaderFields(lines))
        head.authority = "h.test"
        if let secret { Array(secret.utf8).withUnsafeBufferPointer { head.neverIndexed.insert($0) } }
        let target = try RequestTarget(path, method: method)
        return try self.client.request(
            HTTP2Fields(head, target: target, origin: Origin(scheme: .https, host: "h.test", port: 443)), hasBody: hasBody)
    }

    func respond(_ id: Int32, _ status: Int = 200, _ lines: [String] = [], hasBody: Bool = false) {
        self.server.respond(
            id, HTTP2Fields(ResponseHead(version: .http11, status: status, reason: [], fields: HeaderFields(lines))), hasBody: hasBody)
    }

    func section(_ events: [HTTP2Event]) -> HTTP2FieldSection? {
        for case .headers(_, let section, _) in events { return section }
        return nil
    }
}

@Suite struct HTTP2ConnectionTests {
    @Test(arguments: [Int.max, 1, 7]) func aRequestAndItsAnswer(size: Int) throws {
        let pair = try Pair()
        let id = try pair.request(["accept: */*", "X-Key:  spaced ", "x-key: again"])
        try pair.settle(size: size)
        let section = try #require(pair.section(pair.toServer))
        let head = try RequestHead(section)
        #expect(head.method == "GET" && head.target == "/a" && head.authority == "h.test" && head.version == .http2)
        #expect(section.scheme == "https")
        #expect(head.fields.lines == ["accept: */*", "x-key: spaced", "x-key: again"])

        pair.respond(id, 404, ["Content-Type: text/plain", "Connection: close", "Transfer-Encoding: chunked"], hasBody: true)
        pair.server.send(id, ByteBuffer(string: "none "))
        try pair.settle(size: size)
        pair.server.send(id, ByteBuffer(string: "here"))
        pair.server.end(id, trailers: HTTP2Fields(trailers: HeaderFields(["X-Sum: 9"])))
        try pair.settle(size: size)
        #expect(String(decoding: pair.clientBytes, as: UTF8.self) == "none here")
        let answer = try ResponseHead(try #require(pair.section(pair.toClient)))
        #expect(answer.status == 404 && answer.reason.isEmpty && answer.fields.lines == ["content-type: text/plain"])
        guard
            case .headers(_, let trailers, endsStream: true)? = pair.toClient.last(where: { if case .headers = $0 { true } else { false } })
        else {
            Issue.record("no trailers: \(pair.toClient)")
            return
        }
        #expect(trailers.fields.lines == ["x-sum: 9"])
        #expect(pair.toClient.contains(.closed(stream: id, code: .noError)))
    }

    @Test func aStreamThatIsNotCreditedStopsAndItsSiblingGoesOn() throws {
        let pair = try Pair()
        let stalled = try pair.request(method: "POST", hasBody: true)
        let other = try pair.request(method: "POST", hasBody: true)
        pair.client.send(stalled, ByteBuffer(repeating: 1, count: 300_000))
        try pair.settle()
        #expect(pair.serverBytes.count == 65_535)
        #expect(pair.client.pending(stalled) == 300_000 - 65_535)

        pair.client.send(other, ByteBuffer(repeating: 2, count: 60_000))
        pair.client.end(other)
        try pair.settle()
        #expect(pair.serverBytes.count == 65_535 + 60_000)
        #expect(pair.toServer.contains(.ended(stream: other)))

        pair.server.credit(stalled, 65_535)
        try pair.settle()
        #expect(pair.serverBytes.count == 2 * 65_535 + 60_000)
    }

    @Test func windowsGrowUntilTheConnectionHasItsShare() throws {
        let pair = try Pair()
        let ids = try (0..<10).map { _ in try pair.request(method: "POST", hasBody: true) }
        try pair.settle()
        for id in ids {
            pair.server.growWindow(id, to: 1 << 20)
            pair.client.send(id, ByteBuffer(repeating: 1, count: 2 << 20))
        }
        try pair.settle()
        let sent = ids.map { (2 << 20) - pair.client.pending($0) }
        // Eight of them get their full window: one more would exceed the 8 MiB by which all windows may grow.
        #expect(sent == [Int](repeating: 1 << 20, count: 8) + [65_535, 65_535])
        // A stream that has ended makes room for others.
        pair.client.reset(ids[0], code: .cancel)
        try pair.settle()
        pair.server.growWindow(ids[9], to: 1 << 20)
        try pair.settle()
        #expect(pair.client.pending(ids[9]) == 1 << 20)
    }

    /// RFC 7541, 6.2.3 and 7.1.3.
    @Test func secretsStayOutOfTheTables() throws {
        let pair = try Pair()
        let lines = ["authorization: a", "cookie: a cookie of more than twenty bytes", "x-key: k", "accept: x"]
        _ = try pair.request(lines, secret: "x-key")
        try pair.settle()
        let section = try #require(pair.section(pair.toServer))
        func isMarked(_ name: String) -> Bool { Array(name.utf8).withUnsafeBufferPointer { section.neverIndexed.contains($0) } }
        #expect(isMarked("x-key") && !isMarked("accept"))
        // The peer's reading, for fields whose names do not identify them as secret.
        #expect(section.neverIndexed != NeverIndexed())
        #expect(try RequestHead(section).neverIndexed == section.neverIndexed)
        // A repeated field in a table takes one byte.
        _ = try pair.request(lines, secret: "x-key")
        let again = try pair.client.takeOutput().bytes
        #expect(again.readableBytes > "acookie of more than twenty byteskx-key".utf8.count)
        _ = try pair.server.receive(again)
    }

    @Test func theLastNumberOfAStreamIsTheLastRequest() throws {
        var settings = HTTP2Connection.Settings()
        settings.firstStream = .max - 2
        let pair = try Pair(client: settings)
        #expect(pair.client.takesRequests)
        _ = try pair.request()
        #expect(pair.client.takesRequests)
        #expect(try pair.request() == .max)
        #expect(!pair.client.takesRequests)
        #expect(throws: HTTP2Failure.self) { try pair.request() }
    }

    @Test func endOfThePeerIsKnown() throws {
        let pair = try Pair()
        let open = try pair.request(method: "POST", hasBody: true)
        let ended = try pair.request()
        try pair.settle()
        #expect(!pair.server.peerHasEnded(open) && pair.server.peerHasEnded(ended) && pair.server.peerHasEnded(77))
    }

    @Test func aCutBodyIsDeliveredAndReset() throws {
        let pair = try Pair()
        let id = try pair.request()
        try pair.settle()
        pair.respond(id, hasBody: true)
        pair.server.send(id, ByteBuffer(string: "half"))
        pair.server.cut(id, .reset(.internalError))
        try pair.settle()
        #expect(String(decoding: pair.clientBytes, as: UTF8.self) == "half")
        #expect(!pair.toClient.contains(.ended(stream: id)))
        #expect(pair.toClient.contains(.closed(stream: id, code: .internalError)))
    }

    /// Whoever owns the connection may end all of it instead.
    @Test(arguments: ["", "half"]) func aBrokenBodyIsDeliveredAndNotReset(body: String) throws {
        let pair = try Pair()
        let id = try pair.request()
        try pair.settle()
        pair.respond(id, hasBody: true)
        pair.server.send(id, ByteBuffer(string: body))
        pair.server.cut(id, .broken)
        try pair.settle()
        #expect(String(decoding: pair.clientBytes, as: UTF8.self) == body)
        #expect(pair.toServer.contains(.broken(stream: id)))
        #expect(!pair.toClient.contains { if case .closed = $0 { true } else { $0 == .ended(stream: id) } })
    }

    /// The client's window has no room for a body, and the heads wait to be sent.
    @Test(arguments: [[200], [103], [103, 102], [103, 200]]) func theHeadsOfACutAnswerAreSentBeforeItsEnd(statuses: [Int]) throws {
        var settings = HTTP2Connection.Settings()
        settings.streamWindow = 0
        let pair = try Pair(client: settings)
        let id = try pair.request()
        try pair.settle()
        for status in statuses {
            let head = HTTP2Fields(ResponseHead(version: .http2, status: status, reason: [], fields: HeaderFields()))
            if status < 200 { pair.server.interim(id, head) } else { pair.server.respond(id, head, hasBody: true) }
        }
        pair.server.cut(id, .reset(.cancel))
        try pair.settle()
        let heads = pair.toClient.count { if case .headers(id, _, _) = $0 { true } else { false } }
        #expect(heads == statuses.count)
        #expect(pair.toClient.contains(.closed(stream: id, code: .cancel)))
    }

    @Test func anAnswerThatIsCutAfterItsHeadWasSentEndsAtOnce() throws {
        var settings = HTTP2Connection.Settings()
        settings.streamWindow = 0
        let pair = try Pair(client: settings)
        let id = try pair.request()
        try pair.settle()
        pair.respond(id, hasBody: true)
        try pair.settle()
        pair.server.cut(id, .reset(.cancel))
        try pair.settle()
        #expect(pair.toClient.contains(.closed(stream: id, code: .cancel)))
    }

    @Test func streamsBeyondTheLimitWait() throws {
        var settings = HTTP2Connection.Settings()
        settings.concurrentStreams = 2
        let pair = try Pair(server: settings)
        try pair.settle()
        let ids = try (0..<3).map { _ in try pair.request() }
        try pair.settle()
        func begun() -> [Int32] { pair.toServer.compactMap { if case .headers(let id, _, _) = $0 { id } else { nil } } }
        #expect(begun() == Array(ids[..<2]))
        pair.respond(ids[0], 204)
        try pair.settle()
        #expect(begun() == ids)
    }

    @Test func afterGoAwayNewStreamsAreRefused() throws {
        let pair = try Pair()
        let first = try pair.request()
        try pair.settle()
        pair.server.goAway()
        let late = try pair.request()
        try pair.settle()
        #expect(pair.toClient.contains(.goAway(lastStream: first, code: .noError)))
        #expect(pair.toClient.contains(.closed(stream: late, code: .refusedStream)))
        pair.respond(first, 204)
        try pair.settle()
        #expect(pair.toClient.contains(.closed(stream: first, code: .noError)))
    }

    /// It was never sent, so it may be sent again.
    @Test func aRequestThatWaitsIsRefusedByGoAway() throws {
        var settings = HTTP2Connection.Settings()
        settings.concurrentStreams = 1
        let pair = try Pair(server: settings)
        try pair.settle()
        let first = try pair.request()
        let waiting = try pair.request()
        try pair.settle()
        #expect(pair.client.wasSent(first) && !pair.client.wasSent(waiting))
        pair.server.goAway()
        try pair.settle()
        pair.respond(first, 204)
        try pair.settle()
        #expect(pair.toClient.contains(.closed(stream: waiting, code: .refusedStream)))
    }

    /// The rest of a head whose stream has been reset in the meantime affects no other stream.
    @Test func aResetInTheMiddleOfAHeadLeavesTheConnection() throws {
        let pair = try Pair()
        let id = try pair.request()
        try pair.settle()
        pair.respond(id, 200, (0..<50).map { "x-\($0): \(String(repeating: "v", count: 100))" })
        var head = try pair.server.takeOutput().bytes
        let half = head.readSlice(length: head.readableBytes / 2) ?? ByteBuffer()
        _ = try pair.client.receive(half)
        pair.client.reset(id, code: .cancel)
        _ = try pair.client.takeOutput()
        _ = try pair.client.receive(head)
        let next = try pair.request()
        try pair.settle()
        pair.respond(next, 204)
        try pair.settle()
        #expect(pair.toClient.contains(.closed(stream: next, code: .noError)))
    }

    /// The client of a proxy cancels freely, and so does the proxy at the origin that many clients share.
    @Test func aClientMayResetItsRequests() throws {
        let pair = try Pair()
        for _ in 0..<400 {
            let id = try pair.request()
            try pair.settle()
            pair.client.reset(id, code: .cancel)
            try pair.settle()
        }
        let id = try pair.request()
        try pair.settle()
        pair.respond(id, 204)
        try pair.settle()
        #expect(pair.toClient.contains(.closed(stream: id, code: .noError)))
    }

    @Test func outputComesInPieces() throws {
        let pair = try Pair()
        let ids = try (0..<20).map { _ in try pair.request() }
        try pair.settle()
        for id in ids {
            pair.respond(id, hasBody: true)
            pair.server.send(id, ByteBuffer(repeating: 1, count: 60_000))
            pair.server.end(id)
        }
        var total = 0
        while case let bytes = try pair.server.takeOutput(limit: 100_000).bytes, bytes.readableBytes > 0 {
            #expect(bytes.readableBytes < 100_000 + 17_000)
            total += bytes.readableBytes
        }
        #expect(total > 1_200_000)
    }

    @Test func anAnswerToAStreamThatIsGoneIsDropped() throws {
        let pair = try Pair()
        let id = try pair.request()
        pair.client.reset(id, code: .cancel)
        let gone = try pair.request()
        try pair.settle()
        pair.client.reset(gone, code: .cancel)
        try pair.settle()
        pair.respond(gone, hasBody: true)
        pair.server.send(gone, ByteBuffer(string: "late"))
        #expect(pair.server.pending(gone) == 0)
    }

    @Test func aHeadPastTheLimitIsMarkedAndItsConnectionLives() throws {
        let pair = try Pair()
        let long = String(repeating: "a", count: 70_000)
        _ = try pair.request(["x-long: \(long)", "y-long: \(long)"])
        _ = try pair.request(["accept: */*"])
        try pair.settle()
        let sections = pair.toServer.compactMap { if case .headers(_, let section, _) = $0 { section } else { nil } }
        #expect(sections.map(\.isTooLarge) == [true, false])
        let error = #expect(throws: MessageError.self) { try RequestHead(sections[0]) }
        #expect(error?.status == 431 && error?.message.contains("more than 128 KiB") == true)
    }

    /// An origin of HTTP/1 could not be sent them.
    @Test(arguments: [2045, 2046]) func aHeadHasALimitOfFields(count: Int) throws {
        let pair = try Pair()
        _ = try pair.request((1...count).map { "x\($0): v" })
        try pair.settle()
        let section = try #require(pair.section(pair.toServer))
        guard count > 2045 else {
            #expect(try RequestHead(section).fields.count == count)
            return
        }
        let error = #expect(throws: MessageError.self) { try RequestHead(section) }
        #expect(error?.status == 431 && error?.message.contains("more than 2045 fields") == true)
    }

    @Test func allCookiesCountAsOneField() throws {
        let pair = try Pair()
        _ = try pair.request((1...2044).map { "x\($0): v" } + (1...300).map { "cookie: c\($0)=v" })
        try pair.settle()
        #expect(try RequestHead(try #require(pair.section(pair.toServer))).fields.count == 2344)
    }

    @Test(arguments: [1, 512, 513, 2049, 5000]) func onlyBytesDecideHowManyCookiesArrive(count: Int) throws {
        let pair = try Pair()
        let crumbs = (1...count).map { "c\($0)=v" }
        _ = try pair.request(crumbs.map { "cookie: \($0)" } + ["x-last: y"])
        try pair.settle()
        let head = try RequestHead(try #require(pair.section(pair.toServer)))
        let cookies = head.fields.lines.filter { $0.hasPrefix("cookie: ") }.map { $0.dropFirst(8) }
        #expect(cookies.count == min(count, 513) && cookies.joined(separator: "; ") == crumbs.joined(separator: "; "))
        #expect(head.fields.first("x-last") == "y")
    }

    @Test func cookiesBeyondTheBytesAreTooMany() throws {
        let pair = try Pair()
        let crumb = "cookie: a=" + String(repeating: "b", count: 98)
        // The limit is 1,285 of 102 bytes each.
        for count in [1250, 1300] { _ = try pair.request(Array(repeating: crumb, count: count)) }
        try pair.settle()
        let sections = pair.toServer.compactMap { if case .headers(_, let section, _) = $0 { section } else { nil } }
        #expect(sections.map(\.isTooLarge) == [false, true])
    }

    @Test func anAnswerMayHaveAsManyFieldsAsItsBytesAllow() throws {
        let pair = try Pair()
        let id = try pair.request()
        try pair.settle()
        pair.respond(id, 200, (1...2500).map { "set-cookie: c\($0)" })
        try pair.settle()
        let section = try #require(pair.section(pair.toClient))
        #expect(try ResponseHead(section).fields.count == 2500)
    }
}

@Suite struct HTTP2FloodTests {
    private func server() throws -> HTTP2Connection {
        let server = try HTTP2Connection(.server)
        _ = try server.receive(ByteBuffer(bytes: Frame.preface + Frame.settings))
        return server
    }

    private func flood(_ frames: [UInt8], times: Int, elapsed: Double = 0) throws -> (failed: Bool, code: UInt8?) {
        let server = try self.server()
        do {
            for _ in 0..<times {
                _ = try server.receive(ByteBuffer(bytes: frames), elapsed: elapsed)
                _ = try server.takeOutput()
            }
            return (false, nil)
        } catch {
            return (true, try Frame.ends(server).goAway)
        }
    }

    @Test func pingsEndTheConnectionAndAFewDoNot() throws {
        let ping = Frame.make(6, [UInt8](repeating: 0, count: 8))
        #expect(try self.flood(ping, times: 900).failed == false)
        let result = try self.flood(ping, times: 1100)
        #expect(result.failed && result.code == 11)
    }

    @Test func settingsAndUnknownFramesCountTogether() throws {
        let result = try self.flood(Frame.settings + Frame.make(0x5a, [1]), times: 600)
        #expect(result.failed && result.code == 11)
    }

    @Test func windowUpdatesOfNothing() throws {
        let result = try self.flood(Frame.make(8, [0, 0, 0, 1]), times: 1100)
        #expect(result.failed && result.code == 11)
    }

    @Test func emptyDataInARow() throws {
        let server = try self.server()
        _ = try server.receive(ByteBuffer(bytes: Frame.headers(1, ends: false)))
        #expect(throws: HTTP2Failure.self) {
            for _ in 0..<11 { _ = try server.receive(ByteBuffer(bytes: Frame.make(0, stream: 1))) }
        }
        #expect(try Frame.ends(server).goAway == 11)
    }

    /// nghttp2 sends empty bodies with trailers in this form.
    @Test func emptyDataOfManyStreams() throws {
        let server = try self.server()
        for number in 0..<20 {
            let stream = UInt32(2 * number + 1)
            let trailers = Frame.make(1, flags: 5, stream: stream, Frame.literal("a", "b"))
            _ = try server.receive(ByteBuffer(bytes: Frame.headers(stream, ends: false) + Frame.make(0, stream: stream) + trailers))
        }
    }

    /// Data before the fault is not delivered later in pieces, as if it were complete.
    @Test func nothingComesAfterAFailure() throws {
        let server = try self.server()
        let request = Frame.headers(1, ends: false) + Frame.make(0, stream: 1, [1, 2])
        let fault = (0..<11).flatMap { _ in Frame.make(0, stream: 1) }
        #expect(throws: HTTP2Failure.self) { _ = try server.receive(ByteBuffer(bytes: request + fault)) }
        let events = try server.takeOutput().events
        #expect(!events.contains { if case .headers = $0 { true } else { false } })
    }

    /// A complete answer makes the rest of its request unnecessary (RFC 9113, 8.1): that is no fault of the client.
    @Test func earlyAnswersAreNoFlood() throws {
        let server = try self.server()
        for number in 0..<400 {
            let stream = UInt32(2 * number + 1)
            _ = try server.receive(ByteBuffer(bytes: Frame.headers(stream, ends: false)))
            server.reset(Int32(stream), code: .noError)
            _ = try server.takeOutput()
        }
    }

    /// CVE-2023-44487: requests that are reset immediately.
    @Test func rapidResets() throws {
        let server = try self.server()
        #expect(throws: HTTP2Failure.self) {
            for number in 0..<1100 {
                let stream = UInt32(2 * number + 1)
                _ = try server.receive(ByteBuffer(bytes: Frame.headers(stream) + Frame.make(3, stream: stream, [0, 0, 0, 8])))
                _ = try server.takeOutput()
            }
        }
        #expect(try Frame.ends(server).goAway == 11)
    }

    /// The same number of resets over a longer time is no flood.
    @Test func slowResetsAreFine() throws {
        let server = try self.server()
        for number in 0..<1100 {
            let stream = UInt32(2 * number + 1)
            _ = try server.receive(
                ByteBuffer(bytes: Frame.headers(stream) + Frame.make(3, stream: stream, [0, 0, 0, 8])), elapsed: Double(number) / 20)
            _ = try server.takeOutput()
        }
    }

    /// CVE-2025-8671: frames that make this side reset the stream.
    @Test func resetsThatThePeerCauses() throws {
        let server = try self.server()
        #expect(throws: HTTP2Failure.self) {
            for number in 0..<400 {
                let stream = UInt32(2 * number + 1)
                // A malformed request is a stream error (RFC 9113, 8.1.1).
                _ = try server.receive(ByteBuffer(bytes: Frame.headers(stream, Frame.literal("te", "gzip"))))
                _ = try server.takeOutput()
            }
        }
        #expect(try Frame.ends(server).goAway == 11)
    }

    /// CVE-2024-27316: a header section without an end.
    @Test func continuationsWithoutAnEnd() throws {
        let server = try self.server()
        _ = try server.receive(ByteBuffer(bytes: Frame.make(1, flags: 1, stream: 1, [0x82, 0x87, 0x84])))
        #expect(throws: HTTP2Failure.self) {
            for _ in 0..<20 { _ = try server.receive(ByteBuffer(bytes: Frame.make(9, stream: 1, Frame.literal("a", "b")))) }
        }
    }

    /// One field, indexed once and referenced repeatedly: small on the wire, large in memory.
    @Test func aHeadThatGrowsEndlessly() throws {
        let server = try self.server()
        let long: [UInt8] = [0x40, 0x01, UInt8(ascii: "x"), 0x7f, 0xa1, 0x1e] + [UInt8](repeating: UInt8(ascii: "y"), count: 4000)
        let head = Frame.headers(1, ends: true, long + [UInt8](repeating: 0xbe, count: 200))
        #expect(throws: HTTP2Failure.self) { _ = try server.receive(ByteBuffer(bytes: head)) }
        #expect(try Frame.ends(server).goAway == 11)
    }

    @Test(arguments: [
        Frame.literal("Upper", "a"), Frame.literal("connection", "close"), Frame.literal("transfer-encoding", "chunked"),
        Frame.literal("te", "gzip"), Frame.literal("a", "b\r\nc: d"), Frame.literal("a", "b\u{0}"), Frame.literal(":late", "a"),
        Frame.literal("", "a"), Frame.literal("a b", "c"), Frame.literal(":status", "200"), Frame.literal("content-length", "x"),
        Frame.literal("a", " b"), Frame.literal("host", "other"),
    ])
    func malformedRequestsNeverBecomeHeads(field: [UInt8]) throws {
        let server = try self.server()
        let events = try server.receive(ByteBuffer(bytes: Frame.headers(1, ends: false, field)))
        for case .headers(_, let section, _) in events {
            #expect(throws: MessageError.self) { try RequestHead(section) }
        }
        let good = try server.receive(ByteBuffer(bytes: Frame.headers(3)))
        #expect(good.contains { if case .headers(3, _, true) = $0 { true } else { false } })
    }

    /// Random bytes after a regular start give an error or events, never a crash.
    @Test(arguments: 0..<64) func anything(seed: Int) throws {
        var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
        func next() -> UInt8 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return UInt8(truncatingIfNeeded: state >> 32)
        }
        let server = try self.server()
        for _ in 0..<40 {
            let payload = (0..<Int(next() % 60)).map { _ in next() }
            let frame = Frame.make(next() % 11, flags: next(), stream: UInt32(next() % 8), payload)
            guard (try? server.receive(ByteBuffer(bytes: frame))) != nil, (try? server.takeOutput()) != nil else { return }
        }
    }
}
