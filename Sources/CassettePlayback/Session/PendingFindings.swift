/// What the cassette says about one pending request, beyond the groups of equal bodies that all requests share.
struct PendingFindings: Sendable {
    /// Exchanges that answer it though their bodies do not have the same facets, or for which a custom rule was asked, ascending; nil
    /// before they were looked for.
    var others: [Int]?
    /// The nearest bodies among the recorded requests with an equal head; nil before they were looked for.
    var nearest: [NearBody]?
    /// The nearest requests where no recorded one has an equal head; nil before they were looked for.
    var heads: [NearHead]?
}
