public import CassetteModel

// Translates heads between HTTP versions (RFC 9113, 8.2.2 and 8.3; RFC 9114 has the same rules).

extension HopByHop {
    /// Fields for a multiplexed protocol: names in lower case, without connection-specific fields.
    ///
    /// - Parameter dropsHost: the authority is sent as a pseudo-field instead.
    public static func multiplexed(_ fields: HeaderFields, dropsHost: Bool) -> HeaderFields {
        let options = ConnectionOptions(fields)
        var result = HeaderFields()
        result.reserve(bytes: fields.size, fields: fields.count)
        var line: [UInt8] = []
        var hasLength = false
        for index in 0..<fields.count {
            let name = fields.nameBytes(at: index)
            switch FieldKind.of(name) {
            case .hopByHop, .connection, .upgrade, .transferEncoding: continue
            case .host: if dropsHost { continue }
            case .te: guard self.hasTrailers(fields.valueBytes(at: index)) else { continue }
            case .contentLength:
                if hasLength { continue }
                hasLength = true
            case .endToEnd: if options.nominates(name) { continue }
            case .trailer, .contentEncoding: break
            }
            line.removeAll(keepingCapacity: true)
            line.append(contentsOf: name.lazy.map(ASCII.lower))
            line.append(UInt8(ascii: ":"))
            line.append(ASCII.space)
            if case .te = FieldKind.of(name) {
                line += "trailers".utf8
            } else {
                line += fields.valueBytes(at: index)
            }
            line.withUnsafeBytes { result.append(checkedLine: $0, nameLength: name.count) }
        }
        return result
    }

    private static func hasTrailers(_ value: ArraySlice<UInt8>) -> Bool {
        for coding in FieldList(value) where FieldList.equals(coding, "trailers") { return true }
        return false
    }
}

extension RequestHead {
    /// The authority and the path for the pseudo-fields of a request to an origin (RFC 9113, 8.3.1).
    public func multiplexedTarget(_ target: RequestTarget, of origin: Origin) -> (authority: String, path: String) {
        let authority = self.authority ?? self.fields.first("host") ?? origin.authority
        switch target {
        case .absolute(let named, let originForm):
            // RFC 9112, 3.2.2: the target's authority replaces Host. A Host that names the same origin keeps its spelling.
            let same = Authority(Array(authority.utf8)[...]).map { Origin(scheme: named.scheme, authority: $0) }
            return (same == named ? authority : named.authority, originForm)
        case .asterisk: return (authority, "*")
        case .origin(let path): return (authority, path)
        case .authority: return (authority, self.target)
        }
    }

    /// The head for an HTTP/1.1 origin: Host first, and cookies in one line (RFC 9113, 8.2.3). It gets chunked coding if the body's length
    /// is unknown, and a length of 0 if there is no body where one is usual (RFC 9110, 8.6).
    ///
    /// - Throws: if it would be a different request when read as HTTP/1.1.
    public func asHTTP1(_ framing: BodyFraming) throws(MessageError) -> RequestHead {
        guard self.version.major >= 2 else { return self }
        var fields = HeaderFields()
        fields.reserve(bytes: self.fields.size + 64, fields: self.fields.count + 2)
        if !self.fields.contains("host"), let authority { fields.append(name: "Host", value: authority) }
        var cookies: [UInt8] = []
        for index in 0..<self.fields.count {
            if self.fields.isNamed("cookie", at: index) {
                cookies += cookies.isEmpty ? Array("cookie: ".utf8) : Array("; ".utf8)
                cookies += self.fields.valueBytes(at: index)
            } else if self.connectProtocol != nil, self.fields.isNamed("sec-websocket-key", at: index) {
                // haproxy forwards its client's key, which nobody needs. A new one is generated below.
                continue
            } else {
                fields.append(line: self.fields.line(at: index))
            }
        }
        if !cookies.isEmpty { fields.append(line: cookies) }
        if self.connectProtocol != nil {
            // RFC 8441, 5: fields that an extended CONNECT does not have.
            var generator = SystemRandomNumberGenerator()
            fields.append(name: "Upgrade", value: "websocket")
            fields.append(name: "Connection", value: "Upgrade")
            fields.append(name: "Sec-WebSocket-Key", value: WebSocketHandshake.key(using: &generator))
        }
        if framing == .untilClose { fields.append(name: "Transfer-Encoding", value: "chunked") }
        if framing == .none, ["POST", "PUT", "PATCH"].contains(self.method), !fields.contains("content-length") {
            fields.append(name: "Content-Length", value: "0")
        }
        let head = RequestHead(method: self.method, target: self.target, version: .http11, fields: fields)
        try head.checkWritten()
        return head
    }

    /// Checks that this proxy's own parser reads the written head as one head with the same fields, so no value begins another line or
    /// request.
    private func checkWritten() throws(MessageError) {
        let bytes = Array("\(self.method) \(self.target) HTTP/1.1\r\n".utf8) + self.fields.bytes + [13, 10]
        var parser = HeadParser(limits: Limits())
        let parsed = try bytes.withUnsafeBufferPointer { bytes throws(MessageError) in
            try parser.parseRequest(UnsafeRawBufferPointer(bytes))
        }
        guard let parsed, parsed.consumed == bytes.count, parsed.head == self else {
            throw MessageError(.field, status: 400, "request cannot be sent to an HTTP/1.1 origin as it is; send no line breaks in fields")
        }
    }
}

extension ResponseHead {
    /// The head for an HTTP/1.1 client, and the body's framing there: chunked if its length is unknown, and a length of 0 if there is none.
    ///
    /// - Parameters:
    ///   - method: the request's method.
    ///   - knowsChunked: false for an HTTP/1.0 client, for which the end of the connection ends the body.
    public func asHTTP1(_ framing: BodyFraming, method: String, knowsChunked: Bool = true) -> (head: ResponseHead, framing: BodyFraming) {
        guard self.version.major >= 2 else { return (self, framing) }
        var head = ResponseHead(version: .http11, status: self.status, reason: self.reason, fields: self.fields)
        switch framing {
        case .untilClose where knowsChunked:
            head.fields.append(name: "Transfer-Encoding", value: "chunked")
            return (head, .chunked)
        case .none where method != "HEAD" && self.status >= 200 && self.status != 204 && self.status != 304:
            if !head.fields.contains("content-length") { head.fields.append(name: "Content-Length", value: "0") }
            return (head, .length(0))
        case .none, .length, .chunked, .untilClose: return (head, framing)
        }
    }
}
