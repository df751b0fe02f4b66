/// The server name and protocols of a client's first message (RFC 8446, 4.1.2).
public struct ClientHello: Sendable, Hashable {
    /// The host of the server_name extension (RFC 6066, 3), lower-case.
    public var serverName: String?
    /// Application protocols such as `h2`, in the client's order (RFC 7301); empty without the extension.
    public var protocols: [String]
    /// The server_name extension contains something other than a host name (RFC 6066, 3).
    public var hasInvalidServerName = false

    public init(serverName: String? = nil, protocols: [String] = []) {
        self.serverName = serverName
        self.protocols = protocols
    }

    /// Parses the bodies of both extensions. A malformed one counts as absent, because OpenSSL refuses such a hello anyway.
    init(serverNameExtension: UnsafeRawBufferPointer?, protocolsExtension: UnsafeRawBufferPointer?) {
        self.serverName = serverNameExtension.flatMap(Self.serverName)
        self.protocols = protocolsExtension.map(Self.protocols) ?? []
        self.hasInvalidServerName = self.serverName == nil && serverNameExtension.map(Self.namesHost) == true
    }

    /// Reads a whole message from its records, without a connection; nil if it is none.
    public init?(records bytes: some Collection<UInt8>) {
        var (message, rest) = ([UInt8](), Array(bytes)[...])
        // Records of type handshake (22), each with a header of 5 bytes (RFC 8446, 5.1).
        while rest.first == 22, let header = Self.take(5, &rest), let piece = Self.take(Int(header[3]) << 8 | Int(header[4]), &rest) {
            message += piece
        }
        // Its type, three bytes of length, version and random, and three lists before the extensions (RFC 8446, 4.1.2).
        var hello = message[...]
        guard let fixed = Self.take(38, &hello), fixed[0] == 1, Self.takeList(1, &hello) != nil, Self.takeList(2, &hello) != nil,
            Self.takeList(1, &hello) != nil
        else { return nil }
        var extensions = Self.takeList(2, &hello)?[...] ?? []
        var bodies: [UInt16: [UInt8]] = [:]
        while let type = Self.take(2, &extensions), let body = Self.takeList(2, &extensions) {
            bodies[UInt16(type[0]) << 8 | UInt16(type[1])] = body
        }
        let (name, protocols) = (bodies[0] ?? [], bodies[16] ?? [])
        self = name.withUnsafeBytes { name in
            protocols.withUnsafeBytes { protocols in
                ClientHello(
                    serverNameExtension: bodies[0] == nil ? nil : name, protocolsExtension: bodies[16] == nil ? nil : protocols)
            }
        }
    }

    private static func take(_ count: Int, _ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    /// A list after its length in so many bytes.
    private static func takeList(_ size: Int, _ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard let length = self.take(size, &rest) else { return nil }
        return self.take(length.reduce(0) { $0 << 8 | Int($1) }, &rest)
    }

    private static func serverName(_ bytes: UnsafeRawBufferPointer) -> String? {
        // A list of (type, name). In practice it has one name, of type 0 (host_name).
        guard self.namesHost(bytes) else { return nil }
        let length = Int(bytes[3]) << 8 | Int(bytes[4])
        guard length > 0, length <= 255, bytes.count >= 5 + length else { return nil }
        let name = bytes[5..<(5 + length)]
        guard name.allSatisfy(self.mayBeInHost) else { return nil }
        let text = String(decoding: name, as: UTF8.self).lowercased()
        return CertificateAddress(text) != nil || self.isHostName(name) ? text : nil
    }

    private static func namesHost(_ bytes: UnsafeRawBufferPointer) -> Bool { bytes.count > 5 && bytes[2] == 0 }

    /// 255 bytes on the wire are 253 characters, not counting the dot of the root (RFC 1035, 2.3.4).
    private static let nameLimit = 253
    private static let labelLimit = 63

    /// Whether no label is too long, is empty, except that of the root, or begins or ends with a hyphen (RFC 1123, 2.1), and the name does
    /// not look like an address. URLs take such names for addresses in short or hexadecimal notation, or refuse them.
    private static func isHostName(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        let name = bytes.last == UInt8(ascii: ".") ? bytes.dropLast() : bytes
        let labels = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard name.count <= self.nameLimit, !name.contains(UInt8(ascii: ":")), let last = labels.last, !self.isNumber(last) else {
            return false
        }
        return labels.allSatisfy {
            !$0.isEmpty && $0.count <= self.labelLimit && $0.first != UInt8(ascii: "-") && $0.last != UInt8(ascii: "-")
        }
    }

    /// The WHATWG URL Standard, 3.5: a host that ends in a number is an IPv4 address or invalid.
    private static func isNumber(_ label: Slice<UnsafeRawBufferPointer>) -> Bool {
        func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
        if !label.isEmpty, label.allSatisfy(isDigit) { return true }
        guard label.count >= 2, label.first == UInt8(ascii: "0"), label.dropFirst().first.map({ $0 | 0x20 }) == UInt8(ascii: "x") else {
            return false
        }
        return label.dropFirst(2).allSatisfy { isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0 | 0x20) }
    }

    /// Letters, digits, dots and hyphens (RFC 5890, 2.3.1), the underscore, which many names have, and the colon of IPv6 addresses, which
    /// some clients send in place of a name.
    private static func mayBeInHost(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: ":"):
            true
        default: false
        }
    }

    private static func protocols(_ bytes: UnsafeRawBufferPointer) -> [String] {
        guard bytes.count > 2 else { return [] }
        var names: [String] = []
        var next = 2
        while next < bytes.count {
            let length = Int(bytes[next])
            guard length > 0, next + 1 + length <= bytes.count else { break }
            names.append(String(decoding: bytes[(next + 1)..<(next + 1 + length)], as: UTF8.self))
            next += 1 + length
        }
        return names
    }
}

/// Tells whether a client's first message is complete, before the connection allocates anything.
///
/// Reads only lengths. OpenSSL parses and checks the message.
public enum ClientHelloFrame {
    /// Hellos have about 500 bytes, or 2,000 with post-quantum keys. OpenSSL has its own limit for longer ones.
    private static let longest = 16_384

    /// - Parameter bytes: all bytes since the beginning of the connection.
    /// - Returns: whether the message is complete; also true if it is not a hello or is too long, so that more bytes would not change the
    ///   result.
    public static func isWhole(_ bytes: some RandomAccessCollection<UInt8>) -> Bool {
        var rest = bytes[...]
        var message = 0
        var wanted = 4
        // Records of type handshake (22), each with a header of 5 bytes (RFC 8446, 5.1). A message may span several records.
        while message < wanted {
            guard bytes.count < Self.longest else { return true }
            guard rest.count >= 5 else { return false }
            let header = Array(rest.prefix(5))
            let length = Int(header[3]) << 8 | Int(header[4])
            guard header[0] == 22, length > 0 else { return true }
            let content = rest.dropFirst(5).prefix(length)
            // The message's own header: its type and 24 bits of length (RFC 8446, 4).
            if message == 0, content.count >= 4 { wanted = 4 + content.dropFirst().prefix(3).reduce(0) { $0 << 8 | Int($1) } }
            guard content.count == length else { return false }
            message += length
            rest = rest.dropFirst(5 + length)
        }
        return true
    }
}
