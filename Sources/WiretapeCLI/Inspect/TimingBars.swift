internal import TapeCore

/// The phases of an exchange, a line each, with a bar that begins where the phase before ended.
enum TimingBars {
    static let width = 32

    static func lines(_ timing: Timing) -> [String] {
        let phases: [(String, Double)] = [
            ("blocked", timing.blocked), ("dns", timing.dns), ("connect", timing.connect), ("tls", timing.tls), ("send", timing.send),
            ("wait", timing.wait), ("receive", timing.receive),
        ].compactMap { name, value in value.map { (name, max(0, $0)) } }
        let sum = phases.reduce(0) { $0 + $1.1 }
        let whole = max(timing.total ?? 0, sum)
        var elapsed = 0.0
        var lines: [String] = []
        for (name, value) in phases {
            let bar = self.bar(from: elapsed, length: value, of: whole)
            elapsed += value
            lines.append(self.line(name, value) + (bar.isEmpty ? "" : "  " + bar))
        }
        if let total = timing.total { lines.append(self.line("total", total)) }
        return lines
    }

    private static func line(_ name: String, _ value: Double) -> String {
        TextWidth.padded(name, to: 8) + TextWidth.padded(Quantity.milliseconds(value), to: 10, .right)
    }

    /// At least a sliver for a phase that happened at all.
    private static func bar(from start: Double, length: Double, of whole: Double) -> String {
        guard whole > 0, whole.isFinite, length > 0 else { return "" }
        let first = min(Int(start / whole * Double(self.width)), self.width - 1)
        let eighths = min(Int(length / whole * Double(self.width * 8) + 0.5), (self.width - first) * 8)
        let blocks = String(repeating: "█", count: eighths / 8)
        let rest = eighths % 8 > 0 || eighths == 0 ? String(Unicode.Scalar(0x2590 - UInt32(max(1, eighths % 8))) ?? " ") : ""
        return String(repeating: " ", count: first) + blocks + rest
    }
}
