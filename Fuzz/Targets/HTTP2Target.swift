internal import CassetteModel
internal import NIOCore
internal import TapeExchange
internal import TapeHTTP2

/// One end of an HTTP/2 connection: what it tells, sends and refuses does not depend on how the bytes arrive, its limits hold whatever is
/// answered meanwhile, and a head that is translated to HTTP/1 is read there as the same one.
///
/// An input is a byte for the role and the limits, one for the cuts and the answers, and frames; the preface of a client is put before them.
package enum HTTP2Target: FuzzTarget {
    private enum Told: Equatable {
        case event(HTTP2Event)
        /// Neighbours are joined, since data comes as it was cut.
        case data(stream: Int32, [UInt8])
    }

    private struct Run: Equatable {
        var told: [Told] = []
        var failure: HTTP2Failure?
        /// All that was sent once everything was read.
        var sent: [UInt8] = []
    }

    package static func run(_ input: UnsafeRawBufferPointer) throws {
        guard input.count > 2 else { return }
        let role: HTTP2Connection.Role = input[0] & 1 == 0 ? .server : .client
        let settings = self.settings(input[0])
        let preface = role == .server && input[0] & 8 == 0 ? Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) : []
        let bytes = preface + Array(input[2...])
        let pieces = bytes.withUnsafeBytes { Cuts(seed: input[1]).pieces(of: $0) }
        guard let whole = try self.listen(role, settings, [bytes]), let cut = try self.listen(role, settings, pieces) else { return }
        // nghttp2 counts reads that end within the head of a CONTINUATION frame as frames.
        if whole.failure == nil, cut.failure?.message == "Too many CONTINUATION frames following a HEADER frame" { return }
        // nghttp2 reads on after a GOAWAY, and ignores what comes in later reads.
        let isLeaving = (whole.told + cut.told).contains { if case .event(.goAway) = $0 { true } else { false } }
        if !isLeaving {
            try self.expect(
                whole.failure == cut.failure,
                "whether a connection fails depends on the cuts: \(whole.failure as Any), \(cut.failure as Any)")
            try self.expect(whole.sent == cut.sent, "what is sent depends on the cuts: \(whole.sent), \(cut.sent)")
            // Of what fails, nothing is told that came in the same read.
            if whole.failure == nil { try self.compare(whole.told, cut.told) }
        }
        for case .event(.headers(_, let section, let ends)) in whole.told {
            if role == .server { try self.translate(request: section, ends) } else { try self.translate(response: section, ends) }
        }
        try self.talk(role, settings, pieces, input[1])
    }

    /// Small limits for some inputs, so that they are reached.
    private static func settings(_ choice: UInt8) -> HTTP2Connection.Settings {
        var settings = HTTP2Connection.Settings()
        if choice & 2 != 0 {
            settings.concurrentStreams = 3
            settings.separateCrumbs = 2
        }
        if choice & 4 != 0 { settings.headerSection = 300 }
        return settings
    }

    private static let requested = 4

    private static func connection(_ role: HTTP2Connection.Role, _ settings: HTTP2Connection.Settings) -> HTTP2Connection? {
        guard let connection = try? HTTP2Connection(role, settings: settings) else { return nil }
        for number in 0..<self.requested where role == .client { self.ask(connection, hasBody: number & 1 == 1) }
        return connection
    }

    private static func ask(_ connection: HTTP2Connection, hasBody: Bool) {
        var head = RequestHead(method: "POST", target: "/a", version: .http2, fields: HeaderFields(["a: b"]))
        head.authority = "h.test"
        let origin = Origin(scheme: .https, host: "h.test", port: 443)
        _ = try? connection.request(HTTP2Fields(head, target: .origin("/a"), origin: origin), hasBody: hasBody)
    }

    // MARK: Cuts

    /// Reads without an answer: what is sent is sent at the end.
    private static func listen(_ role: HTTP2Connection.Role, _ settings: HTTP2Connection.Settings, _ pieces: [[UInt8]]) throws -> Run? {
        guard let connection = self.connection(role, settings) else { return nil }
        // The requests are on their way before an answer comes.
        if role == .client { _ = try? connection.takeOutput() }
        var run = Run()
        for piece in pieces where run.failure == nil {
            var events: [HTTP2Event] = []
            do throws(HTTP2Failure) {
                events = try connection.receive(ByteBuffer(bytes: piece))
            } catch {
                run.failure = error
            }
            try self.tell(events, piece, settings, to: &run.told)
        }
        while let (bytes, events) = try? connection.takeOutput(), bytes.readableBytes > 0 {
            run.sent += bytes.readableBytesView
            try self.tell(events, [], settings, to: &run.told)
        }
        if role == .server { try self.count(run.told, settings) }
        return run
    }

    /// Bytes that make a body longer than its head says are told if they come before the first surplus one in a read of their own: what ends
    /// well is the same, and of the rest one is a beginning of the other.
    private static func compare(_ whole: [Told], _ cut: [Told]) throws {
        func events(_ told: [Told]) -> [HTTP2Event] {
            told.compactMap { told in
                guard case .event(let event) = told else { return nil }
                return event
            }
        }
        func bodies(_ told: [Told]) -> [Int32: [UInt8]] {
            var bodies: [Int32: [UInt8]] = [:]
            for case .data(let stream, let bytes) in told { bodies[stream, default: []] += bytes }
            return bodies
        }
        try self.expect(events(whole) == events(cut), "the events depend on the cuts")
        let (ones, others) = (bodies(whole), bodies(cut))
        for stream in Set(ones.keys).union(others.keys) {
            let (one, other) = (ones[stream] ?? [], others[stream] ?? [])
            let isWhole = whole.contains(.event(.ended(stream: stream)))
            try self.expect(isWhole ? one == other : one.starts(with: other) || other.starts(with: one), "a body depends on the cuts")
        }
    }

    private static func tell(_ events: [HTTP2Event], _ piece: [UInt8], _ settings: HTTP2Connection.Settings, to told: inout [Told]) throws {
        for event in events {
            switch event {
            case .data(let stream, let range):
                try self.expect(!range.isEmpty && range.upperBound <= piece.count, "data outside of what was read")
                if case .data(stream, let earlier)? = told.last {
                    told[told.count - 1] = .data(stream: stream, earlier + piece[range])
                } else {
                    told.append(.data(stream: stream, Array(piece[range])))
                }
            case .headers(_, let section, _):
                let most = settings.headerSection / 32 + settings.separateCrumbs + 1
                try self.expect(section.fields.count <= most, "\(section.fields.count) fields")
                try self.expect(section.isTooLarge || section.size <= settings.headerSection, "a section of \(section.size) bytes")
                try self.expect(section.size <= 4 * settings.headerSection, "a section of \(section.size) bytes was read on")
                told.append(.event(event))
            case .ended, .answered, .closed, .broken, .goAway, .settings: told.append(.event(event))
            }
        }
    }

    /// No more streams at once than the settings allow, nothing on a stream that is not open, and one end for each.
    private static func count(_ told: [Told], _ settings: HTTP2Connection.Settings) throws {
        var open: [Int32: Int] = [:]
        var ended: Set<Int32> = []
        for event in told {
            switch event {
            case .event(.headers(let stream, _, _)):
                try self.expect(!ended.contains(stream), "a section after the end of its message")
                open[stream, default: 0] += 1
                try self.expect(open.count <= settings.concurrentStreams, "\(open.count) streams at once")
            case .data(let stream, _):
                try self.expect(open[stream] != nil && !ended.contains(stream), "data on a stream that is not open")
            case .event(.ended(let stream)):
                try self.expect(open[stream] != nil && ended.insert(stream).inserted, "an end of a stream that is not open")
            case .event(.closed(let stream, _)): open[stream] = nil
            case .event(.answered), .event(.broken), .event(.goAway), .event(.settings), .event(.data): break
            }
        }
    }

    // MARK: Answers

    /// Reads and answers in turn, in ways that the seed chooses: what must hold is that it ends, and sends no more at once than it is asked for.
    private static func talk(
        _ role: HTTP2Connection.Role, _ settings: HTTP2Connection.Settings, _ pieces: [[UInt8]], _ seed: UInt8
    ) throws {
        guard let connection = self.connection(role, settings) else { return }
        let limit = seed & 16 == 0 ? 64 : 64 * 1024
        for (number, piece) in pieces.enumerated() {
            guard let events = try? connection.receive(ByteBuffer(bytes: piece)) else { break }
            for event in events { self.answer(event, role, connection, seed) }
            if role == .client, number % 5 == 4 { self.ask(connection, hasBody: seed & 32 != 0) }
            if seed & 64 != 0, number == 9 { connection.goAway() }
            try self.send(connection, role, limit, seed, turns: 3)
        }
        try self.send(connection, role, limit, seed, turns: 10_000)
    }

    private static func send(_ connection: HTTP2Connection, _ role: HTTP2Connection.Role, _ limit: Int, _ seed: UInt8, turns: Int) throws {
        for turn in 0..<turns {
            guard let (bytes, events) = try? connection.takeOutput(limit: limit) else { return }
            // One frame may go past the limit.
            try self.expect(bytes.readableBytes <= limit + 16_384 + 9, "\(bytes.readableBytes) bytes at once, \(limit) were asked for")
            for event in events { self.answer(event, role, connection, seed) }
            guard bytes.readableBytes > 0 else { return }
            try self.expect(turn < 9_999, "it sends without an end")
        }
    }

    private static func answer(_ event: HTTP2Event, _ role: HTTP2Connection.Role, _ connection: HTTP2Connection, _ seed: UInt8) {
        switch event {
        case .headers(let stream, _, _) where role == .server:
            let choice = (UInt8(truncatingIfNeeded: stream) &* 37) ^ seed
            let head = ResponseHead(version: .http11, status: 200, reason: [], fields: HeaderFields(["A: b", "connection: x", "X: y"]))
            if choice & 3 == 0 {
                connection.interim(stream, HTTP2Fields(ResponseHead(version: .http11, status: 103, reason: [], fields: HeaderFields())))
            }
            connection.respond(stream, HTTP2Fields(head), hasBody: choice & 4 != 0)
            if choice & 8 != 0 { connection.send(stream, ByteBuffer(repeating: 0x61, count: 20_000)) }
            if choice & 16 != 0 {
                connection.end(stream, trailers: HTTP2Fields(trailers: HeaderFields(["t: u"])))
            } else if choice & 32 != 0 {
                connection.cut(stream, seed & 64 == 0 ? .reset(.internalError) : .broken)
            }
        case .headers(let stream, _, _):
            connection.send(stream, ByteBuffer(repeating: 0x61, count: 3000))
            if seed & 8 != 0 { connection.end(stream) }
        case .data(let stream, let range):
            if seed & 4 == 0 { connection.credit(stream, range.count) }
            if seed & 128 != 0 { connection.growWindow(stream, to: 131_070) }
        case .ended(let stream): connection.end(stream)
        case .answered(let stream):
            if !connection.peerHasEnded(stream) { connection.reset(stream, code: .noError) }
        case .closed(let stream, _): connection.send(stream, ByteBuffer(string: "late"))
        case .broken(let stream): connection.reset(stream, code: .internalError)
        case .goAway, .settings: break
        }
    }

    // MARK: Translation

    private static func parsed<Head>(_ bytes: [UInt8], _ parse: (UnsafeRawBufferPointer) throws(MessageError) -> Parsed<Head>?) throws
        -> Head
    {
        let parsed = bytes.withUnsafeBytes { bytes in try? parse(bytes) }
        guard let parsed, parsed.consumed == bytes.count else {
            throw FuzzFinding("a translated head is not one of HTTP/1: \(String(decoding: bytes, as: UTF8.self))")
        }
        return parsed.head
    }

    private static func translate(request section: HTTP2FieldSection, _ endsStream: Bool) throws {
        guard let head = try? RequestHead(section), let target = try? RequestTarget(head.target, method: head.method),
            let named = try? HostRule.check(head, target: target),
            let framing = endsStream ? BodyFraming.none : try? BodyFraming.ofRequest(head), let translated = try? head.asHTTP1(framing)
        else { return }
        let bytes = HopByHop.forwardedRequest(translated, target: target)
        let read: RequestHead = try self.parsed(bytes) { bytes throws(MessageError) in
            var parser = HeadParser()
            return try parser.parseRequest(bytes)
        }
        try self.expect(read.method == head.method, "another method")
        let again = try? RequestTarget(read.target, method: read.method)
        switch target {
        // The forwarded target is in origin form.
        case .absolute: break
        case .origin, .authority, .asterisk: try self.expect(again == target, "another target: \(read.target)")
        }
        let host = try? HostRule.check(read, target: target)
        switch target {
        case .absolute: break
        case .origin, .authority, .asterisk: try self.expect(host == named, "another host: \(read.fields.lines)")
        }
        guard let again = try? BodyFraming.ofRequest(read) else {
            throw FuzzFinding("a body framed by \(framing) becomes none that can be read")
        }
        switch (framing, again) {
        case (.untilClose, .chunked), (.none, .none), (.none, .length(0)): break
        case (.none, _), (.length, _), (.chunked, _), (.untilClose, _): try self.expect(again == framing, "\(framing) becomes \(again)")
        }
    }

    private static func translate(response section: HTTP2FieldSection, _ endsStream: Bool) throws {
        guard let head = try? ResponseHead(section),
            let framing = endsStream ? BodyFraming.none : try? BodyFraming.ofResponse(head, requestMethod: "POST")
        else { return }
        let (translated, written) = head.asHTTP1(framing, method: head.status < 200 ? "HEAD" : "POST")
        let bytes = HopByHop.forwardedResponse(translated, keepsClient: true, clientVersion: .http11)
        let read: ResponseHead = try self.parsed(bytes) { bytes throws(MessageError) in
            // A client's own limits are its own.
            var limits = Limits()
            limits.fields = 1000
            var parser = HeadParser(limits: limits)
            return try parser.parseResponse(bytes)
        }
        try self.expect(read.status == head.status, "another status")
        try self.expect(read.fields.count <= head.fields.count + 1, "more fields")
        let again = try? BodyFraming.ofResponse(read, requestMethod: "POST")
        try self.expect(again == written, "a body framed by \(written) becomes one framed by \(again as Any)")
    }
}
