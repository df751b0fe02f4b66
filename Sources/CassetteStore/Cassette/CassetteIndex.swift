/// Where the parts of a cassette's document lie in the file.
struct CassetteIndex: Sendable {
    /// The only version of the format so far.
    static let version = 1

    var size = 0
    /// Behind the `[` of `interactions`; nil when the file is torn before it.
    var headEnd: Int?
    /// From `{` to behind `}` of each intact interaction, in the order of the file.
    var interactions: [Range<Int>] = []
    /// The `]` of `interactions`; nil when it is missing.
    var arrayEnd: Int?
    /// Behind the document's `}`; nil when it is missing.
    var documentEnd: Int?
    var damage: [CassetteDamage.Stretch] = []

    /// Behind the last interaction, or behind the `[`: where the next one is written.
    var insertion: Int? { self.interactions.last?.upperBound ?? self.headEnd }
}
