internal import CassetteModel
internal import TapeBytes

/// Finds the presets that fit the requests of a recording, judging by paths, header fields and the beginnings of bodies.
package enum PresetFinder {
    package struct Fit: Sendable {
        package var preset: RulePreset
        /// The requests of this kind, by index in order of request start.
        package var requests: [Int]
        /// For each rule, the requests that differ now and would be equal.
        package var rules: [(texts: MatchRuleTexts, merged: [[Int]])]
    }

    package static func fits(_ cassette: RecordedCassette) throws -> [Fit] {
        var found: [RulePreset: [Int]] = [:]
        for index in 0..<min(cassette.count, RuleTrial.limit) {
            guard let interaction = try? cassette.interaction(at: index) else { continue }
            for preset in self.presets(of: interaction.request, body: self.body(of: index, cassette)) {
                found[preset, default: []].append(index)
            }
        }
        // The narrower of two presets has the rules of the wider one.
        if found[.bedrock] == found[.awsSigV4] { found[.awsSigV4] = nil }
        if found[.mcp] == found[.jsonRPC] { found[.jsonRPC] = nil }
        let rules = try cassette.matchRules()
        return try RulePreset.allCases.compactMap { preset in
            guard let requests = found[preset] else { return nil }
            let single = try preset.rules.single.map { texts in
                (texts, RuleTrial.merged(in: cassette, from: rules, to: try rules.adding(texts)))
            }
            return Fit(preset: preset, requests: requests, rules: single)
        }
    }

    private static func body(of index: Int, _ cassette: RecordedCassette) -> BodyFacets? {
        try? cassette.comparedRequest(at: index, rules: .standard, detail: .digests, redaction: nil, digest: { PortableSHA256() }).facets
    }

    private static func presets(of request: RecordedRequest, body: BodyFacets?) -> [RulePreset] {
        let path = request.url.prefix { $0 != "?" && $0 != "#" }
        let query = request.url.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        let items = Set(query.split(separator: "&").map { $0.prefix { $0 != "=" } })
        func has(_ name: StaticString) -> Bool { request.headers.contains(name) }
        func json(_ pointer: String) -> Bool {
            body?.facets.contains { $0.place == .json && $0.name.elementsEqual(pointer.utf8) } ?? false
        }
        func field(_ name: String) -> Bool {
            body?.facets.contains { $0.place == .formField && $0.name.elementsEqual(name.utf8) } ?? false
        }
        let isSigned = request.headers.first("authorization").map { $0.hasPrefix("AWS4-") || has("x-amz-date") } ?? has("x-amz-date")
        let isPost = request.method == "POST"
        var found: [RulePreset] = []
        if isPost, path.hasSuffix("/chat/completions") || path.hasSuffix("/v1/responses") { found.append(.openAI) }
        if isPost, path.hasSuffix("/v1/messages"), has("anthropic-version") { found.append(.anthropic) }
        if isPost, path.hasSuffix("enerateContent"), json("/contents") { found.append(.gemini) }
        if isPost, path.hasSuffix("/converse") || path.hasSuffix("/converse-stream"), isSigned { found.append(.bedrock) }
        if isSigned { found.append(.awsSigV4) }
        if items.contains("X-Amz-Signature") { found.append(.awsPresigned) }
        if json("/jsonrpc") || json("/0/jsonrpc") {
            if has("mcp-protocol-version") || has("mcp-session-id") { found.append(.mcp) }
            found.append(.jsonRPC)
        }
        if path.hasSuffix("/graphql"), json("/query") || json("/operationName") || items.contains("query") { found.append(.graphQL) }
        if items.contains("response_type") || field("grant_type") { found.append(.oauth) }
        return found
    }
}

extension MatchRuleTexts {
    /// Each rule by itself.
    package var single: [MatchRuleTexts] {
        (self.match.map { [MatchRuleTexts(match: $0)] } ?? []) + self.ignore.map { MatchRuleTexts(ignore: [$0]) }
            + self.patterns.map { MatchRuleTexts(patterns: [$0]) } + self.replace.map { MatchRuleTexts(replace: [$0]) }
            + self.sort.map { MatchRuleTexts(sort: [$0]) } + self.optional.map { MatchRuleTexts(optional: [$0]) }
    }

    /// As options of a command line, quoted for a shell.
    package var options: [String] {
        func options(_ name: String, _ texts: [String]) -> [String] {
            texts.map { text in
                // IgnorablePlace.word quotes what has no apostrophe.
                "--\(name) \(IgnorablePlace.word(text.replacing("'", with: #"'\''"#)))"
            }
        }
        return (self.match.map { options("match", [$0.joined(separator: ",")]) } ?? []) + options("ignore", self.ignore)
            + options("pattern", self.patterns) + options("replace", self.replace) + options("sort", self.sort)
            + options("optional", self.optional)
    }
}
