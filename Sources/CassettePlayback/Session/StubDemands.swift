internal import CassetteModel
internal import TapeBytes

/// What a stub requires of a request beyond its key: its conditions, with the values of the recorded request.
struct StubDemands: Sendable, Hashable {
    /// How the bodies are compared if the stub does that in its own way, whatever the type of the request is.
    struct BodyDemand: Sendable, Hashable {
        var match: BodyMatch
        var facets: BodyFacets
    }

    private let conditions: StubConditions
    private let parts: StubParts
    /// The fields and cookies that must be equal, by the names that a profile has for them.
    private let fields: [Field]
    private var body: BodyDemand?
    private let comparesQuery: Bool

    private struct Field: Sendable, Hashable {
        var name: UInt64
        /// In lower case; of a cookie `cookie`.
        var text: String
    }

    init(_ conditions: StubConditions, _ request: RecordedRequest, _ rules: MatchRules, body: BodyDemand?) {
        self.conditions = conditions
        self.parts = StubParts(url: request.url, request.headers, rules)
        self.fields = conditions.exact.compactMap { place in
            switch place {
            case .header(let name): Field(name: RequestProfile.hash(name), text: name)
            case .cookie(let name): Field(name: RequestProfile.cookieHash(name), text: "cookie")
            case .url, .path, .query, .queryItem, .body, .bodyAs: nil
            }
        }
        self.body = body
        self.comparesQuery = rules.head.comparesQuery
    }

    /// Without what only explains a difference.
    var forComparison: StubDemands {
        var demands = self
        if let body, !body.facets.mayFit { demands.body?.facets = body.facets.digestOnly }
        return demands
    }

    /// - Parameter recorded: the fields of the recorded request.
    func areMet(by live: LiveFields, _ recorded: RequestProfile) -> Bool {
        guard let here = live.parts else { return false }
        return self.isURLMet(by: here) && self.unmetItems(by: here).isEmpty
            && self.fields.allSatisfy { live.profile.agrees(with: recorded, on: $0.name) }
            && self.namedPlaces.allSatisfy { self.isMet($0, by: here) } && self.isBodyMet(by: live)
    }

    private func isURLMet(by here: StubParts) -> Bool {
        self.conditions.exact.allSatisfy { place in
            switch place {
            case .url: StubParts.agree(here.url, self.parts.url)
            case .path: StubParts.agree(here.path, self.parts.path)
            case .query: here.query.agrees(with: self.parts.query)
            case .queryItem, .header, .cookie, .body, .bodyAs: true
            }
        }
    }

    /// The items that must have exactly the recorded values.
    private func unmetItems(by here: StubParts) -> [[UInt8]] {
        self.conditions.exact.compactMap { if case .queryItem(let name) = $0 { Array(name.utf8) } else { nil } }
            .filter { !here.query.agrees(with: self.parts.query, on: $0) }
    }

    /// The places in all lists but the first one.
    private var namedPlaces: [StubConditions.Place] { self.conditions.includes + self.conditions.joined + self.conditions.single }

    private func isMet(_ place: StubConditions.Place, by here: StubParts) -> Bool {
        (!self.conditions.includes.contains(place) || self.parts.isIncluded(in: here, at: place))
            && (!self.conditions.joined.contains(place) || self.parts.isJoined(in: here, at: place))
            && (!self.conditions.single.contains(place) || !here.hasSeveral(place))
    }

    private func isBodyMet(by live: LiveFields) -> Bool {
        guard let body else { return true }
        return live.content.map { body.facets.fits(live: $0.facets(as: body.match)) } ?? false
    }

    /// How the body of a request that does not meet them differs; nil if it is compared by its kind, or not at all.
    func bodyDifferences(from live: LiveFields) -> [RequestDifference]? {
        guard let body else { return nil }
        let here = live.content?.facets(as: body.match) ?? .none
        return body.facets.fits(live: here) ? [] : here.differences(fromRecorded: body.facets)
    }

    /// The names of the fields that keep a request from being answered.
    func fields(unmetBy live: LiveFields, _ recorded: RequestProfile) -> [String] {
        var names = self.fields.filter { !live.profile.agrees(with: recorded, on: $0.name) }.map(\.text)
        guard let here = live.parts else { return names }
        for place in self.namedPlaces where !self.isMet(place, by: here) {
            switch place {
            case .header(let name): if !names.contains(name) { names.append(name) }
            case .cookie: if !names.contains("cookie") { names.append("cookie") }
            case .url, .path, .query, .queryItem, .body, .bodyAs: continue
            }
        }
        return names
    }

    /// How the URL of a request that does not meet them differs.
    func differences(from live: LiveFields) -> [RequestDifference] {
        guard let here = live.parts else { return [] }
        let items = self.namedPlaces.filter { !self.isMet($0, by: here) }.compactMap { place in
            if case .queryItem(let name) = place { Array(name.utf8) } else { nil }
        }
        let unmet = Set(self.unmetItems(by: here) + items)
        var differences: [RequestDifference] = []
        for name in unmet.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            let own = here.query.differences(from: self.parts.query, on: [name])
            // The recorded values are there, but not alone.
            differences += own.isEmpty ? [.severalValues(String(decoding: name, as: UTF8.self))] : own
        }
        for place in self.conditions.exact {
            switch place {
            case .path:
                if !StubParts.agree(here.path, self.parts.path) { differences.append(self.spelling("path", here.path, self.parts.path)) }
            case .query: differences += here.query.differences(from: self.parts.query, on: nil)
            case .url:
                guard !StubParts.agree(here.url, self.parts.url) else { continue }
                let query = here.query.differences(from: self.parts.query, on: nil)
                differences += query.isEmpty ? [self.spelling("path and query", here.url, self.parts.url)] : query
            case .queryItem, .header, .cookie, .body, .bodyAs: continue
            }
        }
        return differences
    }

    private func spelling(_ part: String, _ here: [UInt8], _ recorded: [UInt8]) -> RequestDifference {
        func text(_ bytes: [UInt8]) -> String { PlainText.escape(bytes, limit: RequestComparison.textLimit) }
        return .spelling(part: part, here: text(here), recorded: text(recorded))
    }
}
