package import CassetteModel
package import TapeBytes

/// The data of an interaction that a list shows and most filters need.
package struct InteractionRow: Sendable, Hashable {
    package var id = 0
    package var started = Timestamp(microseconds: 0)
    package var method = ""
    package var url = ""
    package var requestVersion = HTTPVersion.http11
    /// The value of the first Content-Type of the request.
    package var requestType: String?
    /// The size on the wire in bytes; nil if there is no body.
    package var requestSize: Int?
    package var status: Int?
    package var responseVersion = HTTPVersion.http11
    package var responseType: String?
    package var responseSize: Int?
    /// The bytes received through a tunnel.
    package var tunnelSize: Int?
    package var outcome = RowOutcome.complete
    package var timing = Timing()
    /// The number of the connection to the origin.
    package var connection: Int?
    /// Address and port of the origin.
    package var remote: String?
    package var tls: String?
    /// The value of grpc-status, whatever the content type.
    package var grpcStatus: Int?
    /// The number of recorded messages of a WebSocket.
    package var messages: Int?
    package var isWebSocket = false
    package var hasHost = false
    /// Whether the Host field differs from the URL's authority, or a Content-Type is repeated. The row then has too little information for
    /// a filter.
    package var isUnusual = false
    /// Whether the text contains a placeholder for a secret.
    package var hasPlaceholder = false
    /// The names of the traffic rules that changed the exchange.
    package var rules: [String] = []

    package init() {}
}

/// How an exchange ended, without the words.
package enum RowOutcome: Sendable, Hashable {
    case complete
    case cut(Cut.Party)
    case failed(Failure.Kind)
}

/// Skims one interaction for its row.
///
/// Does not decode bodies or validate what it skips; `InteractionDecoder` does.
package struct InteractionRowReader {
    private enum Section { case other, request, response, outcome, timing, connection, tunnel, webSocket, modified }

    private enum Member {
        case other, headers, trailers, body, tls, rules
    }

    private enum Wanted {
        case nothing, id, started, method, url, requestVersion, responseVersion, status, size, cut, failed, phase(Int), remote, tls, count
        case received, connection
    }

    private let bytes: UnsafeRawBufferPointer
    private var row = InteractionRow()
    private var hasID = false
    private var hasStart = false
    private var section = Section.other
    private var member = Member.other
    private var wanted = Wanted.nothing
    private var isUpgraded = false
    private var host: ArraySlice<UInt8>?

    /// Nil if a required member is missing, or the text is not JSON.
    package static func read(_ bytes: UnsafeRawBufferPointer) -> InteractionRow? {
        var reader = InteractionRowReader(bytes: bytes)
        return reader.run() ? reader.row : nil
    }

    private init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    private mutating func run() -> Bool {
        var tokenizer = JSONTokenizer(self.bytes)
        guard tokenizer.next()?.kind == .beginObject else { return false }
        while let token = tokenizer.next() {
            switch token.kind {
            case .name:
                self.wanted = .nothing
                switch tokenizer.depth {
                case 1: self.outer(token)
                case 2: self.inner(token)
                case 3: self.third(token)
                default: break
                }
            case .colon, .comma: break
            case .number: self.number(token)
            case .string: self.string(token, depth: tokenizer.depth)
            case .end: return self.finish()
            case .beginObject:
                // This is an array of messages; those in a file have a member with their count.
                if self.section == .webSocket, tokenizer.depth == 3 { self.row.messages = (self.row.messages ?? 0) + 1 }
            case .endObject, .beginArray, .endArray, .yes, .no, .null: break
            }
        }
        return false
    }

    private mutating func finish() -> Bool {
        guard self.hasID, self.hasStart, !self.row.method.isEmpty, !self.row.url.isEmpty else { return false }
        if self.isUpgraded, self.row.status == 101 { self.row.isWebSocket = true }
        if let host = self.host {
            let url = Array(self.row.url.utf8)
            let start = url.firstIndex(of: UInt8(ascii: ":")).map { $0 + 3 } ?? 0
            let isSame =
                start <= url.count && url[start...].starts(with: host)
                && (start + host.count == url.count || [47, 63, 35].contains(url[start + host.count]))
            if !isSame { self.row.isUnusual = true }
        }
        return true
    }

    // MARK: Names

    private mutating func outer(_ token: JSONToken) {
        self.section = .other
        self.member = .other
        switch token.end - token.start - 2 {
        case 2 where self.matches(token, "id"): self.wanted = .id
        case 6 where self.matches(token, "timing"): self.section = .timing
        case 6 where self.matches(token, "tunnel"): self.section = .tunnel
        case 7 where self.matches(token, "started"): self.wanted = .started
        case 7 where self.matches(token, "request"): self.section = .request
        case 7 where self.matches(token, "outcome"): self.section = .outcome
        case 8 where self.matches(token, "response"): self.section = .response
        case 8 where self.matches(token, "modified"): self.section = .modified
        case 9 where self.matches(token, "webSocket"):
            self.section = .webSocket
            self.row.isWebSocket = true
        case 10 where self.matches(token, "connection"): self.section = .connection
        default: break
        }
    }

    private mutating func inner(_ token: JSONToken) {
        self.member = .other
        switch self.section {
        case .request, .response:
            let isRequest = self.section == .request
            if self.matches(token, "headers") {
                self.member = .headers
            } else if self.matches(token, "body") {
                self.member = .body
            } else if self.matches(token, "trailers") {
                self.member = .trailers
            } else if self.matches(token, "version") {
                self.wanted = isRequest ? .requestVersion : .responseVersion
            } else if isRequest, self.matches(token, "method") {
                self.wanted = .method
            } else if isRequest, self.matches(token, "url") {
                self.wanted = .url
            } else if !isRequest, self.matches(token, "status") {
                self.wanted = .status
            }
        case .outcome:
            if self.matches(token, "cut") { self.wanted = .cut }
            if self.matches(token, "failed") { self.wanted = .failed }
        case .timing:
            for (index, name) in Self.phases.enumerated() where self.matches(token, name) { self.wanted = .phase(index) }
        case .connection:
            if self.matches(token, "id") { self.wanted = .connection }
            if self.matches(token, "remote") { self.wanted = .remote }
            if self.matches(token, "tls") { self.member = .tls }
        case .tunnel: if self.matches(token, "received") { self.wanted = .received }
        case .webSocket: if self.matches(token, "count") { self.wanted = .count }
        case .modified: if self.matches(token, "rules") { self.member = .rules }
        case .other: break
        }
    }

    private static let phases: [StaticString] = ["blocked", "dns", "connect", "tls", "send", "wait", "receive", "total"]

    private mutating func third(_ token: JSONToken) {
        if self.member == .body, self.matches(token, "size") { self.wanted = .size }
        if self.member == .tls, self.matches(token, "version") { self.wanted = .tls }
    }

    @inline(__always)
    private func matches(_ token: JSONToken, _ name: StaticString) -> Bool {
        let length = name.utf8CodeUnitCount
        guard token.end - token.start == length + 2 else { return false }
        for index in 0..<length where self.bytes[token.start + 1 + index] != name.utf8Start[index] { return false }
        return true
    }

    // MARK: Values

    private mutating func number(_ token: JSONToken) {
        defer { self.wanted = .nothing }
        switch self.wanted {
        case .nothing: return
        case .id:
            guard let id = self.int(token) else { return }
            self.row.id = id
            self.hasID = true
        case .status: self.row.status = self.int(token)
        case .size:
            if self.section == .request { self.row.requestSize = self.int(token) } else { self.row.responseSize = self.int(token) }
        case .received: self.row.tunnelSize = self.int(token)
        case .connection: self.row.connection = self.int(token)
        case .count: self.row.messages = self.int(token)
        case .phase(let index):
            guard let value = JSONNumber.double(Array(self.bytes[token.start..<token.end])[...]) else { return }
            switch index {
            case 0: self.row.timing.blocked = value
            case 1: self.row.timing.dns = value
            case 2: self.row.timing.connect = value
            case 3: self.row.timing.tls = value
            case 4: self.row.timing.send = value
            case 5: self.row.timing.wait = value
            case 6: self.row.timing.receive = value
            default: self.row.timing.total = value
            }
        case .started, .method, .url, .requestVersion, .responseVersion, .cut, .failed, .remote, .tls: return
        }
    }

    private mutating func string(_ token: JSONToken, depth: Int) {
        defer { self.wanted = .nothing }
        if !self.row.hasPlaceholder { self.row.hasPlaceholder = self.holdsPlaceholder(token) }
        switch self.wanted {
        case .nothing:
            guard depth == 3 else { return }
            if self.member == .headers || self.member == .trailers { self.field(token) }
            if self.member == .rules, let name = self.text(token) { self.row.rules.append(name) }
        case .started:
            guard let started = Timestamp.parse(UnsafeRawBufferPointer(rebasing: self.bytes[token.start + 1..<token.end - 1])) else {
                return
            }
            self.row.started = started
            self.hasStart = true
        case .method: self.row.method = self.text(token) ?? ""
        case .url: self.row.url = self.text(token) ?? ""
        case .requestVersion: self.row.requestVersion = self.version(token) ?? .http11
        case .responseVersion: self.row.responseVersion = self.version(token) ?? .http11
        case .cut: self.row.outcome = self.text(token).flatMap(Cut.Party.init(rawValue:)).map { .cut($0) } ?? .complete
        case .failed: self.row.outcome = self.text(token).flatMap(Failure.Kind.init(rawValue:)).map { .failed($0) } ?? .complete
        case .remote: self.row.remote = self.text(token)
        case .tls: self.row.tls = self.text(token)
        case .id, .status, .size, .phase, .count, .received, .connection: return
        }
    }

    /// Handles a field line of one of the messages.
    private mutating func field(_ token: JSONToken) {
        let line = self.bytes[token.start + 1..<token.end - 1]
        switch line.first.map({ $0 | 0x20 }) {
        case UInt8(ascii: "c"):
            guard let value = self.value(line, "content-type", isEscaped: token.isEscaped) else { return }
            let type = String(decoding: value, as: UTF8.self)
            if self.section == .request {
                if self.row.requestType != nil { self.row.isUnusual = true }
                self.row.requestType = self.row.requestType ?? type
            } else {
                if self.row.responseType != nil { self.row.isUnusual = true }
                self.row.responseType = self.row.responseType ?? type
            }
        case UInt8(ascii: "h") where self.section == .request:
            guard let value = self.value(line, "host", isEscaped: token.isEscaped) else { return }
            if self.host != nil { self.row.isUnusual = true }
            self.row.hasHost = true
            self.host = value
        case UInt8(ascii: "g") where self.section == .response:
            guard let value = self.value(line, "grpc-status", isEscaped: token.isEscaped) else { return }
            self.row.grpcStatus = JSONNumber.int(value) ?? self.row.grpcStatus
        case UInt8(ascii: "u") where self.section == .response:
            guard let value = self.value(line, "upgrade", isEscaped: token.isEscaped) else { return }
            if String(decoding: value, as: UTF8.self).lowercased() == "websocket" { self.isUpgraded = true }
        default: return
        }
    }

    /// The value of a field line with this name, without surrounding white space.
    private func value(_ line: Slice<UnsafeRawBufferPointer>, _ name: StaticString, isEscaped: Bool) -> ArraySlice<UInt8>? {
        let length = name.utf8CodeUnitCount
        guard line.count > length, line[line.startIndex + length] == UInt8(ascii: ":") else { return nil }
        for index in 0..<length where line[line.startIndex + index] | 0x20 != name.utf8Start[index] | 0x20 { return nil }
        var value = Array(line.dropFirst(length + 1))[...]
        if isEscaped { value = JSONStringDecoder.decode(value).map { $0[...] } ?? value }
        while let first = value.first, first == 32 || first == 9 { value.removeFirst() }
        while let last = value.last, last == 32 || last == 9 { value.removeLast() }
        return value
    }

    private func version(_ token: JSONToken) -> HTTPVersion? {
        guard token.end - token.start == 10 else { return nil }
        let (major, minor) = (self.bytes[token.start + 6], self.bytes[token.start + 8])
        guard (48...57).contains(major), (48...57).contains(minor) else { return nil }
        return HTTPVersion(major: Int(major) - 48, minor: Int(minor) - 48)
    }

    /// `{{name:1}}`
    private func holdsPlaceholder(_ token: JSONToken) -> Bool {
        guard token.end - token.start >= 6 else { return false }
        return ByteSearch.contains("{{", in: UnsafeRawBufferPointer(rebasing: self.bytes[token.start + 1..<token.end - 1]))
    }

    private func int(_ token: JSONToken) -> Int? { JSONNumber.int(Array(self.bytes[token.start..<token.end])[...]) }

    private func text(_ token: JSONToken) -> String? {
        let inner = UnsafeRawBufferPointer(rebasing: self.bytes[token.start + 1..<token.end - 1])
        guard token.isEscaped else { return String(decoding: inner, as: UTF8.self) }
        return JSONStringDecoder.decode(Array(inner)[...]).map { String(decoding: $0, as: UTF8.self) }
    }
}
