internal import CassetteModel
internal import CassettePlayback

/// What a recorded request is paired by with one of another cassette.
struct PairedRequest: Sendable {
    var method: String
    var pieces: URLPieces
    /// Its head as the match rules have it.
    var head: [UInt8]
    var body: BodyFacets
    var sketch: BodySketch

    init(method: String, url: String, rules: MatchRules = .standard, headers: HeaderFields? = nil, body: BodyFacets = .none) {
        self.method = method
        self.pieces = URLPieces(url)
        self.head = rules.withHeadKey(method: method, url: url, headers: headers) { Array($0) }
        self.body = body.digestOnly
        self.sketch = BodySketch(body)
    }
}
