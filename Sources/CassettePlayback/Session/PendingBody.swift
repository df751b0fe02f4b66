internal import CassetteModel
internal import CassetteRedaction
internal import TapeBytes

/// The body of a pending request, as it comes in.
///
/// With redaction it is held in memory up to a limit, since a secret is found in the whole; a larger one is compared as it came.
public struct PendingBody: ~Copyable {
    /// Octets held for redaction: what is compared by its meaning is held as far, too.
    static let redactionLimit = BodyFacets.memoryLimit

    private var builder: BodyFacetBuilder
    private let headers: HeaderFields
    /// Nil once nothing is to be redacted any more.
    private var redaction: LiveRedactor?
    private var held: [UInt8] = []

    init(rules: MatchRules, headers: HeaderFields, url: String, redaction: LiveRedactor?, digest: @escaping () -> any ContentDigest) {
        self.builder = BodyFacetBuilder(rules: rules, headers: headers, url: url, digest: digest)
        self.headers = headers
        self.redaction = redaction
    }

    /// The next wire octets, behind transfer decoding.
    public mutating func push(_ octets: UnsafeRawBufferPointer) {
        guard self.redaction != nil else { return self.builder.push(octets) }
        self.held.append(contentsOf: octets)
        if self.held.count > Self.redactionLimit { self.letGo() }
    }

    private mutating func letGo() {
        self.redaction = nil
        self.held.withUnsafeBytes { self.builder.push($0) }
        self.held = []
    }

    /// The body has ended: what it is compared by.
    public consuming func finish() -> BodyFacets {
        if let redaction = self.redaction, !self.held.isEmpty {
            self.held = redaction.redacted(body: self.held, headers: self.headers) ?? self.held
        }
        self.letGo()
        return self.builder.finish()
    }
}
