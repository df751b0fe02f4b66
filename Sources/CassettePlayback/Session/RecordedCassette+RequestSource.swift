package import CassetteModel
package import CassetteRedaction
internal import CassetteStore
package import TapeBytes

extension RecordedCassette: RequestSource {
    package func comparedRequest(
        at index: Int, rules: MatchRules, detail: BodyFacets.RecordedDetail, redaction: LiveRedactor?,
        digest: @escaping () -> any ContentDigest
    ) throws(CassetteError) -> ComparedRequest {
        let request = try self.interaction(at: index).request
        let facets = try BodyFacets(
            recorded: request.body, headers: request.headers, url: request.url, rules: rules,
            reader: BodyReader(cassettePath: self.path), detail: detail, redaction: redaction, digest: digest)
        return ComparedRequest(
            method: request.method, url: request.url, headers: request.headers, facets: facets,
            isComplete: request.body?.isComplete ?? true)
    }
}
