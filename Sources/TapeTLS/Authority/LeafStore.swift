public import TapeBytes

/// Mints leaf certificates and keeps those used last, all with one key of its own. Not thread-safe: one lock around it.
public final class LeafStore {
    /// What ends sooner is minted again.
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

    /// What clients have to trust.
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

    /// A leaf minted before for the same host and server name, with a day left at least.
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

    /// Mints and keeps a leaf; one for the same host and server name gives way.
    ///
    /// - Parameter now: seconds since 1970.
    public func mint(host: String, serverName: String?, upstreamNames: [String] = [], now: Int64) throws(CertificateError) -> Leaf {
        let names = LeafNames(host: host, serverName: serverName, upstream: upstreamNames)
        let leaf = Leaf(
            names: names, certificate: try self.authority.mint(names, key: self.key, now: now), key: self.key.shared(),
            issuers: self.authority.issuers()
        )
        let key = Key(host, serverName)
        // A pass over all entries costs a tenth of the minting before it.
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
