internal import CassetteModel
internal import TapeBytes
internal import TapeExchange

/// Reads the flows that mitmproxy saves: a series of tnetstrings, each a dictionary.
struct FlowReader {
    private let context: ImportContext
    /// The connections to origins, by mitmproxy's names.
    private var connections: [String: Int] = [:]
    /// Handshakes whose messages are in another flow, as up to version 10, by the id of their flow.
    private var handshakes: [String: ImportedExchange] = [:]
    /// Conversations that have been read, as mitmproxy may save one twice.
    private var conversations: Set<String> = []

    init(_ context: ImportContext) { self.context = context }

    func read(_ file: any SourceBytes, _ deliver: (ImportedExchange) throws -> Void) throws {
        var reader = self
        let strings = TNetStrings(file, self.context)
        while let flow = try strings.next() {
            self.context.entry += 1
            if let exchange = try reader.exchange(flow) { try deliver(exchange) }
        }
        // The messages of these handshakes were not recorded.
        for (_, exchange) in reader.handshakes.sorted(by: { $0.key < $1.key }) { try deliver(exchange) }
    }

    /// Nil if a cassette has no place for the flow.
    private mutating func exchange(_ flow: SourceValue) throws(CassetteError) -> ImportedExchange? {
        guard flow.members != nil else { throw self.context.error(flow, "", "expected a flow, found \(flow.kind)") }
        let type = flow["type"]?.string ?? "http"
        if type == "websocket" { return try self.conversation(flow) }
        guard type == "http" else {
            self.context.lose(.notHTTP, at: flow)
            return nil
        }
        guard var exchange = try self.http(flow) else { return nil }
        if let socket = flow["websocket"] {
            exchange.messages = try self.messages(socket["messages"], socket, since: exchange.started)
        } else if exchange.response?.status == 101, flow["version"]?.int ?? 0 < 11, let id = flow["id"]?.string {
            self.handshakes[id] = exchange
            return nil
        }
        return exchange
    }

    private mutating func conversation(_ flow: SourceValue) throws(CassetteError) -> ImportedExchange? {
        let id = flow["id"]?.string ?? ""
        let handshake = flow["metadata"]?["websocket_handshake"]?.string ?? flow["handshake_flow"]?["id"]?.string ?? ""
        guard self.conversations.insert(id).inserted else { return nil }
        var found = self.handshakes.removeValue(forKey: handshake)
        if found == nil, let inner = flow["handshake_flow"] { found = try self.http(inner) }
        guard var exchange = found else {
            self.context.lose(.unknownPart, at: flow)
            return nil
        }
        exchange.messages = try self.messages(flow["messages"], flow, since: exchange.started)
        return exchange
    }

    private mutating func http(_ flow: SourceValue) throws(CassetteError) -> ImportedExchange? {
        let request = try self.context.required(flow, "request")
        let method = try self.context.string(request, "method", in: "request")
        guard FieldBuilder.isToken(method) else {
            throw self.context.error(request, "request.method", "\"\(method.prefix(40))\" is not a method")
        }
        let headers = try self.fields(request["headers"], in: "request.headers")
        guard method != "CONNECT", let url = self.url(request, headers) else {
            self.context.lose(.notHTTP, at: flow)
            return nil
        }
        var exchange = ImportedExchange(
            request: RecordedRequest(method: method, url: url, version: self.version(request), headers: headers))
        exchange.started = request["timestamp_start"]?.double.flatMap { SourceWords.time(seconds: $0) }
        exchange.requestBody = self.body(request, .requestBody)
        if exchange.requestBody?.bytes.isEmpty == true, !headers.contains("content-length"), !headers.contains("transfer-encoding") {
            exchange.requestBody = nil
        }
        if let trailers = request["trailers"] { exchange.request.trailers = try self.fields(trailers, in: "request.trailers") }
        if let response = flow["response"] {
            let code = response.first("status_code", "code")?.int ?? 0
            guard (100...999).contains(code) else { throw self.context.error(response, "response.status_code", "\(code) is not a status") }
            var head = RecordedResponse(
                status: code, reason: SourceWords.reason(response.first("reason", "msg")), version: self.version(response))
            if head.version.major >= 2 { head.reason = [] }
            head.headers = try self.fields(response["headers"], in: "response.headers")
            if let trailers = response["trailers"] { head.trailers = try self.fields(trailers, in: "response.trailers") }
            exchange.response = head
            exchange.responseBody = self.body(response, .responseBody)
            if exchange.responseBody?.isComplete == false {
                exchange.cutAnswer("the flow does not have the body")
            }
        }
        if let problem = flow["error"]?["msg"]?.string {
            if exchange.response == nil {
                exchange.outcome = .failed(HARReader.failure(problem))
            } else {
                exchange.outcome = .cut(Cut(by: problem.lowercased().contains("client") ? .client : .origin, reason: problem))
                exchange.responseBody?.isComplete = false
            }
        } else if exchange.response == nil {
            exchange.outcome = .failed(Failure(kind: .reset, message: "the flow has no answer"))
        }
        self.connect(&exchange, flow, request)
        return exchange
    }

    // MARK: Heads

    private func url(_ request: SourceValue, _ headers: HeaderFields) -> String? {
        let scheme = request["scheme"]?.string ?? "http"
        let path = request["path"]?.string ?? "/"
        if path.hasPrefix("http://") || path.hasPrefix("https://") { return SourceWords.url(path) }
        let host = request["host"]?.string ?? ""
        let port = request["port"]?.int ?? 0
        let isDefault = port == 0 || port == (scheme == "https" ? 443 : 80)
        var authority = request["authority"]?.string ?? ""
        if authority.isEmpty { authority = isDefault ? host : "\(host.contains(":") ? "[\(host)]" : host):\(port)" }
        // A diverted connection has an address instead of a host name.
        if let named = headers.first("host"), !host.contains(where: { $0.isLetter }) { authority = named }
        return authority.isEmpty ? nil : SourceWords.url("\(scheme)://\(authority)\(path.hasPrefix("/") ? path : "/")")
    }

    private func version(_ message: SourceValue) -> HTTPVersion {
        if let parts = message["httpversion"]?.list, parts.count == 2 {
            return HTTPVersion(major: parts[0].int ?? 1, minor: parts[1].int ?? 1) == .http10 ? .http10 : .http11
        }
        let (version, isLater) = SourceWords.version(message["http_version"]?.string)
        if isLater { self.context.lose(.http3, at: message) }
        return version
    }

    private func fields(_ value: SourceValue?, in path: String) throws(CassetteError) -> HeaderFields {
        var builder = FieldBuilder(self.context)
        try builder.append(value, in: path)
        return builder.fields
    }

    private func body(_ message: SourceValue, _ loss: ImportLoss) -> ImportedBody {
        if let bytes = message["content"]?.data { return ImportedBody(bytes, .asSent) }
        self.context.lose(loss, at: message)
        return ImportedBody([], .asSent, isComplete: false)
    }

    // MARK: Connections and times

    private mutating func connect(_ exchange: inout ImportedExchange, _ flow: SourceValue, _ request: SourceValue) {
        func times(_ value: SourceValue?) -> (start: Double, end: Double)? {
            guard let start = value?["timestamp_start"]?.double, let end = value?["timestamp_end"]?.double, end >= start else { return nil }
            return (start, end)
        }
        func milliseconds(_ seconds: Double) -> Double { (max(0, seconds) * 1_000_000).rounded() / 1000 }
        let server = flow["server_conn"]
        let sent = times(request)
        let came = times(flow["response"])
        if let sent { exchange.timing.send = milliseconds(sent.end - sent.start) }
        if let sent, let came {
            exchange.timing.wait = milliseconds(came.start - sent.end)
            exchange.timing.receive = milliseconds(came.end - came.start)
            exchange.timing.total = milliseconds(came.end - sent.start)
        }
        let start = server?["timestamp_start"]?.double
        let tcp = server?["timestamp_tcp_setup"]?.double
        let tls = server?.first("timestamp_tls_setup", "timestamp_ssl_setup")?.double
        let name = server?["id"]?.string ?? start.map { "\($0)" } ?? ""
        let isKnown = self.connections[name] != nil
        if let start, let tcp, let sent, start >= sent.start, !isKnown {
            exchange.timing.connect = milliseconds(tcp - start)
            if let tls { exchange.timing.tls = milliseconds(tls - tcp) }
            if let wait = exchange.timing.wait, start >= sent.end {
                exchange.timing.wait = max(0, ((wait - milliseconds((tls ?? tcp) - start)) * 1000).rounded() / 1000)
            }
        }
        guard let address = Self.address(server), !name.isEmpty else { return }
        let id = self.connections[name] ?? self.connections.count + 1
        self.connections[name] = id
        exchange.connection = ConnectionInfo(id: id, remote: address, isReused: isKnown)
    }

    private static func address(_ server: SourceValue?) -> String? {
        for name in ["peername", "ip_address", "address"] {
            guard let value = server?[name] else { continue }
            guard let pair = value.list ?? value["address"]?.list, pair.count >= 2, let host = pair[0].string, let port = pair[1].int,
                !host.isEmpty, host.utf8.allSatisfy({ $0 > 32 && $0 < 127 })
            else { continue }
            return "\(host.contains(":") ? "[\(host)]" : host):\(port)"
        }
        return nil
    }

    // MARK: WebSockets

    private func messages(_ value: SourceValue?, _ socket: SourceValue, since start: Timestamp?) throws(CassetteError) -> [ImportedMessage]
    {
        func at(_ time: SourceValue?) -> Double? {
            guard let time = time?.double, let start else { return nil }
            return max(0, ((time * 1_000_000 - Double(start.microseconds))).rounded() / 1000)
        }
        var messages: [ImportedMessage] = []
        for element in value?.list ?? [] {
            guard let parts = element.list, parts.count >= 4, let data = parts[2].data else {
                throw self.context.error(element, "websocket.messages", "expected a message with a type, a side, a content and a time")
            }
            // A dropped message never reached the other side.
            if parts.count > 4, parts[4].bool == true { continue }
            let kind: TapedMessage.Kind =
                switch parts[0].int {
                case 2: .binary
                case 8: .close
                case 9: .ping
                case 10: .pong
                default: .text
                }
            messages.append(
                ImportedMessage(
                    at: at(parts[3]) ?? messages.last?.at ?? 0, from: parts[1].bool == true ? .client : .server, kind: kind, bytes: data))
        }
        if messages.last?.kind != .close, let code = socket["close_code"]?.int, HARReader.isSent(code) {
            let payload = WebSocketClose(code: UInt16(code), reason: Array((socket["close_reason"]?.data ?? []).prefix(123))).payload
            let side: WebSocketSide = socket.first("closed_by_client")?.bool == true ? .client : .server
            messages.append(
                ImportedMessage(at: at(socket["timestamp_end"]) ?? messages.last?.at ?? 0, from: side, kind: .close, bytes: payload))
        }
        return messages
    }
}

/// Typed netstrings as mitmproxy writes them: a length, a colon, that many bytes, and a letter for the type.
final class TNetStrings {
    /// The most bytes of one flow, which is held in memory.
    private static let limit = 512 << 20
    private static let depthLimit = 64

    private let file: any SourceBytes
    private let context: ImportContext
    private var buffer: [UInt8] = []
    private var start = 0
    private var offset = 0
    private let countLimit: Int
    /// The number of values in the flow.
    private var count = 0

    /// - Parameter countLimit: the most values of one flow.
    init(_ file: any SourceBytes, _ context: ImportContext, countLimit: Int = SourceValue.countLimit) {
        self.countLimit = countLimit
        self.file = file
        self.context = context
    }

    /// The next value; nil at the end of the file.
    func next() throws(CassetteError) -> SourceValue? {
        // The length has at most twelve digits, and a colon follows.
        guard try self.fill(1) else { return nil }
        _ = try self.fill(13)
        let digits = self.buffer[self.start...].prefix(13).prefix { $0 != UInt8(ascii: ":") }
        guard digits.count < 13, let length = JSONNumber.int(digits), length >= 0 else { throw self.error("expected a length and ':'") }
        guard length <= Self.limit else {
            throw self.error("a flow of \(length >> 20) MiB is more than \(Self.limit >> 20)", .tooLarge, "leave it out")
        }
        let head = digits.count + 1
        guard try self.fill(head + length + 1) else {
            throw self.error("the file ends within a flow", .damaged, "it was cut short: save or copy it again")
        }
        let end = self.start + head + length
        self.count = 0
        let value = try self.value(self.buffer[self.start + head..<end], type: self.buffer[end], depth: 0)
        self.start = end + 1
        self.offset += head + length + 1
        return value
    }

    /// - Returns: whether that many bytes are available.
    private func fill(_ count: Int) throws(CassetteError) -> Bool {
        while self.buffer.count - self.start < count {
            self.buffer.removeFirst(self.start)
            self.start = 0
            let bytes = try self.file.read(max(256 << 10, count - self.buffer.count))
            guard !bytes.isEmpty else { return false }
            self.buffer += bytes
        }
        return true
    }

    private func value(_ bytes: ArraySlice<UInt8>, type: UInt8, depth: Int) throws(CassetteError) -> SourceValue {
        guard depth <= Self.depthLimit else { throw self.error("nested more than \(Self.depthLimit) levels deep") }
        self.count += 1
        guard self.count <= self.countLimit else {
            throw self.error("more than \(self.countLimit) values in a flow", .tooLarge, "leave it out")
        }
        let content: SourceValue.Content
        switch type {
        case UInt8(ascii: "~"): content = .nothing
        case UInt8(ascii: "!"): content = .bool(bytes.elementsEqual("true".utf8))
        case UInt8(ascii: "#"), UInt8(ascii: "^"): content = .word(Array(bytes))
        case UInt8(ascii: ";"): content = .text(Array(bytes))
        case UInt8(ascii: ","): content = .bytes(Array(bytes))
        case UInt8(ascii: "]"):
            var list: [SourceValue] = []
            var rest = bytes
            while !rest.isEmpty { list.append(try self.take(&rest, depth: depth + 1)) }
            content = .list(list)
        case UInt8(ascii: "}"):
            var members: [SourceValue.Member] = []
            var rest = bytes
            while !rest.isEmpty {
                guard let name = try self.take(&rest, depth: depth + 1).string else { throw self.error("a key is not text") }
                guard !rest.isEmpty else { throw self.error("the key \"\(name.prefix(40))\" has no value") }
                members.append(.init(name: name, value: try self.take(&rest, depth: depth + 1)))
            }
            content = .members(members)
        default: throw self.error("\"\(Character(UnicodeScalar(type)))\" is not a type of value")
        }
        return SourceValue(line: 0, content: content)
    }

    /// Takes the value at the beginning of the bytes and leaves the bytes after it.
    private func take(_ bytes: inout ArraySlice<UInt8>, depth: Int) throws(CassetteError) -> SourceValue {
        let digits = bytes.prefix(13).prefix { $0 != UInt8(ascii: ":") }
        guard digits.count < 13, let length = JSONNumber.int(digits), length >= 0, bytes.count > digits.count + 1 + length else {
            throw self.error("a value is longer than the value that contains it")
        }
        let start = bytes.startIndex + digits.count + 1
        defer { bytes = bytes[(start + length + 1)...] }
        return try self.value(bytes[start..<start + length], type: bytes[start + length], depth: depth)
    }

    private func error(
        _ reason: String, _ code: CassetteError.Code = .damaged, _ next: String = "correct it, or save it again"
    ) -> CassetteError { self.context.error(line: 0, "byte \(self.offset)", reason, code, next) }
}
