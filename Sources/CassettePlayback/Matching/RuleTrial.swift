internal import CassetteModel
internal import TapeBytes

/// Tries other rules on a cassette: finds the requests that are distinct under the current rules and become equal under the new ones.
package enum RuleTrial {
    /// In a larger cassette, only this many of the first requests are compared.
    package static let limit = 20_000

    /// The indices of requests in order of request start, in lists of equal requests. Requests with unreadable bodies equal no others.
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
