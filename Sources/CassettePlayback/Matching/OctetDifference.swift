/// Where octets differ from recorded ones.
public struct OctetDifference: Sendable, Hashable, CustomStringConvertible {
    /// The first offset at which they differ; nil where it lies behind what was kept of them.
    public var offset: Int?
    /// Octets in all, with placeholders as marks.
    public var here: Int
    public var recorded: Int

    public init(offset: Int?, here: Int, recorded: Int) {
        self.offset = offset
        self.here = here
        self.recorded = recorded
    }

    /// From two beginnings of octets. `here` and `recorded` are the numbers of all octets.
    init(_ beginning: [UInt8], _ recordedBeginning: [UInt8], here: Int, recorded: Int) {
        let same = zip(beginning, recordedBeginning).prefix { $0 == $1 }.count
        let isDecided = same < beginning.count && same < recordedBeginning.count
        // Where one ends and the other goes on, that is the place.
        let isEnd = (same == here && recorded > here) || (same == recorded && here > recorded)
        self.init(offset: isDecided || (isEnd && same == min(here, recorded)) ? same : nil, here: here, recorded: recorded)
    }

    public var description: String {
        let place = self.offset.map { "differs at octet \($0)" }
        if self.here != self.recorded { return "\(place ?? "differs"): \(Self.octets(self.here)), recorded \(self.recorded)" }
        return place.map { "\($0) of \(self.here)" } ?? "differs behind what was kept of its \(Self.octets(self.here))"
    }

    static func octets(_ count: Int) -> String { "\(count) \(count == 1 ? "octet" : "octets")" }
}
