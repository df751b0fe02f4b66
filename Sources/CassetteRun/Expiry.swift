/// The maximum age of a cassette, such as `30d`.
public struct Age: Sendable, Hashable, CustomStringConvertible {
    /// The longest age; a longer one is as good as no limit.
    static let limit: Int64 = 100 * 366 * 86_400

    private static let units: [(name: Character, seconds: Int64)] = [
        ("w", 7 * 86_400), ("d", 86_400), ("h", 3600), ("m", 60), ("s", 1),
    ]

    public let seconds: Int64

    public init(seconds: Int64) {
        self.seconds = seconds
    }

    /// A whole number and one of `s`, `m`, `h`, `d` and `w`.
    public init(_ text: String) throws(SettingError) {
        let digits = text.dropLast()
        guard let unit = Self.units.first(where: { $0.name == text.last }), let count = Int64(digits),
            digits.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 })
        else {
            throw SettingError("\"\(text)\" is not a duration; write a number followed by s, m, h, d or w, such as 30d")
        }
        guard count <= Self.limit / unit.seconds else {
            throw SettingError("\"\(text)\" is more than 100 years; write a shorter duration, or leave it out")
        }
        self.seconds = count * unit.seconds
    }

    /// Uses the largest unit that leaves no remainder.
    public var description: String {
        let unit = Self.units.first { self.seconds % $0.seconds == 0 && self.seconds >= $0.seconds }
        guard let unit else { return "\(self.seconds)s" }
        return "\(self.seconds / unit.seconds)\(unit.name)"
    }

    /// For people, rounded down to whole days, hours and so on: `45 days`.
    public var words: String {
        for (name, seconds) in [("day", 86_400), ("hour", 3600), ("minute", 60)] as [(String, Int64)] where self.seconds >= 2 * seconds {
            return Self.count(self.seconds / seconds, name)
        }
        return Self.count(self.seconds, "second")
    }

    private static func count(_ number: Int64, _ name: String) -> String { "\(number) \(name)\(number == 1 ? "" : "s")" }
}

/// How to treat a replay from a cassette that is older than allowed.
public enum ExpiryPolicy: String, Sendable, Hashable, CaseIterable {
    /// The replay continues, with a notice.
    case warn
    /// The replay does not start: exit code 7.
    case fail
    /// The cassette is recorded again.
    case rerecord
}

/// An invalid setting, in a configuration file or among the options.
public struct SettingError: Error, Hashable, CustomStringConvertible {
    /// What is wrong and where, and what to write instead.
    public var message: String

    public init(_ message: String) {
        self.message = message
    }

    public var description: String { self.message }
}
