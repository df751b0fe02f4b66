/// An array of JSON whose elements come in another order: a member has the same values on both sides, but in other elements.
struct Permutation {
    /// A difference between two requests.
    struct Value {
        /// In the grammar of `--ignore`.
        var place: String?
        var new: [UInt8]?
        var old: [UInt8]?
    }

    /// The place of the array.
    let place: String
    /// The places of the members after the number of the element.
    private var members: Set<String> = []

    /// The arrays of which this is so, the outer ones first.
    static func all(in differences: [Value]) -> [Permutation] {
        var groups: [String: [String: (new: [[UInt8]], old: [[UInt8]])]] = [:]
        for difference in differences {
            guard let place = difference.place, let new = difference.new, let old = difference.old else { continue }
            for (array, member) in self.divisions(of: place) {
                groups[array, default: [:]][member, default: ([], [])].new.append(new)
                groups[array]?[member]?.old.append(old)
            }
        }
        var found: [Permutation] = []
        for (array, members) in groups.sorted(by: { ($0.key.utf8.count, $0.key) < ($1.key.utf8.count, $1.key) }) {
            let permuted = members.filter { $1.new.count > 1 && self.sorted($1.new) == self.sorted($1.old) }
            if !permuted.isEmpty { found.append(Permutation(place: array, members: Set(permuted.keys))) }
        }
        return found
    }

    private static func sorted(_ values: [[UInt8]]) -> [[UInt8]] { values.sorted { $0.lexicographicallyPrecedes($1) } }

    /// Each way to read a place as a member of an element of an array.
    private static func divisions(of place: String) -> [(array: String, member: String)] {
        guard place.hasPrefix("json:/"), !place.contains("|") else { return [] }
        let parts = place.split(separator: "/", omittingEmptySubsequences: false)
        return parts.indices.dropFirst().compactMap { index in
            guard !parts[index].isEmpty, parts[index].utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
            return (parts[..<index].joined(separator: "/"), parts[(index + 1)...].joined(separator: "/"))
        }
    }

    func contains(_ place: String) -> Bool { Self.divisions(of: place).contains { $0.array == self.place } }

    func isPermuted(_ place: String) -> Bool {
        Self.divisions(of: place).contains { $0.array == self.place && self.members.contains($0.member) }
    }
}
