internal import COpenSSL
public import TapeBytes

/// A certificate for one host, its key, and the certificates to send after it.
public final class Leaf: Sendable {
    public let names: LeafNames
    public let certificate: Certificate
    /// Seconds since 1970.
    public let notBefore: Int64
    /// Seconds since 1970.
    public let notAfter: Int64
    let key: PrivateKey
    let issuers: CertificateChain

    init(
        names: LeafNames, certificate: consuming Certificate, key: consuming PrivateKey, issuers: consuming CertificateChain
    ) {
        self.names = names
        self.notBefore = certificate.notBefore
        self.notAfter = certificate.notAfter
        self.certificate = certificate
        self.key = key
        self.issuers = issuers
    }

    /// Sends the leaf and the certificates between it and the root, but not the root, which clients that trust it already have (RFC 8446,
    /// 4.4.2).
    func use(in ssl: OpaquePointer) throws(TLSFailure) {
        ErrorQueue.clear()
        guard SSL_use_certificate(ssl, self.certificate.pointer) == 1, SSL_use_PrivateKey(ssl, self.key.pointer) == 1 else {
            throw .drained()
        }
        for issuer in self.issuers.pointers where X509_self_signed(issuer, 0) != 1 { _ = wiretape_ssl_add_chain_certificate(ssl, issuer) }
    }
}

/// The names of a leaf certificate: DNS names in lower case and IP addresses, each once, the most important first.
///
/// Drops anything that is not a name, and does not convert U-labels to A-labels.
public struct LeafNames: Hashable, Sendable {
    /// Keeps the certificate within a few TLS records. Clients and servers have limits of their own.
    public static let limit = 100
    /// 255 bytes on the wire are 253 characters (RFC 1035, 2.3.4).
    private static let nameLimit = 253
    private static let labelLimit = 63

    public private(set) var dnsNames: [String] = []
    /// 4 or 16 bytes each.
    public private(set) var addresses: [[UInt8]] = []

    /// - Parameters:
    ///   - host: the host that the client connects to. An IPv6 literal may be in brackets.
    ///   - serverName: the name in the client's hello.
    ///   - upstream: the names in the origin's certificate, including wildcards.
    public init(host: String, serverName: String? = nil, upstream: [String] = []) {
        var known: Set<String> = []
        self.add(host, known: &known)
        if let serverName { self.add(serverName, known: &known) }
        for name in upstream where self.count < Self.limit { self.add(name, mayBeWildcard: true, known: &known) }
    }

    public var count: Int { self.dnsNames.count + self.addresses.count }

    /// The first name, for the subject.
    var first: String? { self.dnsNames.first ?? self.addresses.first.flatMap { CertificateAddress($0)?.description } }

    /// The form that all spellings of a host share; nil if `text` is not a name.
    static func normalized(_ text: String, mayBeWildcard: Bool = false) -> String? {
        if let address = CertificateAddress(text) { return address.description }
        var name = text.utf8.map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 }
        // A dot at the end is the DNS root.
        if name.last == 0x2E { name.removeLast() }
        guard !name.isEmpty, name.count <= Self.nameLimit else { return nil }
        let labels = name.split(separator: 0x2E, omittingEmptySubsequences: false)
        for (index, label) in labels.enumerated() {
            // RFC 6125, 6.4.3: a wildcard must be the whole first label, and not the only label.
            if mayBeWildcard, index == 0, labels.count > 1, label.elementsEqual([0x2A]) { continue }
            guard !label.isEmpty, label.count <= Self.labelLimit, label.allSatisfy(Self.isLabelByte) else { return nil }
        }
        return String(decoding: name, as: UTF8.self)
    }

    private mutating func add(_ text: String, mayBeWildcard: Bool = false, known: inout Set<String>) {
        guard let name = Self.normalized(text, mayBeWildcard: mayBeWildcard), known.insert(name).inserted else { return }
        if let address = CertificateAddress(name) {
            self.addresses.append(address.bytes)
        } else {
            self.dnsNames.append(name)
        }
    }

    /// Letters, digits, hyphens, and underscores, which RFC 1123 does not allow but some host names have.
    private static func isLabelByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x61...0x7A, 0x30...0x39, 0x2D, 0x5F: true
        default: false
        }
    }
}

/// Issues leaf certificates with a single key of its own and keeps the most recently used ones. Not thread-safe: the caller locks.
public final class LeafStore {
    /// In seconds. A leaf that expires sooner is issued again.
    private static let remainder: Int64 = 86_400

    private struct Key: Hashable {
        let host: String
        let serverName: String?

        init(_ host: String, _ serverName: String?) {
            self.host = LeafNames.normalized(host) ?? host
            let name = serverName.flatMap { LeafNames.normalized($0) }
            self.serverName = name == self.host ? nil : name
        }
    }

    private struct Entry {
        let leaf: Leaf
        var use: UInt64
    }

    /// The authority that clients have to trust.
    public let authority: CertificateAuthority
    private let key: PrivateKey
    private let capacity: Int
    private var entries: [Key: Entry] = [:]
    private var uses: UInt64 = 0

    public init(authority: consuming CertificateAuthority, capacity: Int = 1024) throws(CertificateError) {
        self.key = try PrivateKey.makeP256()
        self.authority = authority
        self.capacity = max(1, capacity)
    }

    public var count: Int { self.entries.count }

    /// A kept leaf for the same host and server name that is valid for at least another day; nil if there is none.
    ///
    /// - Parameter now: seconds since 1970.
    public func leaf(host: String, serverName: String?, now: Int64) -> Leaf? {
        let key = Key(host, serverName)
        guard let entry = self.entries[key] else { return nil }
        guard entry.leaf.notBefore <= now, entry.leaf.notAfter - now > Self.remainder else {
            self.entries[key] = nil
            return nil
        }
        self.uses += 1
        self.entries[key]?.use = self.uses
        return entry.leaf
    }

    /// Issues and keeps a leaf, which replaces any other for the same host and server name.
    ///
    /// - Parameter now: seconds since 1970.
    public func mint(host: String, serverName: String?, upstreamNames: [String] = [], now: Int64) throws(CertificateError) -> Leaf {
        let names = LeafNames(host: host, serverName: serverName, upstream: upstreamNames)
        let leaf = Leaf(
            names: names, certificate: try self.authority.mint(names, key: self.key, now: now), key: self.key.shared(),
            issuers: self.authority.issuers()
        )
        let key = Key(host, serverName)
        // Scanning all entries takes a tenth of the time of issuing a leaf.
        if self.entries[key] == nil, self.entries.count >= self.capacity,
            let oldest = self.entries.min(by: { $0.value.use < $1.value.use })
        {
            self.entries[oldest.key] = nil
        }
        self.uses += 1
        self.entries[key] = Entry(leaf: leaf, use: self.uses)
        return leaf
    }
}
