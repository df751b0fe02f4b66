internal import CNghttp2
public import CassetteModel
public import TapeExchange

/// A header section as it came: pseudo-fields by name, the others in order.
///
/// nghttp2 has checked names, values and the order of pseudo-fields (RFC 9113, 8.2.1 and 8.3).
public struct HTTP2FieldSection: Sendable, Hashable {
    public private(set) var method: String?
    public private(set) var scheme: String?
    public private(set) var authority: String?
    public private(set) var path: String?
    public private(set) var status: Int?
    public private(set) var fields = HeaderFields()
    /// Decoded bytes with 32 for each field (RFC 9113, 6.5.2).
    public private(set) var size = 0
    /// Past the limits: fields are missing.
    public private(set) var isTooLarge = false
    /// What makes it malformed; nil if nothing does.
    public private(set) var problem: String?

    public init() {}

    mutating func append(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, settings: HTTP2Connection.Settings) {
        self.size += name.count + value.count + 32
        guard self.size <= settings.headerSection, self.fields.count < settings.fields else { return self.isTooLarge = true }
        guard name.first != UInt8(ascii: ":") else {
            return self.set(String(decoding: name, as: UTF8.self), to: String(decoding: value, as: UTF8.self))
        }
        if self.fields.isEmpty { self.fields.reserve(bytes: 512, fields: 12) }
        self.fields.append(checkedName: name, value: value)
    }

    private mutating func set(_ name: String, to value: String) {
        switch name {
        case ":method": self.method = value
        case ":scheme": self.scheme = value
        case ":authority": self.authority = value
        case ":path": self.path = value
        case ":status": self.status = Int(value)
        default: self.problem = "the pseudo-field \"\(name)\" is not known here"
        }
    }

    mutating func refuse(_ name: UnsafeBufferPointer<UInt8>) {
        self.problem = "the field \"\(String(decoding: name.prefix(100), as: UTF8.self))\" has an invalid name or value"
    }
}

extension RequestHead {
    /// The head of a request, with what HTTP/2 says of it in pseudo-fields.
    ///
    /// - Throws: it is malformed (RFC 9113, 8.1.1), or too large (431).
    public init(_ section: HTTP2FieldSection) throws(MessageError) {
        guard !section.isTooLarge else {
            throw MessageError(.tooLong, status: 431, "request has a header section of more than 64 KiB or 128 fields; send less")
        }
        if let problem = section.problem { throw MessageError(.field, status: 400, problem) }
        guard let method = section.method, let path = section.path, !path.isEmpty, section.scheme != nil else {
            throw MessageError(.startLine, status: 400, "request lacks :method, :scheme or :path; send them")
        }
        let host = section.fields.first("host")
        guard let authority = section.authority ?? host, !authority.isEmpty else {
            throw MessageError(.host, status: 400, "request has no :authority field; send one")
        }
        if let host, host.lowercased() != authority.lowercased() {
            throw MessageError(.host, status: 400, "request has the :authority \"\(authority)\" and another Host field; send one")
        }
        self.init(method: method, target: path, version: .http2, fields: section.fields)
        self.authority = authority
    }
}

extension ResponseHead {
    /// The head of a response.
    ///
    /// - Throws: it is malformed (RFC 9113, 8.1.1), or too large.
    public init(_ section: HTTP2FieldSection) throws(MessageError) {
        guard !section.isTooLarge else {
            throw MessageError(.tooLong, status: 502, "response has a header section of more than 64 KiB or 128 fields")
        }
        if let problem = section.problem { throw MessageError(.field, status: 502, problem) }
        guard let status = section.status, (100...999).contains(status), status != 101 else {
            throw MessageError(.startLine, status: 502, "response has no valid :status")
        }
        self.init(version: .http2, status: status, reason: [], fields: section.fields)
    }
}

/// A header section to send.
public struct HTTP2Fields: Sendable {
    private var bytes: [UInt8] = []
    /// Where names end and values end.
    private var ends: [(name: Int, value: Int)] = []

    /// A request for an origin.
    public init(_ head: RequestHead, target: RequestTarget, origin: Origin) {
        let (authority, path) = head.multiplexedTarget(target, of: origin)
        self.append(":method", head.method)
        self.append(":scheme", origin.scheme.rawValue)
        self.append(":authority", authority)
        self.append(":path", path)
        self.append(Self.translated(head.fields, head.version, dropsHost: true))
    }

    public init(_ head: ResponseHead) {
        self.append(":status", String(head.status))
        self.append(Self.translated(head.fields, head.version, dropsHost: false))
    }

    /// Fields of HTTP/2 have no connection's fields among them, and names in lower case: nghttp2 refuses others.
    private static func translated(_ fields: HeaderFields, _ version: HTTPVersion, dropsHost: Bool) -> HeaderFields {
        version.major >= 2 && !(dropsHost && fields.contains("host")) ? fields : HopByHop.multiplexed(fields, dropsHost: dropsHost)
    }

    public init(trailers: HeaderFields) { self.append(HopByHop.multiplexed(trailers, dropsHost: true)) }

    private mutating func append(_ name: StaticString, _ value: String) {
        name.withUTF8Buffer { self.bytes.append(contentsOf: $0) }
        let nameEnd = self.bytes.count
        self.bytes.append(contentsOf: value.utf8)
        self.ends.append((nameEnd, self.bytes.count))
    }

    private mutating func append(_ fields: HeaderFields) {
        self.bytes.reserveCapacity(self.bytes.count + fields.bytes.count)
        self.ends.reserveCapacity(self.ends.count + fields.count)
        for index in 0..<fields.count {
            self.bytes.append(contentsOf: fields.nameBytes(at: index))
            let nameEnd = self.bytes.count
            self.bytes.append(contentsOf: fields.valueBytes(at: index))
            self.ends.append((nameEnd, self.bytes.count))
        }
    }

    /// Bytes of names and values.
    public var size: Int { self.bytes.count }

    /// nghttp2 copies what it is given.
    func withPairs<Result>(_ body: (UnsafePointer<nghttp2_nv>?, Int) -> Result) -> Result {
        self.bytes.withUnsafeBufferPointer { bytes in
            // nghttp2 takes pointers to mutable bytes, and does not change them.
            let base = UnsafeMutablePointer(mutating: bytes.baseAddress)
            var start = 0
            let pairs = self.ends.map { end in
                defer { start = end.value }
                return nghttp2_nv(
                    name: base.map { $0 + start }, value: base.map { $0 + end.name }, namelen: end.name - start,
                    valuelen: end.value - end.name, flags: UInt8(NGHTTP2_NV_FLAG_NONE.rawValue))
            }
            return pairs.withUnsafeBufferPointer { body($0.baseAddress, $0.count) }
        }
    }
}
