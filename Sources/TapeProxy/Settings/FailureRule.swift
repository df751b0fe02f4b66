public import CassettePlayback
public import CassetteRun

/// Which flaws of a replay are failures.
///
/// An answer that could not be given is one in any case.
public struct FailureRule: Sendable, Hashable, CustomStringConvertible {
    public static let standard = FailureRule([.miss])

    private static let names: [VerdictFlaw] = [.miss, .unused, .order]

    public let flaws: Set<VerdictFlaw>

    public init(_ flaws: Set<VerdictFlaw>) {
        self.flaws = flaws
    }

    /// Names out of `miss`, `unused` and `order`, or `none` alone.
    public init(names: [String]) throws(SettingError) {
        if names == ["none"] {
            self.flaws = []
            return
        }
        var flaws: Set<VerdictFlaw> = []
        for name in names {
            guard let flaw = Self.names.first(where: { $0.rawValue == name }) else {
                throw SettingError("\"\(name)\" is nothing to fail on; write miss, unused and order, or none")
            }
            flaws.insert(flaw)
        }
        guard !flaws.isEmpty else { throw SettingError("there is nothing to fail on; write miss, unused and order, or none") }
        self.flaws = flaws
    }

    /// A request that strict order refused is as bad as one that nothing answers.
    public func under(_ order: ReplayOrder) -> FailureRule {
        order == .strict && self.flaws.contains(.miss) ? FailureRule(self.flaws.union([.order])) : self
    }

    public var description: String {
        self.flaws.isEmpty ? "none" : Self.names.filter { self.flaws.contains($0) }.map(\.rawValue).joined(separator: ",")
    }
}
