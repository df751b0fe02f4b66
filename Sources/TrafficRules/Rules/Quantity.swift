internal import TapeBytes

/// Reads times, sizes, rates and shares with their units.
enum Quantity {
    /// Decimal digits with or without a fraction, no sign and no exponent.
    private static func number(_ text: Substring) -> Double? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, parts.allSatisfy({ !$0.isEmpty && $0.utf8.count <= 15 && $0.utf8.allSatisfy { 48...57 ~= $0 } }) else {
            return nil
        }
        return Double(text)
    }

    /// A number and what follows it, spaces between them left out.
    private static func split(_ text: String) -> (number: Substring, unit: String) {
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        return (number, String(text[number.endIndex...].drop { $0 == " " }))
    }

    // MARK: Times

    private static let timeUnits: [String: Double] = ["us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "min": 60, "h": 3600]

    /// `200ms`, `1.5s`, `3m`, `1h`; nil for anything else, a number without a unit included.
    static func duration(_ text: String) -> Duration? {
        let (number, unit) = self.split(text)
        guard let value = self.number(number), let factor = self.timeUnits[unit] else { return nil }
        let seconds = value * factor
        return seconds <= 1e9 ? .nanoseconds(Int64((seconds * 1e9).rounded())) : nil
    }

    static func seconds(_ duration: Duration) -> Double {
        Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    }

    /// `2s`, `200ms`
    static func text(_ duration: Duration) -> String {
        let seconds = self.seconds(duration)
        if seconds == seconds.rounded() { return "\(Int(seconds))s" }
        let milliseconds = seconds * 1000
        return milliseconds == milliseconds.rounded() ? "\(Int(milliseconds))ms" : "\(milliseconds)ms"
    }

    // MARK: Sizes

    private static let sizeUnits: [String: Double] = [
        "B": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1024, "MiB": 1_048_576, "GiB": 1_073_741_824,
    ]

    /// `64KiB`, `500B`; nil for anything else.
    static func bytes(_ text: String) -> Int? {
        let (number, unit) = self.split(text)
        guard let value = self.number(number), let factor = self.sizeUnits[unit], value * factor <= 1e15 else { return nil }
        return Int((value * factor).rounded())
    }

    private static let bitUnits: [String: Double] = ["bit": 1, "kbit": 1e3, "Mbit": 1e6, "Gbit": 1e9, "bps": 1, "kbps": 1e3, "Mbps": 1e6]

    /// Bytes a second: `1.5Mbit`, `500kbit`, `64KiB/s`; nil for anything else.
    static func rate(_ text: String) -> Double? {
        var (number, unit) = self.split(text)
        if unit.hasSuffix("/s") { unit.removeLast(2) }
        guard let value = self.number(number) else { return nil }
        if let factor = self.bitUnits[unit] { return value * factor / 8 }
        return self.sizeUnits[unit].map { value * $0 }
    }

    // MARK: Shares

    /// A part of all draws, of 2^64: `5%`, `0.01%`. Nothing is rounded to whole percents.
    enum Share: Sendable, Hashable {
        case never
        case always
        /// Draws below this number.
        case below(UInt64)

        func takes(_ draw: UInt64) -> Bool {
            switch self {
            case .never: false
            case .always: true
            case .below(let limit): draw < limit
            }
        }
    }

    /// Nil for anything but a percentage from 0 to 100 with at most 12 decimals.
    static func share(_ text: String) -> Share? {
        let (number, unit) = self.split(text)
        let parts = number.split(separator: ".", omittingEmptySubsequences: false)
        guard unit == "%", self.number(number) != nil, let whole = UInt64(parts[0]) else { return nil }
        let decimals = parts.count > 1 ? parts[1] : ""
        guard decimals.utf8.count <= 12, whole <= 100 else { return nil }
        let scale = decimals.utf8.reduce(UInt64(1)) { product, _ in product * 10 }
        let numerator = whole * scale + (UInt64(decimals) ?? 0)
        let denominator = 100 * scale
        guard numerator <= denominator else { return nil }
        if numerator == 0 { return .never }
        if numerator == denominator { return .always }
        // numerator · 2^64 / denominator
        return .below(max(1, denominator.dividingFullWidth((numerator, 0)).quotient))
    }
}
