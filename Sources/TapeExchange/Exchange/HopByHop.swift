public import CassetteModel

/// Builds the heads to forward. Fields keep their bytes and order, except for those that concern a single connection (RFC 9110, 7.6.1).
///
/// Never changes framing, except for dropping lengths that must not be forwarded. Adds no Via, because a recorder stays invisible.
public enum HopByHop {
    /// Whether the client asks to switch to a protocol that the proxy forwards.
    ///
    /// `h2c` is not forwarded, because requests after its 101 would pass unseen. The client continues in HTTP/1.1 (RFC 9110, 7.8).
    public static func asksUpgrade(_ head: RequestHead) -> Bool {
        guard head.version >= .http11, let first = head.fields.firstIndex(of: "upgrade"), ConnectionOptions(head.fields).upgrade else {
            return false
        }
        var asks = false
        for index in first..<head.fields.count where head.fields.isNamed("upgrade", at: index) {
            for protocolName in FieldList(head.fields.valueBytes(at: index)) {
                if FieldList.equals(protocolName, "h2c") { return false }
                asks = true
            }
        }
        return asks
    }

    /// Whether a body must lose its chunk framing, because the recipient does not support it (RFC 9112, 6.1).
    ///
    /// The body then ends with the connection.
    public static func needsDechunking(_ framing: BodyFraming, clientVersion: HTTPVersion) -> Bool {
        framing == .chunked && clientVersion < .http11
    }

    /// Whether a client of this version may be sent 1xx responses (RFC 9110, 15.2).
    public static func passesInterim(to clientVersion: HTTPVersion) -> Bool { clientVersion >= .http11 }

    /// The head of a request as sent to its origin.
    ///
    /// - Parameter hop: the proxy that the request is sent to instead; nil for the origin itself.
    public static func forwardedRequest(_ head: RequestHead, target: RequestTarget, through hop: ProxyHop? = nil) -> [UInt8] {
        let fields = head.fields
        let options = ConnectionOptions(fields)
        let upgrades = self.asksUpgrade(head)
        let takesTrailers = head.version >= .http11 && self.takesTrailers(fields)
        var connection = upgrades ? "Upgrade" : ""
        if takesTrailers { connection += connection.isEmpty ? "TE" : ", TE" }

        var out: [UInt8] = []
        out.reserveCapacity(fields.size + head.target.utf8.count + head.method.utf8.count + 64)
        out += head.method.utf8
        out.append(ASCII.space)
        var origin: Origin?
        if let hop { out += "\(hop.origin.scheme.rawValue)://\(hop.origin.authority)".utf8 }
        switch target {
        case .absolute(let named, let originForm):
            origin = named
            // RFC 9112, 3.2.4: the last proxy turns the target of such an OPTIONS request into the asterisk.
            if hop == nil || originForm != "*" { self.append(originForm, of: head, to: &out) }
        case .origin(let text): self.append(text, of: head, to: &out)
        case .authority: out += head.target.utf8
        case .asterisk: if hop == nil { out.append(UInt8(ascii: "*")) }
        }
        // An HTTP/1.0 client gets what the origin sends to HTTP/1.0, since nothing here rewrites bodies. Other versions become HTTP/1.1.
        out += (head.version < .http11 ? " HTTP/1.0\r\n" : " HTTP/1.1\r\n").utf8
        if let origin, !fields.contains("host") { self.append("Host: ", origin.authority, to: &out) }
        if let hop { self.append("\(ProxyHop.fieldName): ", String(hop.number), to: &out) }
        if let authorization = hop?.authorization { self.append("Proxy-Authorization: ", authorization, to: &out) }

        var hasLength = false
        var lines = LineRun(fields)
        for index in 0..<fields.count {
            switch lines.kind(at: index) {
            case .hopByHop: continue
            case .connection:
                lines.end(&out)
                self.appendConnection(connection, insteadOf: index, of: fields, to: &out)
                connection = ""
                continue
            case .upgrade where !upgrades: continue
            case .te:
                if takesTrailers, index == fields.firstIndex(of: "te") {
                    // Other transfer codings would apply to this hop, which decodes only chunked.
                    if FieldList.equals(fields.valueBytes(at: index), "trailers") { break }
                    lines.end(&out)
                    self.append("TE: ", "trailers", to: &out)
                }
                continue
            case .host:
                // RFC 9112, 3.2.2: the target's authority replaces Host. A Host that names the same origin keeps its spelling.
                guard let origin else { break }
                if let authority = Authority(fields.valueBytes(at: index)), Origin(scheme: origin.scheme, authority: authority) == origin {
                    break
                }
                lines.end(&out)
                out += fields.nameBytes(at: index)
                self.append(": ", origin.authority, to: &out)
                continue
            case .contentLength:
                // RFC 9110, 8.6: equal lines are merged before forwarding.
                if hasLength { continue }
                hasLength = true
            case .endToEnd:
                if options.nominates(fields.nameBytes(at: index)) { continue }
            case .upgrade, .transferEncoding, .trailer, .contentEncoding: break
            }
            lines.add(index, &out)
        }
        lines.end(&out)
        // The request had TE without Connection, contrary to RFC 9110, 10.1.4.
        if !connection.isEmpty { self.append("Connection: ", connection, to: &out) }
        out += "\r\n".utf8
        return out
    }

    private static func append(_ originForm: String, of head: RequestHead, to out: inout [UInt8]) {
        if head.rawTarget == nil { out += originForm.utf8 } else { out += head.wire(originForm) }
    }

    /// The head of a response for the client, with the status line and connection options that the origin sent.
    ///
    /// Adds no connection option except `keep-alive` for an HTTP/1.0 client, which would otherwise expect a close. A connection may close
    /// unannounced (RFC 9112, 9.6), because the client can see where the answer ends.
    ///
    /// - Parameter keepsClient: the client's connection may serve another request after this response.
    public static func forwardedResponse(
        _ head: ResponseHead, keepsClient: Bool, clientVersion: HTTPVersion, removesChunking: Bool = false
    ) -> [UInt8] {
        let fields = head.fields
        let options = ConnectionOptions(fields)
        // RFC 9110, 15.5.22: 426 names the protocol as 101 does. With any other status, the origin offers it to the proxy.
        let upgrades = options.upgrade && (head.status == 101 || head.status == 426)
        var connection = upgrades ? "Upgrade" : ""
        if head.status >= 200 {
            var wish = ""
            if options.close {
                wish = "close"
            } else if keepsClient, clientVersion < .http11 || options.keepAlive {
                wish = "keep-alive"
            }
            connection += connection.isEmpty || wish.isEmpty ? wish : ", " + wish
        }

        var out: [UInt8] = []
        out.reserveCapacity(fields.size + head.reason.count + 64)
        out += head.version.description.utf8
        out.append(ASCII.space)
        out += String(head.status).utf8
        if !head.omitsReasonSpace { out.append(ASCII.space) }
        out += head.reason
        out += "\r\n".utf8

        var hasLength = false
        var lines = LineRun(fields)
        for index in 0..<fields.count {
            switch lines.kind(at: index) {
            case .hopByHop, .te: continue
            case .connection:
                lines.end(&out)
                self.appendConnection(connection, insteadOf: index, of: fields, to: &out)
                connection = ""
                continue
            case .upgrade:
                if !upgrades { continue }
            case .transferEncoding, .trailer:
                if removesChunking { continue }
            case .contentLength:
                if hasLength { continue }
                hasLength = true
            case .endToEnd:
                if options.nominates(fields.nameBytes(at: index)) { continue }
            case .host, .contentEncoding: break
            }
            lines.add(index, &out)
        }
        lines.end(&out)
        if !connection.isEmpty { self.append("Connection: ", connection, to: &out) }
        out += "\r\n".utf8
        return out
    }

    /// Whether a request asks for trailers (RFC 9110, 10.1.4).
    public static func takesTrailers(_ fields: HeaderFields) -> Bool {
        var next = 0
        while let index = fields.firstIndex(of: "te", from: next) {
            next = index + 1
            for coding in FieldList(fields.valueBytes(at: index)) where FieldList.equals(coding, "trailers") { return true }
        }
        return false
    }

    /// Writes the proxy's Connection options in place of a received field. The line is kept if it says the same.
    private static func appendConnection(_ options: String, insteadOf index: Int, of fields: HeaderFields, to out: inout [UInt8]) {
        guard !options.isEmpty else { return }
        let value = fields.valueBytes(at: index)
        if value.lazy.map(ASCII.lower).elementsEqual(options.utf8.lazy.map(ASCII.lower)) {
            self.append(line: index, of: fields, to: &out)
        } else {
            self.append("Connection: ", options, to: &out)
        }
    }

    private static func append(line index: Int, of fields: HeaderFields, to out: inout [UInt8]) {
        fields.withLine(at: index) { out.append(contentsOf: $0) }
    }

    private static func append(_ name: String, _ value: String, to out: inout [UInt8]) {
        out += name.utf8
        out += value.utf8
        out.append(ASCII.carriageReturn)
        out.append(ASCII.lineFeed)
    }
}

/// Forwards field lines unchanged, and consecutive lines in one piece.
private struct LineRun {
    private let fields: HeaderFields
    /// The range within the bytes of the fields that has not been forwarded yet.
    private var range = 0..<0

    init(_ fields: HeaderFields) { self.fields = fields }

    func kind(at index: Int) -> FieldKind {
        self.fields.withBytes { FieldKind.of(UnsafeRawBufferPointer(rebasing: $0[self.fields.nameRange(at: index)])) }
    }

    mutating func add(_ index: Int, _ out: inout [UInt8]) {
        let line = self.fields.lineRange(at: index)
        if line.lowerBound != self.range.upperBound {
            self.end(&out)
            self.range = line.lowerBound..<line.lowerBound
        }
        self.range = self.range.lowerBound..<line.upperBound + 2
    }

    mutating func end(_ out: inout [UInt8]) {
        guard !self.range.isEmpty else { return }
        self.fields.withBytes { out.append(contentsOf: $0[self.range]) }
        self.range = self.range.upperBound..<self.range.upperBound
    }
}
