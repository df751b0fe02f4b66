internal import CassetteModel
internal import TapeBytes

/// What other rules would make of a cassette: which of its requests, told apart now, they take for one.
package enum RuleTrial {
    /// Of a cassette with more, the first ones are compared.
    package static let limit = 20_000

    /// Requests by their indices in order of request start, each list in that order. Bodies that cannot be read equal no others.
    package static func merged(in cassette: RecordedCassette, from old: MatchRules, to new: MatchRules) -> [[Int]] {
        var groups: [Key: [(index: Int, old: Key)]] = [:]
        for index in 0..<min(cassette.count, self.limit) {
            guard let interaction = try? cassette.interaction(at: index), interaction.request.method != "CONNECT",
                let before = self.key(of: index, interaction, cassette, old), let after = self.key(of: index, interaction, cassette, new)
            else { continue }
            groups[after, default: []].append((index, before))
        }
        let merged = groups.values.filter { group in group.contains { $0.old != group[0].old } }.map { $0.map(\.index) }
        return merged.sorted { $0[0] < $1[0] }
    }

    private struct Key: Hashable {
        var head: [UInt8]
        var body: BodyFacets
    }

    private static func key(of index: Int, _ interaction: Interaction, _ cassette: RecordedCassette, _ rules: MatchRules) -> Key? {
        let request = interaction.request
        let head = rules.withHeadKey(method: request.method, url: request.url, headers: rules.looksAtHeaders ? request.headers : nil) {
            Array($0)
        }
        let compared = try? cassette.comparedRequest(at: index, rules: rules, detail: .digests, redaction: nil) { PortableSHA256() }
        return compared.map { Key(head: head, body: $0.facets) }
    }
}
