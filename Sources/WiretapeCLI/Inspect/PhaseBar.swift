internal import CassetteModel

/// The phases of an exchange as a bar of eight characters: where the time went, not how much of it there was.
struct PhaseBar {
    static let width = 8

    /// In the order in which they come; each has a shade of its own, for where there are no colours.
    private enum Phase: CaseIterable {
        case connect, send, wait, receive

        var shade: Character {
            switch self {
            case .connect: "░"
            case .send: "▒"
            case .wait: "▓"
            case .receive: "█"
            }
        }

        var color: Paint.Color {
            switch self {
            case .connect: .magenta
            case .send: .yellow
            case .wait: .cyan
            case .receive: .green
            }
        }
    }

    private let lengths: [Int]

    init(_ timing: Timing) {
        let connect = [timing.blocked, timing.dns, timing.connect, timing.tls].reduce(0) { $0 + Self.sane($1) }
        let times = [connect, Self.sane(timing.send), Self.sane(timing.wait), Self.sane(timing.receive)]
        let whole = times.reduce(0, +)
        guard whole > 0, whole.isFinite else {
            self.lengths = []
            return
        }
        // Each ends where its share of all time so far ends, so that the lengths add up.
        var (elapsed, end) = (0.0, 0)
        self.lengths = times.map { time in
            elapsed += time
            let next = min(Self.width, Int(elapsed / whole * Double(Self.width) + 0.5))
            defer { end = next }
            return next - end
        }
    }

    private static func sane(_ value: Double?) -> Double { value.map { $0 > 0 && $0.isFinite ? min($0, 0x1p53) : 0 } ?? 0 }

    /// Without any phase there is no bar.
    var isEmpty: Bool { self.lengths.isEmpty }

    var text: String { self.painted(Paint(isOn: false)) }

    func painted(_ paint: Paint) -> String {
        zip(Phase.allCases, self.lengths).map { phase, length in paint(String(repeating: phase.shade, count: length), phase.color) }
            .joined()
    }

    /// `░ connect  ▒ send  ▓ wait  █ receive`
    static func legend(_ paint: Paint) -> String {
        Phase.allCases.map { "\(paint(String($0.shade), $0.color)) \($0)" }.joined(separator: "  ")
    }
}
