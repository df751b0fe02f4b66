public import CassetteModel

/// When the parts of a recorded answer came, in milliseconds since its exchange began.
public struct RecordedTimes: Sendable, Hashable {
    /// The first octet of the final response; of a failure, when it was known.
    public var head: Double
    /// The last octet.
    public var end: Double

    public init(head: Double, end: Double) {
        self.head = head
        self.end = end
    }

    /// The phases in front of the response added up. Where the cassette tells none, when the last interim response came.
    public init(_ interaction: Interaction) {
        let timing = interaction.timing
        let phases = [timing.blocked, timing.dns, timing.connect, timing.tls, timing.send, timing.wait].compactMap { $0 }
        let receive = timing.receive ?? 0
        let lastInterim = interaction.interim.last?.at ?? 0
        if interaction.response == nil {
            self.head = timing.total ?? lastInterim
            self.end = self.head
        } else {
            self.head = phases.isEmpty ? timing.total.map { $0 - receive } ?? lastInterim : phases.reduce(0, +)
            self.end = self.head + receive
        }
    }
}
