internal import TapeBytes

/// How long a replayed answer takes to come.
///
/// Knows no recording: `ReplaySchedule` applies it to one.
public enum Latency: Sendable, Hashable, CustomStringConvertible {
    /// As fast as it goes.
    case none
    /// As long as the recorded exchange took, times this: its beginning, its interim responses, and each piece of its body.
    case scaled(Double)
    /// So many milliseconds until it begins, and no wait behind that.
    case fixed(Double)

    /// A greater factor is more likely a slip than a wish.
    static let largestFactor = 1000.0
    /// Milliseconds: an hour, beyond the patience of every client.
    static let longest = 3_600_000.0

    /// `none`, `recorded`, `×2`, `x2` or `2×` for twice as long, `250ms` or `2s` for as long as that.
    public init(_ text: String) throws(LatencyError) {
        switch text {
        case "none": self = .none
        case "recorded": self = .scaled(1)
        case _:
            if let latency = try Self.factor(text) {
                self = latency
            } else if let latency = try Self.delay(text) {
                self = latency
            } else {
                throw Self.error(text, "is no latency")
            }
        }
    }

    private static func factor(_ text: String) throws(LatencyError) -> Latency? {
        let digits: Substring
        if let first = text.first, first == "×" || first == "x" {
            digits = text.dropFirst()
        } else if let last = text.last, last == "×" || last == "x" {
            digits = text.dropLast()
        } else {
            return nil
        }
        guard let factor = self.number(digits) else { return nil }
        guard factor > 0, factor <= self.largestFactor else {
            throw self.error(text, "is not a factor above 0 and up to \(Int(self.largestFactor))")
        }
        return .scaled(factor)
    }

    private static func delay(_ text: String) throws(LatencyError) -> Latency? {
        let isMilliseconds = text.hasSuffix("ms")
        guard text.hasSuffix("s"), let number = self.number(text.dropLast(isMilliseconds ? 2 : 1)) else { return nil }
        let milliseconds = isMilliseconds ? number : number * 1000
        guard milliseconds <= self.longest else { throw self.error(text, "is longer than an hour") }
        return .fixed(milliseconds)
    }

    /// Decimal digits with or without a fraction.
    private static func number(_ text: Substring) -> Double? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { 48...57 ~= $0 } }) else { return nil }
        return Double(text)
    }

    private static func error(_ text: String, _ problem: String) -> LatencyError {
        LatencyError(
            message:
                "\"\(PlainText.escape(text.utf8, limit: 40))\" \(problem); write \"none\", \"recorded\", \"x2\" for twice the recorded time, or a time such as \"250ms\" or \"2s\""
        )
    }

    public var description: String {
        switch self {
        case .none: "none"
        case .scaled(1): "recorded"
        case .scaled(let factor): "x\(Self.text(factor))"
        case .fixed(let milliseconds): "\(Self.text(milliseconds))ms"
        }
    }

    /// Without an exponent, so that it can be read again.
    private static func text(_ number: Double) -> String {
        number == number.rounded() ? String(Int(number)) : String(number)
    }
}
