/// Formats numbers for people.
///
/// Accepts any number, since the numbers in a cassette can come from anywhere.
package enum Quantity {
    package static func bytes(_ count: Int) -> String {
        switch count {
        case ..<1000: "\(count) B"
        case ..<999_950: "\(self.tenths(count, 1000)) KB"
        case ..<999_950_000: "\(self.tenths(count, 1_000_000)) MB"
        default: "\(self.tenths(count, 1_000_000_000)) GB"
        }
    }

    package static func milliseconds(_ value: Double) -> String {
        switch value {
        case ..<10: "\(self.tenths(self.whole(value * 1000), 1000)) ms"
        case ..<10_000: "\(Int(value)) ms"
        default: "\(self.tenths(self.whole(value), 1000)) s"
        }
    }

    /// `1.250 s` up to a hundred seconds, `1:02:03` above.
    package static func seconds(_ value: Double) -> String {
        let milliseconds = self.whole(value * 1000 + 0.5)
        if milliseconds < 100_000 {
            let fraction = "\(milliseconds % 1000)"
            return "\(milliseconds / 1000).\(String(repeating: "0", count: 3 - fraction.count))\(fraction) s"
        }
        func pair(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let seconds = milliseconds / 1000
        return "\(seconds / 3600):\(pair(seconds / 60 % 60)):\(pair(seconds % 60))"
    }

    /// `1 exchange`, `2 exchanges`.
    package static func count(_ number: Int, _ noun: String, plural: String? = nil) -> String {
        number == 1 ? "1 \(noun)" : "\(number) \(plural ?? noun + "s")"
    }

    /// The integer part of a number, at least 0 and at most 2^53.
    private static func whole(_ value: Double) -> Int {
        guard value > 0 else { return 0 }
        return Int(min(value, 0x1p53))
    }

    private static func tenths(_ value: Int, _ unit: Int) -> String {
        let tenths = value / unit * 10 + (value % unit * 10 + unit / 2) / unit
        return "\(tenths / 10).\(tenths % 10)"
    }
}
