internal import CassetteModel
public import CassettePlayback
internal import TapeBytes

/// Pairs the exchanges of two recordings of the same run, and writes rules into a cassette's head.
public enum RunPairing {
    /// The exchanges that belong together, by index in order of request start; then how many of either recording are left.
    public static func pairs(old: RecordedCassette, new: RecordedCassette) throws -> (pairs: [(old: Int, new: Int)], left: Int) {
        let rules = try old.matchRules()
        var pairs: [(old: Int, new: Int)] = []
        var (added, removed): ([Int], [Int]) = ([], [])
        for step in ExchangePairing(old: try self.requests(old, rules), new: try self.requests(new, rules)).steps {
            switch step {
            case .both(let old, let new): pairs.append((old, new))
            case .added(let index): added.append(index)
            case .removed(let index): removed.append(index)
            }
        }
        // A path may have an id in it: the next request with the method and as many segments is the same one.
        for index in removed {
            let shape = try self.shape(of: old, index)
            guard let partner = try added.firstIndex(where: { try self.shape(of: new, $0) == shape }) else { continue }
            pairs.append((index, added.remove(at: partner)))
        }
        return (pairs.sorted { $0.old < $1.old }, removed.count + added.count)
    }

    private static func shape(of cassette: RecordedCassette, _ index: Int) throws -> [String] {
        let request = try cassette.interaction(at: index).request
        let base = URLPieces(request.url).base.split(separator: "/", omittingEmptySubsequences: false)
        return [request.method, base.prefix(3).joined(separator: "/"), "\(base.count)"]
    }

    private static func requests(_ cassette: RecordedCassette, _ rules: MatchRules) throws -> [PairedRequest] {
        try (0..<cassette.count).map { index in
            let interaction = try cassette.interaction(at: index)
            let request = try? cassette.comparedRequest(at: index, rules: rules, detail: .digests, redaction: nil) { PortableSHA256() }
            return PairedRequest(
                method: interaction.request.method, url: interaction.request.url, rules: rules, headers: request?.headers,
                body: request?.facets ?? .none)
        }
    }
}
