internal import CNghttp2
public import CassetteModel
public import TapeExchange

/// A header section as received: pseudo-fields by name, and the other fields in order.
///
/// nghttp2 has checked names, values and the order of pseudo-fields (RFC 9113, 8.2.1 and 8.3). A class, so that an event costs one
/// reference. It does not change once it has been returned.
public final class HTTP2FieldSection {
    /// Kept in one struct, so that adding a field takes one access.
    private var content = Content()

    public var method: String? { self.content.method }
    public var scheme: String? { self.content.scheme }
    public var authority: String? { self.content.authority }
    public var path: String? { self.content.path }
    /// The path as received, if it has non-ASCII bytes.
    var rawPath: [UInt8]? { self.content.rawPath }
    public var status: Int? { self.content.status }
    /// The protocol of an extended CONNECT (RFC 8441, 4).
    public var connectProtocol: String? { self.content.connectProtocol }
    public var fields: HeaderFields { self.content.fields }
    /// Decoded bytes plus 32 for each field (RFC 9113, 6.5.2). All cookies count as one field.
    public var size: Int { self.content.size }
    /// Beyond the limits, so that fields are missing.
    public var isTooLarge: Bool { self.content.isTooLarge }
    /// Why the section is malformed; nil if it is not.
    public var problem: String? { self.content.problem }
    /// The fields that no header table may hold, by name.
    public var neverIndexed: NeverIndexed { self.content.neverIndexed }

    init() {}

    /// - Returns: the size including this field.
    func append(
        _ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, settings: HTTP2Connection.Settings, neverIndexed: Bool
    ) -> Int {
        self.content.append(name, value, settings: settings, neverIndexed: neverIndexed)
    }

    /// The section is complete.
    func end() { self.content.end() }

    func refuse(_ name: UnsafeBufferPointer<UInt8>) {
        self.content.problem = "the field \"\(String(decoding: name.prefix(100), as: UTF8.self))\" has an invalid name or value"
    }

    private struct Content {
        var method: String?
        var scheme: String?
        var authority: String?
        var path: String?
        var rawPath: [UInt8]?
        var status: Int?
        var connectProtocol: String?
        var fields = HeaderFields()
        var size = 0
        var isTooLarge = false
        var problem: String?
        var neverIndexed = NeverIndexed()
        /// Cookie fields so far (RFC 9113, 8.2.3).
        var crumbs = 0
        /// The values of the crumbs beyond `Settings.separateCrumbs`, which become one field.
        var joinedCrumbs: [UInt8] = []
        static let separator = Array("; ".utf8)

        mutating func append(
            _ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, settings: HTTP2Connection.Settings, neverIndexed: Bool
        ) -> Int {
            let isCrumb = name.count == 6 && name.elementsEqual("cookie".utf8)
            if isCrumb { self.crumbs += 1 }
            // Crumbs after the first count as one field, as which they may be joined (RFC 9113, 8.2.3).
            self.size += isCrumb && self.crumbs > 1 ? value.count + Self.separator.count : name.count + value.count + 32
            guard self.size <= settings.headerSection else {
                self.isTooLarge = true
                return self.size
            }
            guard name.first != UInt8(ascii: ":") else {
                self.set(name, to: String(decoding: value, as: UTF8.self))
                if value.contains(where: { $0 >= 0x80 }), name.elementsEqual(":path".utf8) { self.rawPath = Array(value) }
                return self.size
            }
            if neverIndexed { self.neverIndexed.insert(name) }
            if self.fields.isEmpty { self.fields.reserve(bytes: 512, fields: 12) }
            if isCrumb, self.crumbs > settings.separateCrumbs {
                if !self.joinedCrumbs.isEmpty { self.joinedCrumbs += Self.separator }
                self.joinedCrumbs += value
            } else {
                self.fields.append(checkedName: name, value: value)
            }
            return self.size
        }

        /// Adds the crumbs that were joined.
        mutating func end() {
            guard !self.joinedCrumbs.isEmpty else { return }
            let name = Array("cookie".utf8)
            name.withUnsafeBufferPointer { name in
                self.joinedCrumbs.withUnsafeBufferPointer { self.fields.append(checkedName: name, value: $0) }
            }
            self.joinedCrumbs = []
        }

        private mutating func set(_ name: UnsafeBufferPointer<UInt8>, to value: String) {
            switch String(decoding: name, as: UTF8.self) {
            case ":method": self.method = value
            case ":scheme": self.scheme = value
            case ":authority": self.authority = value
            case ":path": self.path = value
            case ":status": self.status = Int(value)
            case ":protocol": self.connectProtocol = value
            case let name: self.problem = "the pseudo-field \"\(name)\" is not known here"
            }
        }
    }
}

extension HTTP2FieldSection: Hashable, CustomStringConvertible {
    public static func == (a: HTTP2FieldSection, b: HTTP2FieldSection) -> Bool { a.description == b.description }

    public func hash(into hasher: inout Hasher) { hasher.combine(self.description) }

    /// All contents, for tests.
    public var description: String {
        let own = [self.method, self.scheme, self.authority, self.path, self.status.map { "\($0)" }, self.problem].map { $0 ?? "-" }
        return "\(own) \(self.fields.lines) \(self.size)\(self.isTooLarge ? " too large" : "") \(self.neverIndexed)"
    }
}

extension RequestHead {
    /// The head of a request, including its HTTP/2 pseudo-fields.
    ///
    /// - Throws: if it is malformed (RFC 9113, 8.1.1) or too large (431).
    public init(_ section: HTTP2FieldSection) throws(MessageError) {
        guard !section.isTooLarge else {
            throw MessageError(
                .tooLong, status: 431, "request has a header section of more than 128 KiB, counting 32 bytes for each field; send less")
        }
        if let problem = section.problem { throw MessageError(.field, status: 400, problem) }
        // An origin of HTTP/1 gets up to three more lines, for the host, the body's framing and the hop, and one for all cookies.
        let limit = Limits().fields - 3
        guard section.fields.count <= limit || section.fields.count - max(0, section.fields.values("cookie").count - 1) <= limit else {
            throw MessageError(.tooManyFields, status: 431, "request has more than \(limit) fields; send fewer")
        }
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
        self.take(target: section.rawPath ?? [])
        self.authority = authority
        if let connectProtocol = section.connectProtocol {
            guard method == "CONNECT", connectProtocol == "websocket" else {
                throw MessageError(
                    .startLine, status: 501,
                    "request asks for the protocol \"\(connectProtocol)\"; only \"websocket\" is supported")
            }
            self.method = "GET"
            self.connectProtocol = connectProtocol
        }
        self.neverIndexed = section.neverIndexed
    }
}

extension ResponseHead {
    /// The head of a response.
    ///
    /// - Throws: if it is malformed (RFC 9113, 8.1.1) or too large.
    public init(_ section: HTTP2FieldSection) throws(MessageError) {
        guard !section.isTooLarge else {
            throw MessageError(
                .tooLong, status: 502, "response has a header section of more than 128 KiB, counting 32 bytes for each field")
        }
        if let problem = section.problem { throw MessageError(.field, status: 502, problem) }
        guard let status = section.status, (100...999).contains(status), status != 101 else {
            throw MessageError(.startLine, status: 502, "response has no valid :status")
        }
        self.init(version: .http2, status: status, reason: [], fields: section.fields)
        self.neverIndexed = section.neverIndexed
    }
}

/// A header section to send.
public struct HTTP2Fields: Sendable {
    private enum PseudoFields: Sendable {
        case none
        case status(Int)
        case request(method: String, scheme: String, authority: String, path: String, rawPath: [UInt8]?)
    }

    private let pseudoFields: PseudoFields
    private let fields: HeaderFields
    private let neverIndexed: NeverIndexed

    /// A request for an origin.
    public init(_ head: RequestHead, target: RequestTarget, origin: Origin) {
        let (authority, path) = head.multiplexedTarget(target, of: origin)
        self.pseudoFields = .request(
            method: head.method, scheme: origin.scheme.rawValue, authority: authority, path: path,
            rawPath: head.rawTarget == nil ? nil : head.wire(path))
        self.fields = Self.translated(head.fields, head.version, dropsHost: true)
        self.neverIndexed = head.neverIndexed
    }

    public init(_ head: ResponseHead) {
        self.pseudoFields = .status(head.status)
        self.fields = Self.translated(head.fields, head.version, dropsHost: false)
        self.neverIndexed = head.neverIndexed
    }

    public init(trailers: HeaderFields, neverIndexed: NeverIndexed = NeverIndexed()) {
        self.pseudoFields = .none
        self.fields = HopByHop.multiplexed(trailers, dropsHost: true)
        self.neverIndexed = neverIndexed
    }

    /// Fields for HTTP/2: without connection-specific fields, and with lower-case names. nghttp2 refuses any others.
    private static func translated(_ fields: HeaderFields, _ version: HTTPVersion, dropsHost: Bool) -> HeaderFields {
        version.major >= 2 && !(dropsHost && fields.contains("host")) ? fields : HopByHop.multiplexed(fields, dropsHost: dropsHost)
    }

    /// The size of the fields in bytes, approximately as in HTTP/1.
    public var size: Int { self.fields.size }

    /// Names and values in nghttp2's form. nghttp2 copies them, and changes nothing although its pointers are to mutable bytes.
    func withPairs<Result>(_ body: (UnsafePointer<nghttp2_nv>?, Int) -> Result) -> Result {
        // Room for the values of pseudo-fields, on the stack if they are short.
        let (room, count) =
            switch self.pseudoFields {
            case .none: (0, 0)
            case .status(let status): (String(status).utf8.count, 1)
            case .request(let method, let scheme, let authority, let path, _):
                // A raw path is never longer than the encoded path.
                (method.utf8.count + scheme.utf8.count + authority.utf8.count + path.utf8.count, 4)
            }
        return withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: count + self.fields.count) { pairs in
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: room) { text in
                var writer = PseudoFieldWriter(pairs: pairs, text: text)
                switch self.pseudoFields {
                case .none: break
                case .status(let status): writer.append(":status", String(status).utf8)
                case .request(let method, let scheme, let authority, let path, let rawPath):
                    writer.append(":method", method.utf8)
                    writer.append(":scheme", scheme.utf8)
                    writer.append(":authority", authority.utf8)
                    if let rawPath { writer.append(":path", rawPath) } else { writer.append(":path", path.utf8) }
                }
                return self.fields.bytes.withUnsafeBufferPointer { bytes in
                    for index in 0..<self.fields.count {
                        let name = UnsafeBufferPointer(rebasing: bytes[self.fields.nameRange(at: index)])
                        let value = UnsafeBufferPointer(rebasing: bytes[self.fields.valueRange(at: index)])
                        let flags = self.neverIndexed.contains(name) ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE
                        pairs.initializeElement(at: count + index, to: nghttp2_nv(name, value, flags))
                    }
                    return body(pairs.baseAddress, pairs.count)
                }
            }
        }
    }
}

private struct PseudoFieldWriter {
    let pairs: UnsafeMutableBufferPointer<nghttp2_nv>
    let text: UnsafeMutableBufferPointer<UInt8>
    private var count = 0
    private var end = 0

    init(pairs: UnsafeMutableBufferPointer<nghttp2_nv>, text: UnsafeMutableBufferPointer<UInt8>) {
        self.pairs = pairs
        self.text = text
    }

    mutating func append(_ name: StaticString, _ value: some Collection<UInt8>) {
        let room = UnsafeMutableBufferPointer(rebasing: self.text[self.end...])
        let length = room.initialize(fromContentsOf: value)
        self.pairs.initializeElement(
            at: self.count,
            to: nghttp2_nv(
                UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount), UnsafeBufferPointer(rebasing: room[..<length]),
                NGHTTP2_NV_FLAG_NONE))
        self.count += 1
        self.end += length
    }
}

extension nghttp2_nv {
    fileprivate init(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, _ flags: nghttp2_nv_flag) {
        self.init(
            name: UnsafeMutablePointer(mutating: name.baseAddress), value: UnsafeMutablePointer(mutating: value.baseAddress),
            namelen: name.count, valuelen: value.count, flags: UInt8(flags.rawValue))
    }
}
