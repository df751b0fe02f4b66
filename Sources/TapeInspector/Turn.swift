/// The time that one piece of a long answer may take before other requests are served.
struct Turn {
    private static let length = Duration.milliseconds(200)

    private let end = ContinuousClock.now + Self.length

    var isOver: Bool { ContinuousClock.now >= self.end }
}
