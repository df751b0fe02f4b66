/// A name of a setting in a configuration file.
enum ConfigKey: String, CaseIterable {
    case mode, match, ignore, patterns, redact, keep, secretEnv
    case repetition = "repeat"
    case order, latency, refreshDates, refreshFields, failOn, maxAge, onExpired, keepOnFailure, review, durability, onDiskFull
    case listen, grace, passthrough, refuse, upstreamCA, insecureUpstream
    /// Settings for cassettes of some names alone.
    case cassettes

    /// The name that an unknown one was likely meant for; nil where none is near.
    ///
    /// Case, hyphens and underscores do not count, nor do up to two letters too many, too few or wrong.
    static func nearest(to name: String) -> ConfigKey? {
        let wanted = self.folded(name)
        // Longer than any name by far: no question of a slip.
        guard wanted.count <= 40 else { return nil }
        let near = self.allCases.map { (key: $0, distance: self.distance(wanted, self.folded($0.rawValue))) }
        guard let best = near.min(by: { $0.distance < $1.distance }), best.distance <= 2, best.distance < wanted.count else { return nil }
        return best.key
    }

    private static func folded(_ name: String) -> [UInt8] {
        name.lowercased().utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") }
    }

    /// Letters to be added, taken out, replaced, or exchanged with their neighbour.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var before: [Int] = []
        var row = Array(0...right.count)
        for (index, byte) in left.enumerated() {
            var next = [index + 1]
            for (column, other) in right.enumerated() {
                var best = min(row[column] + (byte == other ? 0 : 1), row[column + 1] + 1, next[column] + 1)
                if index > 0, column > 0, byte == right[column - 1], left[index - 1] == other { best = min(best, before[column - 1] + 1) }
                next.append(best)
            }
            (before, row) = (row, next)
        }
        return row[right.count]
    }
}
