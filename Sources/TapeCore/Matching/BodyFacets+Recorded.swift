extension BodyFacets {
    /// How much of what lies beside the cassette is read.
    public enum RecordedDetail: Sendable, Hashable {
        /// What it takes to compare: parts in files are not read, their digests are known.
        case digests
        /// The beginnings of all values too, to explain a difference, and marks in files.
        case contents
    }

    /// The facets of a recorded body, equal to those of a live request that sends the same. May read files beside the cassette.
    public init(
        recorded body: Body?, headers: HeaderFields, url: String, rules: MatchRules, reader: BodyReader,
        detail: RecordedDetail = .digests, digest: @escaping () -> any ContentDigest = { PortableSHA256() }
    ) throws(CassetteError) {
        self = .none
    }
}
