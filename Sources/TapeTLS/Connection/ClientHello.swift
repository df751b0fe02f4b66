/// What a client's first message asks for (RFC 8446, 4.1.2).
public struct ClientHello: Sendable, Hashable {
    /// The host of the server_name extension (RFC 6066, 3), lower-case.
    public var serverName: String?
    /// Application protocols in the client's order (RFC 7301), `http/1.1` and `h2` among them; empty without the extension.
    public var protocols: [String]

    public init(serverName: String? = nil, protocols: [String] = []) {
        self.serverName = serverName
        self.protocols = protocols
    }

    /// Reads the bodies of both extensions; what does not follow their grammar counts as absent, since OpenSSL refuses such a hello
    /// anyway.
    init(serverNameExtension: UnsafeRawBufferPointer?, protocolsExtension: UnsafeRawBufferPointer?) {
        self.serverName = serverNameExtension.flatMap(Self.serverName)
        self.protocols = protocolsExtension.map(Self.protocols) ?? []
    }

    private static func serverName(_ bytes: UnsafeRawBufferPointer) -> String? {
        // A list of (type, name); one name of type 0 (host_name) is all there ever is.
        guard bytes.count > 5, bytes[2] == 0 else { return nil }
        let length = Int(bytes[3]) << 8 | Int(bytes[4])
        guard length > 0, length <= 255, bytes.count >= 5 + length else { return nil }
        let name = bytes[5..<(5 + length)]
        guard name.allSatisfy({ $0 > 32 && $0 < 127 }) else { return nil }
        return String(decoding: name, as: UTF8.self).lowercased()
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
