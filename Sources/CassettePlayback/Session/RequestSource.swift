internal import CassetteModel
internal import CassetteRedaction
internal import TapeBytes

/// Where a session gets what the index of a cassette does not hold. May wait for the disk.
protocol RequestSource: Sendable {
    /// A recorded request by its number in order of request start, from 0.
    ///
    /// - Parameter redaction: takes out of its body what is taken out of live ones: it may have been recorded by other rules.
    func comparedRequest(
        at index: Int, rules: MatchRules, detail: BodyFacets.RecordedDetail, redaction: LiveRedactor?,
        digest: @escaping () -> any ContentDigest
    ) throws(CassetteError) -> ComparedRequest
}
