internal import CassetteModel
internal import CassetteStore
internal import TapeBytes
internal import TapeExchange

/// Reads HTTP Archives 1.2 in the dialects of browsers, proxies and test tools, one entry at a time.
struct HARReader {
    /// The most bytes of a ping or pong.
    private static let controlLimit = 125

    private let context: ImportContext
    private let folder: String
    private let extras: HARExtras
    /// The ZIP file of the archive, which contains the bodies too.
    private let zip: ZipArchive?
    /// The ids of named connections.
    private var connections: [String: Int] = [:]
    private var takenIDs: Set<Int> = []
    /// All lower ids are taken.
    private var nextID = 1

    /// Whether Polly made the archive.
    private var isPolly: Bool

    init(_ context: ImportContext, zip: ZipArchive? = nil, isPolly: Bool = false) {
        self.isPolly = isPolly
        self.context = context
        self.zip = zip
        self.folder = FileLocation(context.file).folder
        self.extras = HARExtras(context)
    }

    func read(_ file: any SourceBytes, _ deliver: (ImportedExchange) throws -> Void) throws {
        var reader = self
        var hasEntries = false
        let stream = try JSONStream(file, self.context)
        guard try stream.enterMembers() else { throw self.context.error(line: stream.line, "", "expected an object with a \"log\"") }
        while let name = try stream.nextName() {
            guard name == "log" else {
                try stream.skip()
                continue
            }
            guard try stream.enterMembers() else { throw self.context.error(line: stream.line, "log", "expected an object") }
            while let name = try stream.nextName() {
                if name == "_recordingName" { reader.isPolly = true }
                guard name == "entries" else {
                    if hasEntries, HARExtras.names.contains(name) {
                        let value = try stream.value()
                        if HARExtras.isThere(value) { self.context.lose(.late, at: value) }
                    } else {
                        try stream.skip()
                    }
                    continue
                }
                hasEntries = true
                try stream.forEachElement(self.context, "log.entries") { entry in
                    if let exchange = try reader.exchange(entry) { try deliver(exchange) }
                }
            }
        }
        try stream.end()
        guard hasEntries else { throw self.context.error(line: 0, "log", "\"entries\" is missing") }
    }

    // MARK: An entry

    /// Nil if a cassette has no place for the entry.
    mutating func exchange(_ entry: SourceValue) throws(CassetteError) -> ImportedExchange? {
        let request = try self.context.required(entry, "request")
        let response = entry["response"]
        let address = try self.context.string(request, "url", in: "request")
        guard !Placeholders.isInAddress(of: address) else {
            self.context.lose(.placeholder, at: entry, names: Placeholders.names(inURL: address))
            return nil
        }
        guard request["method"]?.string != "CONNECT", let url = SourceWords.url(address) else {
            self.context.lose(.notHTTP, at: entry)
            return nil
        }
        var status = 0
        if let response, response["status"] != nil { status = try self.context.int(response, "status", in: "response") }
        let problem = (response?["_error"] ?? entry["_error"])?.string ?? response?["comment"]?.string
        guard status > 0 || !Self.wasNeverSent(problem, entry) else {
            self.context.lose(.blocked, at: entry)
            return nil
        }
        var exchange = ImportedExchange(request: try self.request(request, url: url))
        exchange.started = entry["startedDateTime"]?.string.flatMap { SourceWords.time($0) }
        exchange.requestBody = try self.requestBody(request, &exchange.request)
        exchange.timing = Self.timing(entry)
        exchange.connection = self.connection(entry, url: url, exchange.timing)
        if status > 0, let response {
            exchange.response = try self.response(response, status: status)
            exchange.responseBody = try self.responseBody(response, entry, &exchange)
            if let problem, let cut = Self.cut(problem) {
                exchange.outcome = .cut(cut)
                exchange.responseBody?.isComplete = false
            }
        } else {
            exchange.outcome = .failed(Self.failure(problem ?? "the archive has no answer"))
        }
        exchange.messages = try self.messages(entry, of: exchange)
        if exchange.messages != nil, exchange.response?.status != 101 {
            // Browsers record another status, or none, for a handshake over HTTP/2.
            exchange.response?.status = 101
            exchange.response?.version = .http11
        }
        exchange.unknown = [self.extras.member(of: entry, exchange)].compactMap { $0 }
        return exchange
    }

    private static func wasNeverSent(_ problem: String?, _ entry: SourceValue) -> Bool {
        guard let problem else { return entry["response"]?["_blocked"] != nil || entry["_blocked"] != nil }
        return problem.contains("ERR_BLOCKED_BY") || problem.contains("blocked:")
    }

    // MARK: Messages

    private func request(_ value: SourceValue, url: String) throws(CassetteError) -> RecordedRequest {
        let method = try self.context.string(value, "method", in: "request")
        guard FieldBuilder.isToken(method) else {
            throw self.context.error(value, "request.method", "\"\(method.prefix(40))\" is not a method")
        }
        var request = RecordedRequest(method: method, url: url + Self.query(value, url), version: self.version(value))
        request.headers = try self.fields(value["headers"], in: "request.headers", cookies: value["cookies"]?.list, isAnswer: false)
        if let trailers = value["_trailers"] { request.trailers = try self.fields(trailers, in: "request._trailers") }
        return request
    }

    private func response(_ value: SourceValue, status: Int) throws(CassetteError) -> RecordedResponse {
        guard (100...999).contains(status) else { throw self.context.error(value, "response.status", "\(status) is not a status") }
        var response = RecordedResponse(status: status, reason: SourceWords.reason(value["statusText"]), version: self.version(value))
        if response.version.major >= 2 { response.reason = [] }
        response.headers = try self.fields(value["headers"], in: "response.headers", cookies: value["cookies"]?.list, isAnswer: true)
        if let trailers = value["_trailers"] { response.trailers = try self.fields(trailers, in: "response._trailers") }
        return response
    }

    /// The query for an entry whose URL has none; empty if there is none in the list either.
    private static func query(_ request: SourceValue, _ url: String) -> String {
        guard !url.contains("?"), let items = request["queryString"]?.list, !items.isEmpty else { return "" }
        let pairs = items.map { item in
            "\(StubRequest.encoded(item["name"]?.string ?? ""))=\(StubRequest.encoded(item["value"]?.string ?? ""))"
        }
        return "?" + pairs.joined(separator: "&")
    }

    private func version(_ message: SourceValue) -> HTTPVersion {
        let (version, isLater) = SourceWords.version(message["httpVersion"]?.string)
        if isLater { self.context.lose(.http3, at: message) }
        return version
    }

    /// - Parameter cookies: cookies that the entry may have outside of its header fields.
    private func fields(
        _ value: SourceValue?, in path: String, cookies: [SourceValue]? = nil, isAnswer: Bool = false
    ) throws(CassetteError) -> HeaderFields {
        var builder = FieldBuilder(self.context)
        try builder.append(value, in: path)
        guard let cookies, !cookies.isEmpty, !builder.fields.contains(isAnswer ? "set-cookie" : "cookie") else { return builder.fields }
        var pairs: [String] = []
        for cookie in cookies {
            guard let pair = HARCookieText.pair(cookie) else {
                self.context.lose(.fields, at: cookie)
                continue
            }
            pairs.append(isAnswer ? pair + HARCookieText.attributes(cookie) : pair)
        }
        for line in isAnswer ? pairs : [pairs.joined(separator: "; ")] where !line.isEmpty {
            builder.append(isAnswer ? "Set-Cookie" : "Cookie", Array(line.utf8), at: cookies[0])
        }
        return builder.fields
    }

    // MARK: Bodies

    private func requestBody(_ value: SourceValue, _ request: inout RecordedRequest) throws(CassetteError) -> ImportedBody? {
        let length = request.headers.first("content-length").flatMap { Int($0) }
        // HTTP Toolkit has bodies that are not text in its own member.
        let post = value["_content"] ?? value["postData"]
        guard let post else {
            if self.hasBody(value, request) || request.headers.contains("transfer-encoding") { return self.missing(at: value) }
            return length == 0 ? ImportedBody([], .asSent) : nil
        }
        let type = request.headers.first("content-type") ?? Self.type(post)
        let isCoded = request.headers.contains("content-encoding")
        var found = try self.bytes(
            post, type: type ?? "", isCoded: isCoded, size: isCoded ? nil : length ?? Self.size(value["bodySize"]),
            length: isCoded ? nil : length, in: "request.postData")
        // An incomplete body could be the beginning of a different one.
        if found?.isComplete == false { return self.missing(at: post) }
        // Some tools write an empty text next to the fields of a form.
        if found?.bytes.isEmpty != false { found = try HARForm(self.context).body(post, type: type, &request) ?? found }
        if found?.bytes.isEmpty != false, self.hasBody(value, request) || Self.hasParams(post) {
            return self.missing(at: post)
        }
        guard let body = found else { return nil }
        // Fiddler writes an empty body for every GET, and Insomnia for every request without a body.
        if body.bytes.isEmpty, length == nil, !request.headers.contains("transfer-encoding") { return nil }
        if let type, !request.headers.contains("content-type"), !body.bytes.isEmpty {
            request.headers.append(line: Array("Content-Type: \(type)".utf8))
        }
        return body
    }

    /// Whether there are form fields, in a list or in anything that should be one.
    private static func hasParams(_ post: SourceValue) -> Bool {
        guard let params = post["params"] else { return false }
        return params.list.map { !$0.isEmpty } ?? params.members.map { !$0.isEmpty } ?? true
    }

    /// Whether an entry indicates that its request had a body that was not empty.
    private func hasBody(_ value: SourceValue, _ request: RecordedRequest) -> Bool {
        // HTTP Toolkit omits bodies that are too long for it.
        if value["_requestBodyStatus"]?.string?.hasPrefix("discarded") == true { return true }
        if let length = request.headers.first("content-length").flatMap({ Int($0) }) { return length > 0 }
        return value["bodySize"]?.double ?? 0 > 0
    }

    private func missing(at value: SourceValue) -> ImportedBody {
        self.context.lose(.requestBody, at: value)
        return ImportedBody([], .asSent, isComplete: false)
    }

    private static func type(_ value: SourceValue) -> String? {
        guard let type = value["mimeType"]?.string, !type.isEmpty, type != "x-unknown", type.utf8.allSatisfy({ $0 >= 32 && $0 < 127 })
        else {
            return nil
        }
        return type
    }

    /// The bytes of a content with a text or a file; nil if it has neither. Incomplete if bytes are missing.
    ///
    /// - Parameters:
    ///   - size: the size of the content in bytes; nil if the archive does not contain it.
    ///   - length: the Content-Length of a body without codings.
    private func bytes(
        _ value: SourceValue, type: String, isCoded: Bool, size: Int?, length: Int?, in path: String
    ) throws(CassetteError) -> ImportedBody? {
        if let name = value.first("_file", "_sha1") {
            var bytes: [UInt8]
            if let zip, let file = name.string {
                bytes = try zip.read(file)
            } else {
                bytes = try self.context.file(name, path, below: self.folder)
            }
            // Playwright stores texts in UTF-8 there too.
            if UTF8Validator.isValid(bytes) { bytes = self.context.bytes(of: bytes, type: type) }
            return ImportedBody(bytes, .decoded)
        }
        guard let text = value["text"] else { return nil }
        guard let data = text.data else { throw self.context.error(text, "\(path).text", "expected text, found \(text.kind)") }
        if self.isPolly, isCoded, let chunks = Self.chunks(data) { return ImportedBody(chunks, .either) }
        let encoding = value.first("encoding", "_encoding")?.string?.lowercased() ?? ""
        if Self.textEncodings.contains(encoding) {
            let text = DecodedText(data, type: type, context: self.context)
            return ImportedBody(text.bytes, .decoded, isComplete: text.isWhole(size: size, length: length) && !Self.isTruncated(value))
        }
        guard encoding == "base64" else {
            self.context.lose(.encoding, at: text)
            return ImportedBody([], .asSent, isComplete: false)
        }
        guard let bytes = LooseBase64.decode(data[...]) else {
            self.context.lose(.base64, at: text)
            return ImportedBody([], .asSent, isComplete: false)
        }
        // Some tools give the number of base64 characters.
        let isShort = size.map { $0 > bytes.count && $0 != data.count } ?? false
        return ImportedBody(bytes, .either, isComplete: !isShort && !Self.isTruncated(value))
    }

    /// Firefox says so in the comment of a body that is too long for it.
    private static func isTruncated(_ value: SourceValue) -> Bool {
        value["comment"]?.string?.lowercased().contains("truncated") == true
    }

    /// Names that tools write if a text has no encoding.
    private static let textEncodings: Set<String> = ["", "utf8", "utf-8", "text", "plain", "none", "identity", "ascii"]

    /// Polly stores compressed bodies as a list of chunks in base64 or hex, written as JSON; nil for any other text.
    private static func chunks(_ text: [UInt8]) -> [UInt8]? {
        guard text.starts(with: Array("[\"".utf8)), text.last == UInt8(ascii: "]"), let document = try? JSONDocument(text) else {
            return nil
        }
        var bytes: [UInt8] = []
        var isHex = true
        let chunks = document.root.elements.map(\.utf8)
        for chunk in chunks {
            guard let chunk, chunk.count >= 4 else { return nil }
            isHex = isHex && Hex.decode(chunk) != nil
        }
        for case let chunk? in chunks {
            guard let decoded = isHex ? Hex.decode(chunk) : Base64.decode(chunk) else { return nil }
            bytes += decoded
        }
        let isCompressed = bytes.starts(with: [0x1F, 0x8B]) || bytes.first == 0x78 || bytes.starts(with: [0x28, 0xB5, 0x2F, 0xFD])
        return isCompressed ? bytes : nil
    }

    private func responseBody(
        _ value: SourceValue, _ entry: SourceValue, _ exchange: inout ImportedExchange
    ) throws(CassetteError) -> ImportedBody? {
        let headers = exchange.response?.headers ?? HeaderFields()
        let content = value["content"]
        let type = headers.first("content-type") ?? content.flatMap(Self.type)
        let isCoded = headers.contains("content-encoding")
        let found = try content.flatMap { (content) throws(CassetteError) in
            let length = isCoded ? nil : headers.first("content-length").flatMap { Int($0) }
            let size = Self.contentSize(content, length: length, isCoded: isCoded)
            return try self.bytes(content, type: type ?? "", isCoded: isCoded, size: size, length: length, in: "response.content")
        }
        if let content, let body = found, !body.bytes.isEmpty || self.isEmpty(content, body, value, headers, isCoded: isCoded) {
            if let type, !headers.contains("content-type"), !body.bytes.isEmpty {
                exchange.response?.headers.append(name: "Content-Type", value: type)
            }
            if !body.isComplete, !Self.isBodiless(exchange) {
                self.context.lose(.responseBody, at: entry)
                exchange.outcome = .cut(Cut(by: .origin, reason: "the archive does not have the whole body"))
            }
            return body
        }
        if let events = entry["_eventSourceMessages"]?.list, !events.isEmpty { return self.stream(events, exchange) }
        let length = headers.first("content-length").flatMap { Int($0) }
        let size = content?["size"]?.double ?? value["bodySize"]?.double ?? length.map(Double.init) ?? 0
        guard !Self.isBodiless(exchange) else { return nil }
        // The sizes of an answer from the browser's cache are 0 or less; Firefox omits them.
        let isCached = value["httpVersion"]?.string == "" && value["bodySize"]?.double == -1
        // A size of -1 is unknown.
        let isMissing =
            size > 0 || size < 0 && length != 0 || length ?? 0 > 0 || isCached || found?.isComplete == false
            || Self.saysBytesCame(value, headers, isCoded: isCoded)
        guard isMissing else { return ImportedBody([], .decoded) }
        self.context.lose(isCached ? .cached : .responseBody, at: entry)
        exchange.outcome = .cut(Cut(by: .origin, reason: "the archive does not have the body"))
        return ImportedBody([], .decoded, isComplete: false)
    }

    /// Whether an empty text is really the complete body, and not a stand-in for a body that the archive lacks.
    private func isEmpty(
        _ content: SourceValue, _ body: ImportedBody, _ response: SourceValue, _ headers: HeaderFields, isCoded: Bool
    ) -> Bool {
        let size = content["size"]?.double ?? 0
        let length = headers.first("content-length").flatMap { Int($0) } ?? 0
        // An empty body that was compressed has some bytes.
        return body.isComplete && size == 0 && (length <= 0 || isCoded) && !Self.saysBytesCame(response, headers, isCoded: isCoded)
    }

    private static func isBodiless(_ exchange: ImportedExchange) -> Bool {
        let status = exchange.response?.status ?? 0
        return exchange.request.method == "HEAD" || status < 200 || status == 204 || status == 304
    }

    /// The bytes of an empty chunked body, which browsers count: `0` and two line ends (RFC 9112, 7.1).
    private static let emptyChunksSize = 5.0

    /// Whether `bodySize` counts bytes of a body although its content is empty.
    private static func saysBytesCame(_ response: SourceValue, _ headers: HeaderFields, isCoded: Bool) -> Bool {
        guard !isCoded, headers.first("content-length") != "0" else { return false }
        return response["bodySize"]?.double ?? 0 > (headers.contains("transfer-encoding") ? Self.emptyChunksSize : 0)
    }

    /// Nil if there is none, or if it is -1 for an unknown size.
    private static func size(_ value: SourceValue?) -> Int? { value?.int.flatMap { $0 > 0 ? $0 : nil } }

    /// The size of the decoded content in bytes; nil if unknown.
    ///
    /// - Parameter length: the Content-Length of a body without codings.
    private static func contentSize(_ content: SourceValue, length: Int?, isCoded: Bool) -> Int? {
        guard let size = self.size(content["size"]) else { return length.flatMap { $0 > 0 ? $0 : nil } }
        // Some tools give the size of the encoded body, which exceeds that of a short content.
        guard isCoded else { return size }
        return content["compression"] == nil ? nil : size
    }

    /// A stream of events, rebuilt from the recorded events.
    private func stream(_ events: [SourceValue], _ exchange: ImportedExchange) -> ImportedBody {
        var body = ImportedBody([], .decoded)
        let head = [
            exchange.timing.blocked, exchange.timing.dns, exchange.timing.connect, exchange.timing.tls, exchange.timing.send,
            exchange.timing.wait,
        ]
        .reduce(0) { $0 + ($1 ?? 0) }
        for event in events {
            var lines = ""
            if let name = event["eventName"]?.string, !name.isEmpty, name != "message" { lines += "event: \(Self.line(name))\n" }
            if let id = event["eventId"]?.string, !id.isEmpty { lines += "id: \(Self.line(id))\n" }
            for line in (event["data"]?.string ?? "").split(separator: "\n", omittingEmptySubsequences: false) {
                lines += "data: \(line)\n"
            }
            let bytes = Array("\(lines)\n".utf8)
            body.bytes += bytes
            body.pieces.append(.init(at: max(0, self.milliseconds(event["time"], since: exchange.started) - head), size: bytes.count))
        }
        if body.pieces.count > Arrival.pieceLimit { body.pieces = [] }
        return body
    }

    private static func line(_ text: String) -> String { text.split { $0.isNewline }.joined(separator: " ") }

    // MARK: Times and connections

    /// `connect` includes `ssl`; -1 and null mean that a phase did not happen.
    private static func timing(_ entry: SourceValue) -> Timing {
        let timings = entry["timings"]
        func phase(_ name: String) -> Double? { timings?[name]?.double.flatMap { $0 >= 0 ? $0 : nil } }
        var timing = Timing(
            blocked: phase("blocked"), dns: phase("dns"), connect: phase("connect"), tls: phase("ssl"), send: phase("send"),
            wait: phase("wait"),
            receive: phase("receive"), total: entry["time"]?.double.flatMap { $0 >= 0 ? $0 : nil })
        if let connect = timing.connect, let tls = timing.tls { timing.connect = max(0, connect - tls) }
        return timing
    }

    private mutating func connection(_ entry: SourceValue, url: String, _ timing: Timing) -> ConnectionInfo? {
        guard let address = entry["serverIPAddress"]?.string, !address.isEmpty,
            address.utf8.allSatisfy({
                Hex.value($0) != nil || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "[")
                    || $0 == UInt8(ascii: "]")
            })
        else { return nil }
        let host = address.filter { $0 != "[" && $0 != "]" }
        let remote = "\(host.contains(":") ? "[\(host)]" : host):\(Self.port(of: url))"
        let name = entry["connection"]?.string ?? ""
        if let id = self.connections[name] { return ConnectionInfo(id: id, remote: remote, isReused: timing.connect == nil) }
        let id = self.freeID(named: name)
        self.takenIDs.insert(id)
        if !name.isEmpty { self.connections[name] = id }
        return ConnectionInfo(id: id, remote: remote, isReused: false)
    }

    /// The number from the name, as our own export writes it, or else the next free one.
    private mutating func freeID(named name: String) -> Int {
        if let id = Int32(name).map(Int.init), id > 0, !self.takenIDs.contains(id) { return id }
        while self.takenIDs.contains(self.nextID) { self.nextID += 1 }
        return self.nextID
    }

    private static func port(of url: String) -> Int {
        let isSecure = url.hasPrefix("https")
        let authority = url.drop { $0 != ":" }.dropFirst(3).prefix { $0 != "/" && $0 != "?" }
        let digits = authority.reversed().prefix { $0.isASCII && $0.isNumber }.reversed()
        let hasPort = authority.dropLast(digits.count).last == ":" && !digits.isEmpty
        return hasPort ? Int(String(digits)) ?? 0 : isSecure ? 443 : 80
    }

    // MARK: WebSockets

    private func messages(_ entry: SourceValue, of exchange: ImportedExchange) throws(CassetteError) -> [ImportedMessage]? {
        guard let list = entry["_webSocketMessages"], exchange.response != nil else { return nil }
        guard let values = list.list else { throw self.context.error(list, "_webSocketMessages", "expected a list, found \(list.kind)") }
        var messages: [ImportedMessage] = []
        for value in values {
            guard let (kind, bytes) = try self.payload(value) else {
                self.context.lose(.unknownPart, at: value)
                continue
            }
            if value["time"]?.double ?? -1 < 0 { self.context.lose(.messageTime, at: value) }
            let at = max(self.milliseconds(value["time"], since: exchange.started), messages.last?.at ?? 0)
            messages.append(ImportedMessage(at: at, from: value["type"]?.string == "send" ? .client : .server, kind: kind, bytes: bytes))
        }
        if messages.last?.kind != .close, let close = entry["_webSocketClose"], let code = close["code"]?.int, Self.isSent(code) {
            let reason = (close["reason"]?.data ?? []).prefix(123)
            let payload = WebSocketClose(code: UInt16(code), reason: Array(reason)).payload
            messages.append(ImportedMessage(at: messages.last?.at ?? 0, from: .server, kind: .close, bytes: payload))
        }
        return messages
    }

    /// Nil if the opcode is not that of a message (RFC 6455, 5.2).
    private func payload(_ value: SourceValue) throws(CassetteError) -> (kind: TapedMessage.Kind, bytes: [UInt8])? {
        guard let data = value["data"]?.data else { throw self.context.error(value, "_webSocketMessages", "\"data\" is missing") }
        switch value["opcode"]?.int ?? 1 {
        case 0, 1:
            guard value["_encoding"]?.string == "base64" else { return (.text, data) }
            return (.text, try self.decoded(data, value))
        case 2: return (.binary, try self.decoded(data, value))
        case 8:
            let bytes = Base64.decode(data) ?? []
            return (.close, bytes.count < 2 ? [] : bytes)
        case 9: return (.ping, Array((Base64.decode(data) ?? data).prefix(Self.controlLimit)))
        case 10: return (.pong, Array((Base64.decode(data) ?? data).prefix(Self.controlLimit)))
        default: return nil
        }
    }

    private func decoded(_ data: [UInt8], _ value: SourceValue) throws(CassetteError) -> [UInt8] {
        guard let bytes = LooseBase64.decode(data[...]) else {
            throw self.context.error(value, "_webSocketMessages", "this is not base64")
        }
        return bytes
    }

    /// Whether a close frame can contain the code: three codes are reserved and never sent (RFC 6455, 7.4.1).
    static func isSent(_ code: Int) -> Bool { (1000...4999).contains(code) && ![1005, 1006, 1015].contains(code) }

    /// Times are relative to 1970: in seconds from browsers, in milliseconds from Playwright.
    private func milliseconds(_ time: SourceValue?, since start: Timestamp?) -> Double {
        guard let time = time?.double, time >= 0, let start else { return 0 }
        let epoch = time > 1e11 ? time : time * 1000
        let offset = epoch - Double(start.microseconds) / 1000
        return offset > 0 ? (offset * 1000).rounded() / 1000 : 0
    }

    // MARK: Failures

    /// Parses `cut by the origin: reason`, as our own export writes it.
    private static func cut(_ problem: String) -> Cut? {
        for party in Cut.Party.allCases where problem.hasPrefix("cut by the \(party.rawValue): ") {
            return Cut(by: party, reason: String(problem.dropFirst("cut by the \(party.rawValue): ".utf8.count)))
        }
        return problem.hasPrefix("net::ERR_") ? Cut(by: .origin, reason: problem) : nil
    }

    static func failure(_ problem: String) -> Failure {
        if let kind = Failure.Kind.allCases.first(where: { problem.hasPrefix("\($0.rawValue): ") }) {
            return Failure(kind: kind, message: String(problem.dropFirst(kind.rawValue.utf8.count + 2)))
        }
        let text = String(problem.uppercased().map { $0 == " " ? "_" : $0 })
        func has(_ words: String...) -> Bool { words.contains { text.contains($0) } }
        let kind: Failure.Kind =
            if has("NAME_NOT_RESOLVED", "DNS", "ENOTFOUND", "GETADDRINFO", "UNKNOWN_HOST", "NAME_OR_SERVICE") {
                .dns
            } else if has("CONNECTION_REFUSED", "ECONNREFUSED") {
                .refused
            } else if has("UNREACHABLE", "INTERNET_DISCONNECTED", "NETWORK_CHANGED", "NO_ROUTE") {
                .unreachable
            } else if has("CERT_", "SSL", "TLS") {
                .tls
            } else if has("TIMED_OUT", "TIMEOUT", "ETIMEDOUT") {
                .timeout
            } else if has("ABORTED", "CANCELED", "CANCELLED") {
                .cancelled
            } else if has("INVALID", "PROTOCOL", "MALFORMED") {
                .malformed
            } else {
                .reset
            }
        return Failure(kind: kind, message: problem)
    }
}
