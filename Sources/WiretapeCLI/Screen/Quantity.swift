/// Numbers as people read them.
enum Quantity {
    static func bytes(_ count: Int) -> String {
        switch count {
        case ..<1000: "\(count) B"
        case ..<1_000_000: "\(self.tenths(count, 1000)) KB"
        case ..<1_000_000_000: "\(self.tenths(count, 1_000_000)) MB"
        default: "\(self.tenths(count, 1_000_000_000)) GB"
        }
    }

    static func milliseconds(_ value: Double) -> String {
        switch value {
        case ..<10: "\(self.tenths(Int(value * 1000), 1000)) ms"
        case ..<10_000: "\(Int(value)) ms"
        default: "\(self.tenths(Int(value), 1000)) s"
        }
    }

    /// `1 exchange`, `2 exchanges`.
    static func count(_ number: Int, _ noun: String, plural: String? = nil) -> String {
        number == 1 ? "1 \(noun)" : "\(number) \(plural ?? noun + "s")"
    }

    private static func tenths(_ value: Int, _ unit: Int) -> String {
        let tenths = (value * 10 + unit / 2) / unit
        return "\(tenths / 10).\(tenths % 10)"
    }
}
