internal import CassetteModel

/// The phases of an exchange, a line each, with a bar that begins where the phase before ended.
enum TimingBars {
    static let width = 32

    /// - Parameter paint: colours each bar as the list colours its phase.
    static func lines(_ timing: Timing, _ paint: Paint = Paint(isOn: false)) -> [String] {
        let phases: [(String, Double, Paint.Color)] = [
            ("blocked", timing.blocked, .magenta), ("dns", timing.dns, .magenta), ("connect", timing.connect, .magenta),
            ("tls", timing.tls, .magenta), ("send", timing.send, .yellow), ("wait", timing.wait, .cyan),
            ("receive", timing.receive, .green),
        ].compactMap { name, value, color in value.map { (name, max(0, $0), color) } }
        let sum = phases.reduce(0) { $0 + $1.1 }
        let whole = max(timing.total ?? 0, sum)
        var elapsed = 0.0
        var lines: [String] = []
        for (name, value, color) in phases {
            let bar = self.bar(from: elapsed, length: value, of: whole)
            elapsed += value
            lines.append(self.line(name, value) + (bar.isEmpty ? "" : "  " + paint(bar, color)))
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
