/// What a leaf certificate is issued for: DNS names in lower case and IP addresses, each once, in the order of their importance.
///
/// What is no name is dropped; U-labels are not turned into A-labels here.
public struct LeafNames: Hashable, Sendable {
    /// Keeps the certificate within a few TLS records; clients and servers have limits of their own.
    public static let limit = 100
    /// 255 octets on the wire are 253 characters (RFC 1035, 2.3.4).
    private static let nameLimit = 253
    private static let labelLimit = 63

    public private(set) var dnsNames: [String] = []
    /// 4 or 16 octets each.
    public private(set) var addresses: [[UInt8]] = []

    /// - Parameters:
    ///   - host: where the client wants to go; an IPv6 literal may be in brackets.
    ///   - serverName: what the client asks for in its hello.
    ///   - upstream: what the origin's certificate holds, wildcards among it.
    public init(host: String, serverName: String? = nil, upstream: [String] = []) {
        var known: Set<String> = []
        self.add(host, known: &known)
        if let serverName { self.add(serverName, known: &known) }
        for name in upstream where self.count < Self.limit { self.add(name, mayBeWildcard: true, known: &known) }
    }

    public var count: Int { self.dnsNames.count + self.addresses.count }

    /// The first name, for the subject.
    var first: String? { self.dnsNames.first ?? self.addresses.first.flatMap { CertificateAddress($0)?.description } }

    /// The form that two spellings of the same host share; nil for what is no name.
    static func normalized(_ text: String, mayBeWildcard: Bool = false) -> String? {
        if let address = CertificateAddress(text) { return address.description }
        var name = text.utf8.map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 }
        // The root, spelt out.
        if name.last == 0x2E { name.removeLast() }
        guard !name.isEmpty, name.count <= Self.nameLimit else { return nil }
        let labels = name.split(separator: 0x2E, omittingEmptySubsequences: false)
        for (index, label) in labels.enumerated() {
            // RFC 6125, 6.4.3: a wildcard is the whole of the first label, with something after it.
            if mayBeWildcard, index == 0, labels.count > 1, label.elementsEqual([0x2A]) { continue }
            guard !label.isEmpty, label.count <= Self.labelLimit, label.allSatisfy(Self.isLabelOctet) else { return nil }
        }
        return String(decoding: name, as: UTF8.self)
    }

    private mutating func add(_ text: String, mayBeWildcard: Bool = false, known: inout Set<String>) {
        guard let name = Self.normalized(text, mayBeWildcard: mayBeWildcard), known.insert(name).inserted else { return }
        if let address = CertificateAddress(name) {
            self.addresses.append(address.octets)
        } else {
            self.dnsNames.append(name)
        }
    }

    /// Letters, digits, hyphen; and the underscore, which host names may not hold and some do.
    private static func isLabelOctet(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x61...0x7A, 0x30...0x39, 0x2D, 0x5F: true
        default: false
        }
    }
}
