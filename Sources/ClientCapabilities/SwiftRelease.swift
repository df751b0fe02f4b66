/// A release of Swift, which on Linux is a release of FoundationNetworking as well: `6.3.1`.
public struct SwiftRelease: Sendable, Hashable, Comparable, CustomStringConvertible {
    public var major: Int
    public var minor: Int
    public var patch: Int

    public init(_ major: Int, _ minor: Int, _ patch: Int = 0) {
        self.major = major
        self.minor = minor
        self.patch = patch
    }

    /// Reads the first number with a dot in a text: `Swift version 6.3.1 (swift-6.3.1-RELEASE)`; nil where there is none.
    public init?(_ text: some StringProtocol) {
        for word in text.split(whereSeparator: { !$0.isNumber && $0 != "." }) {
            let numbers = word.split(separator: ".", omittingEmptySubsequences: false).prefix(3).map { Int($0) }
            guard numbers.count >= 2, let major = numbers[0], let minor = numbers[1] else { continue }
            self.init(major, minor, numbers.count > 2 ? numbers[2] ?? 0 : 0)
            return
        }
        return nil
    }

    public static func < (left: Self, right: Self) -> Bool {
        (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
    }

    public var description: String {
        self.patch == 0 ? "\(self.major).\(self.minor)" : "\(self.major).\(self.minor).\(self.patch)"
    }
}
