package import CassetteModel

/// A recorded request, and what its body is compared by.
package struct ComparedRequest: Sendable {
    var method: String
    var url: String
    package var headers: HeaderFields
    package var facets: BodyFacets
    /// False where the request was cut before its end: what is there is no body to compare with.
    var isComplete: Bool

    var matched: MatchedRequest { MatchedRequest(method: self.method, url: self.url, headers: self.headers, body: self.facets) }
}
