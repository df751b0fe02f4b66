internal import CassetteModel
internal import TapeBytes
internal import TapeExchange

/// Reads HTTP/1 messages as sent (RFC 9112), for the readers of formats that store them.
///
/// More lenient than the proxy: lines may end in a bare LF, and tools write HTTP/2 as if it were HTTP/1. Keeps the chunks of a body with
/// their lines. The caller decides whether the bytes are one message or whether more follow.
struct WireMessages {
    /// The most bytes of a head.
    private static let headLimit = 1 << 20

    private let context: ImportContext
    /// The line in the file, for errors.
    private let line: Int
    /// Whether bodies are searched for messages that they may have swallowed.
    private var searchesBodies = true

    /// - Parameter line: the line in the file where the message starts; 0 if the file does not consist of lines.
    init(_ context: ImportContext, line: Int = 0) {
        self.context = context
        self.line = line
    }

    /// The extent of the message.
    enum Extent {
        /// All bytes belong to this message.
        case all
        /// Other messages follow.
        case open
    }

    /// Whether text begins with the first line of a message.
    static func isStartLine(_ text: ArraySlice<UInt8>) -> Bool {
        let line = text.prefix { $0 != 10 && $0 != 13 }
        guard line.count < text.count, let words = self.words(line) else { return false }
        return words.version.hasPrefix("HTTP/") && FieldBuilder.isToken(words.method) || self.status(of: line) != nil
    }

    // MARK: A request

    /// - Parameters:
    ///   - base: scheme and authority for a target without them; its host is used if the fields name none.
    /// - Returns: the exchange with its request, and the length of the request in bytes.
    func request(_ bytes: ArraySlice<UInt8>, base: String, _ extent: Extent) throws(CassetteError) -> (
        exchange: ImportedExchange, count: Int
    )? {
        var head = try self.head(bytes)
        guard let words = Self.words(head.startLine), FieldBuilder.isToken(words.method), words.version.hasPrefix("HTTP/") else {
            throw self.error("expected a request line, found \(Self.shown(head.startLine))")
        }
        let (version, isLater) = SourceWords.version(words.version)
        if isLater { self.context.lose(.http3) }
        let isTunnel = words.method == "CONNECT"
        let cut = try self.takeCut(&head, extent)
        var exchange = ImportedExchange(request: RecordedRequest(method: words.method, url: "", version: version, headers: head.fields))
        if !isTunnel, let url = Self.url(words.target, head.fields, base: base) { exchange.request.url = url }
        if words.target == "*" { exchange.request.target = "*" }
        let rest = bytes.dropFirst(head.count)
        var framing = Framing.none
        if Self.isChunked(head.fields, version) {
            framing = .chunked
        } else if let length = Self.length(head.fields) {
            framing = .length(length)
        } else if extent == .all, !rest.isEmpty {
            framing = .rest
        }
        let found = try self.body(rest, framing, .request, extent, head.fields, cut: cut)
        exchange.requestBody = found.body
        exchange.request.trailers = found.trailers
        if found.body?.isComplete == false { self.context.lose(.requestBody) }
        guard !isTunnel, !exchange.request.url.isEmpty else {
            self.context.lose(.notHTTP)
            return extent == .all ? nil : (exchange, head.count + found.count)
        }
        return (exchange, head.count + found.count)
    }

    private static func url(_ target: String, _ fields: HeaderFields, base: String) -> String? {
        if let url = SourceWords.url(target) { return url }
        guard target.hasPrefix("/") || target == "*" else { return nil }
        let scheme = base.prefix { $0 != ":" }
        let authority = fields.first("host").map { "\(scheme)://\($0)" } ?? base
        return SourceWords.url(authority + (target == "*" ? "/" : target))
    }

    // MARK: An answer

    /// Adds the response to the exchange, after any interim responses.
    ///
    /// - Returns: the length in bytes.
    func respond(_ bytes: ArraySlice<UInt8>, to exchange: inout ImportedExchange, _ extent: Extent) throws(CassetteError) -> Int {
        var rest = bytes
        while true {
            var head = try self.head(rest)
            guard let status = Self.status(of: head.startLine) else {
                throw self.error("expected a status line, found \(Self.shown(head.startLine))")
            }
            let version = SourceWords.version(status.version).version
            rest = rest.dropFirst(head.count)
            if status.code < 200, status.code != 101 {
                exchange.interim.append(
                    InterimResponse(version: version, status: status.code, reason: status.reason, headers: head.fields, at: 0))
                continue
            }
            let cut = try self.takeCut(&head, extent)
            var response = RecordedResponse(status: status.code, reason: status.reason, version: version, headers: head.fields)
            if version.major >= 2 { response.reason = [] }
            let isBodiless = exchange.request.method == "HEAD" || status.code < 200 || status.code == 204 || status.code == 304
            var framing = Framing.none
            if !isBodiless {
                framing = Self.isChunked(head.fields, version) ? .chunked : Self.length(head.fields).map { .length($0) } ?? .rest
            }
            if framing == .rest, extent == .open, cut == nil, Self.startLine(in: rest) != nil {
                throw self.error("an answer without a length is followed by other messages, so its end is unknown")
            }
            let found = try self.body(rest, framing, .response, extent, head.fields, cut: cut)
            response.trailers = found.trailers
            exchange.response = response
            exchange.responseBody = isBodiless ? nil : found.body
            if found.body?.isComplete == false {
                exchange.outcome = .cut(Cut(by: .origin, reason: "the recording ends within the body"))
            }
            rest = rest.dropFirst(found.count)
            return rest.startIndex - bytes.startIndex
        }
    }

    /// The length of the frames after the head of a WebSocket's answer, up to the next message.
    func frames(_ bytes: ArraySlice<UInt8>) throws(CassetteError) -> Int {
        let start = Self.startLine(in: bytes)
        // A message that does not begin a line would be lost without a word.
        let frames = bytes[..<(start ?? bytes.endIndex)]
        guard !frames.indices.contains(where: { frames[$0] == 32 && frames[$0...].starts(with: " HTTP/1.".utf8) }) else {
            throw self.error("messages of a WebSocket are followed by other messages on the same line, so their end is unknown")
        }
        return frames.count
    }

    /// The start of the first line that could be the first line of a message; nil if there is none.
    private static func startLine(in bytes: ArraySlice<UInt8>) -> Int? {
        var start = bytes.startIndex
        while start < bytes.endIndex {
            if self.isStartLine(bytes[start...].prefix(1 << 16)) { return start }
            guard let feed = bytes[start...].firstIndex(of: 10) else { return nil }
            start = feed + 1
        }
        return nil
    }

    // MARK: Heads

    private struct Head {
        var startLine: ArraySlice<UInt8>
        var fields: HeaderFields
        /// The length in bytes, including the empty line.
        var count: Int
    }

    private func head(_ bytes: ArraySlice<UInt8>) throws(CassetteError) -> Head {
        var lines: [ArraySlice<UInt8>] = []
        var start = bytes.startIndex
        while true {
            guard start - bytes.startIndex <= Self.headLimit else { throw self.error("a head has more than \(Self.headLimit >> 20) MiB") }
            guard let feed = bytes[start...].firstIndex(of: 10) else {
                // Some tools omit the empty line if there is no body.
                if start < bytes.endIndex { lines.append(bytes[start...]) }
                start = bytes.endIndex
                guard !lines.isEmpty else { throw self.error("a message is missing") }
                break
            }
            let line = bytes[start..<feed].last == 13 ? bytes[start..<(feed - 1)] : bytes[start..<feed]
            start = feed + 1
            if line.isEmpty {
                if lines.isEmpty { continue }
                break
            }
            lines.append(line)
        }
        var fields = FieldBuilder(self.context)
        var joined: [[UInt8]] = []
        for line in lines.dropFirst() {
            // A continuation of a folded line (RFC 9112, 5.2).
            if line.first == 32 || line.first == 9, !joined.isEmpty {
                joined[joined.count - 1] += [32] + line.drop { $0 == 32 || $0 == 9 }
            } else {
                joined.append(Array(line))
            }
        }
        let place = SourceValue(line: self.line, content: .nothing)
        for line in joined {
            guard let colon = line.dropFirst().firstIndex(of: UInt8(ascii: ":")) else {
                if line.first != UInt8(ascii: ":") { self.context.lose(.fields) }
                continue
            }
            let value = line[(colon + 1)...].drop { $0 == 32 || $0 == 9 }
            fields.append(String(decoding: line[..<colon], as: UTF8.self), Array(value), at: place)
        }
        return Head(startLine: lines[0], fields: fields.fields, count: start - bytes.startIndex)
    }

    /// Method, target and version.
    private static func words(_ line: ArraySlice<UInt8>) -> (method: String, target: String, version: String)? {
        guard let first = line.firstIndex(of: 32), let last = line.lastIndex(of: 32), first < last else { return nil }
        return (
            String(decoding: line[..<first], as: UTF8.self), String(decoding: line[(first + 1)..<last], as: UTF8.self),
            String(decoding: line[(last + 1)...], as: UTF8.self)
        )
    }

    private static func status(of line: ArraySlice<UInt8>) -> (version: String, code: Int, reason: [UInt8])? {
        let parts = line.split(separator: 32, maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count >= 2, parts[0].starts(with: "HTTP/".utf8), parts[1].count == 3,
            let code = Int(String(decoding: parts[1], as: UTF8.self)), (100...999).contains(code)
        else { return nil }
        let reason = parts.count > 2 ? parts[2].filter { $0 >= 32 && $0 != 127 } : []
        return (String(decoding: parts[0], as: UTF8.self), code, Array(reason))
    }

    private static func isChunked(_ fields: HeaderFields, _ version: HTTPVersion) -> Bool {
        version.major < 2 && fields.values("transfer-encoding").contains { $0.lowercased().hasSuffix("chunked") }
    }

    private static func length(_ fields: HeaderFields) -> Int? {
        fields.first("content-length").flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }

    private static func shown(_ line: ArraySlice<UInt8>) -> String { "\"\(PlainText.escape(line.prefix(40), limit: 40))\"" }

    // MARK: Bodies

    private enum Framing: Equatable { case none, length(Int), chunked, rest }

    /// Removes the field of our own export from a head.
    ///
    /// - Returns: the number of bytes of a body that was cut short; nil if it was not.
    private func takeCut(_ head: inout Head, _ extent: Extent) throws(CassetteError) -> Int? {
        guard extent == .open, let text = head.fields.first("wiretape-cut-after") else { return nil }
        guard let size = JSONNumber.int(Array(text.utf8)[...]), size >= 0 else {
            throw self.error("\"Wiretape-Cut-After\" is not a number of bytes")
        }
        head.fields = head.fields.removing("wiretape-cut-after")
        return size
    }

    private typealias Found = (body: ImportedBody?, trailers: HeaderFields?, count: Int)

    private func body(
        _ bytes: ArraySlice<UInt8>, _ framing: Framing, _ side: MessageSide, _ extent: Extent, _ fields: HeaderFields, cut: Int?
    ) throws(CassetteError) -> Found {
        if let cut {
            guard cut <= bytes.count else { throw self.error("the file ends within a body of \(cut) bytes") }
            var found = try self.body(bytes.prefix(cut), framing, side, .all, fields, cut: nil)
            found.body = found.body ?? ImportedBody([], .asSent)
            found.body?.isComplete = false
            // Half of an encoded body cannot be decoded, but it is what was sent.
            found.body?.form = .asSent
            found.count = cut
            return found
        }
        switch framing {
        case .none: return (nil, nil, 0)
        case .rest: return (ImportedBody(Array(bytes), .either), nil, bytes.count)
        case .length(let length):
            // A tool that decoded the body may have left the length unchanged. The length of a longer body is corrected later.
            let data = extent == .all ? bytes : bytes.prefix(length)
            if extent == .open { try self.checkForMessages(data, isShort: data.count < length, fields) }
            return (ImportedBody(Array(data), extent == .all ? .either : .asSent, isComplete: data.count >= length), nil, data.count)
        case .chunked:
            if let found = self.chunked(bytes, side, extent) { return found }
            guard extent == .all else { throw self.error("a body has chunks that cannot be read") }
            // The tool has removed the chunked coding.
            return (ImportedBody(Array(bytes), .either), nil, bytes.count)
        }
    }

    /// A body that was cut short takes the bytes of the following messages as its own. They then end where the body does.
    private func checkForMessages(_ body: ArraySlice<UInt8>, isShort: Bool, _ fields: HeaderFields) throws(CassetteError) {
        guard self.searchesBodies, let start = Self.startLine(in: body) else { return }
        let type = fields.first("content-type")?.lowercased() ?? ""
        if !isShort {
            // Bodies of these types contain messages (RFC 9110, 9.3.8; RFC 9112, 10).
            guard !type.hasPrefix("message/"), !type.hasPrefix("application/http") else { return }
            guard self.areMessages(body[start...]) else { return }
        }
        throw self.error(
            "a body contains the first line of another message, so it may have been cut before that line, and its end is unknown")
    }

    /// Whether the bytes consist of complete messages.
    private func areMessages(_ bytes: ArraySlice<UInt8>) -> Bool {
        // A trial, whose losses are not counted.
        var messages = WireMessages(ImportContext(file: self.context.file, losses: ImportLosses(), options: self.context.options))
        messages.searchesBodies = false
        var rest = bytes
        do throws(CassetteError) {
            while !rest.isEmpty {
                if rest.starts(with: "HTTP/".utf8) {
                    var exchange = ImportedExchange(request: RecordedRequest(method: "GET", url: ""))
                    rest = rest.dropFirst(try messages.respond(rest, to: &exchange, .open))
                    guard exchange.responseBody?.isComplete != false else { return false }
                } else {
                    guard let found = try messages.request(rest, base: self.context.options.base, .open),
                        found.exchange.requestBody?.isComplete != false
                    else { return false }
                    rest = rest.dropFirst(found.count)
                }
                rest = rest.drop { $0 == 13 || $0 == 10 }
            }
        } catch {
            return false
        }
        return true
    }

    /// Nil if the bytes are not chunks.
    private func chunked(_ bytes: ArraySlice<UInt8>, _ side: MessageSide, _ extent: Extent) -> Found? {
        var limits = Limits()
        limits.chunkExtensions = .max
        var parser = BodyParser(framing: .chunked, side: side, limits: limits)
        var data: [UInt8] = []
        var arrival = Arrival(isChunked: true)
        var trailers: HeaderFields?
        let wire = Array(bytes)
        var count = 0
        do throws(MessageError) {
            count = try wire.withUnsafeBufferPointer { buffer throws(MessageError) in
                try parser.consume(UnsafeRawBufferPointer(buffer)) { event in
                    switch event {
                    case .data(let range): data += wire[range]
                    case .chunk(let size, let line):
                        if arrival.pieces.count < Arrival.pieceLimit {
                            arrival.pieces.append(.init(at: 0, size: size, line: line))
                        } else {
                            arrival.pieces[arrival.pieces.count - 1].size += size
                            arrival.isThinned = true
                        }
                    case .lastChunk(let line): arrival.lastLine = line
                    case .trailers(let fields): trailers = fields
                    }
                }.consumed
            }
        } catch {
            return nil
        }
        // Bytes that end within a chunk were cut short. Bytes without any chunk are not a chunked body.
        guard parser.isDone || !arrival.pieces.isEmpty || wire.isEmpty else { return nil }
        if parser.isDone, extent == .all, count < wire.count, wire[count...].contains(where: { $0 != 13 && $0 != 10 }) { return nil }
        var body = ImportedBody(data, .asSent, isComplete: parser.isDone)
        if !parser.isDone, let last = arrival.pieces.last {
            // Shortens the last chunk to the bytes that arrived.
            let missing = arrival.pieces.reduce(0) { $0 + $1.size } - data.count
            if missing >= last.size {
                arrival.pieces.removeLast()
            } else {
                arrival.pieces[arrival.pieces.count - 1].size -= max(0, missing)
            }
        }
        body.chunks = arrival
        return (body, trailers, count)
    }

    private func error(_ problem: String) -> CassetteError { self.context.error(line: self.line, "", problem) }
}

/// Reads a series of HTTP/1 messages, each request with its response, with or without empty lines between them, as `export --raw` writes
/// them.
struct RawMessageReader {
    private let context: ImportContext

    init(_ context: ImportContext) { self.context = context }

    func read(_ file: any SourceBytes, _ deliver: (ImportedExchange) throws -> Void) throws {
        let all = try file.rest(of: self.context.file)
        var rest = all[...]
        let messages = WireMessages(self.context)
        func skipEmptyLines() { rest = rest.drop { $0 == 13 || $0 == 10 } }
        skipEmptyLines()
        while !rest.isEmpty {
            self.context.entry += 1
            guard let found = try messages.request(rest, base: self.context.options.base, .open) else { return }
            var exchange = found.exchange
            rest = rest.dropFirst(found.count)
            skipEmptyLines()
            if rest.isEmpty || !rest.starts(with: "HTTP/".utf8) {
                // A request without a response.
                exchange.outcome = .failed(Failure(kind: .reset, message: "the file has no answer"))
            } else {
                rest = rest.dropFirst(try messages.respond(rest, to: &exchange, .open))
                if exchange.response?.status == 101 {
                    let count = try messages.frames(rest)
                    if rest.prefix(count).contains(where: { $0 != 13 && $0 != 10 }) { self.context.lose(.unknownPart) }
                    rest = rest.dropFirst(count)
                }
                skipEmptyLines()
            }
            guard !exchange.request.url.isEmpty else { continue }
            self.context.lose(.timing)
            try deliver(exchange)
        }
    }
}

/// Reads traces of Go's httprr: a first line, then for each exchange a line with two lengths, the request and the response.
struct HTTPRecordReader {
    private let context: ImportContext

    init(_ context: ImportContext) { self.context = context }

    func read(_ file: any SourceBytes, _ deliver: (ImportedExchange) throws -> Void) throws {
        let all = try file.rest(of: self.context.file)
        guard var position = all.firstIndex(of: 10).map({ $0 + 1 }), all.starts(with: "httprr trace v1".utf8) else {
            throw self.context.error(line: 1, "", "expected \"httprr trace v1\" on the first line")
        }
        let messages = WireMessages(self.context)
        while position < all.count {
            self.context.entry += 1
            let feed = all[position...].prefix(64).firstIndex(of: 10)
            let numbers = all[position..<(feed ?? position)].split(separator: 32).map { JSONNumber.int($0) }
            guard let feed, numbers.count == 2, let sent = numbers[0], let came = numbers[1], sent >= 0, came >= 0 else {
                throw self.context.error(line: 0, "", "expected a line with the lengths of a request and an answer")
            }
            guard sent <= all.count - feed - 1, came <= all.count - feed - 1 - sent else {
                throw self.context.error(
                    line: 0, "", "the file ends within an exchange", .damaged, "it was cut short: save or copy it again")
            }
            let middle = feed + 1 + sent
            position = middle + came
            guard var exchange = try messages.request(all[(feed + 1)..<middle], base: self.context.options.base, .all)?.exchange else {
                continue
            }
            _ = try messages.respond(all[middle..<position], to: &exchange, .all)
            self.context.lose(.timing)
            try deliver(exchange)
        }
    }
}
