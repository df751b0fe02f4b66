/// Where a session gets what the index of a cassette does not hold. May wait for the disk.
protocol RequestSource: Sendable {
    /// A recorded request by its number in order of request start, from 0.
    func comparedRequest(
        at index: Int, rules: MatchRules, detail: BodyFacets.RecordedDetail, digest: @escaping () -> any ContentDigest
    ) throws(CassetteError) -> ComparedRequest
}
