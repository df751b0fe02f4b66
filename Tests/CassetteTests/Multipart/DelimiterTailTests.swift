import Testing

@testable import CassetteModel

struct DelimiterTailTests {
    enum Outcome: Equatable { case open(Int), closing(Int), data, needsMore }

    private func judge(_ text: String, _ lineEndBefore: LineEnd?, isFinal: Bool) -> Outcome {
        Array(text.utf8).withUnsafeBytes { bytes in
            switch DelimiterTail.judge(bytes, at: 0, lineEndBefore: lineEndBefore, isFinal: isFinal) {
            case .delimiter(let delimiter, let end): delimiter.isClosing ? .closing(end) : .open(end)
            case .data: .data
            case .needsMore: .needsMore
            }
        }
    }

    @Test(arguments: [
        ("\r\nA", Outcome.open(2)), ("\nA", .open(1)), (" \t\r\n", .open(4)), ("--\r\nA", .closing(4)), ("-- \n", .closing(4)),
        ("", .needsMore),
        ("-", .needsMore), ("--", .needsMore), (" ", .needsMore), ("\r", .needsMore), ("-x", .data), ("x", .data), ("--x", .data),
        ("\rx", .data),
        ("  x", .data), ("Conte", .needsMore), ("CONTENT-Type", .open(0)), (" Content-Type", .data),
    ]) func atTheStartOfALine(_ text: String, _ outcome: Outcome) {
        #expect(self.judge(text, .lineFeed, isFinal: false) == outcome)
    }

    @Test(arguments: [
        ("", Outcome.open(0)), ("--", .closing(2)), ("--\r", .closing(2)), ("-", .data), ("\r", .data), (" ", .open(1)), ("Conte", .data),
    ])
    func atTheEndOfTheBody(_ text: String, _ outcome: Outcome) {
        #expect(self.judge(text, LineEnd.none, isFinal: true) == outcome)
    }

    @Test(arguments: [
        ("--", false, Outcome.needsMore), ("--\r\n", false, .needsMore), ("--\r\n", true, .closing(4)), ("--", true, .closing(2)),
        ("--\r\nx", true, .data),
        ("\r\n", true, .data), ("\r\n", false, .needsMore), ("\r\nContent-", false, .open(2)), ("\r\nX-Field: ", false, .data),
        ("", true, .data),
        ("Content-", false, .data),
    ]) func withinALine(_ text: String, _ isFinal: Bool, _ outcome: Outcome) {
        #expect(self.judge(text, nil, isFinal: isFinal) == outcome)
    }

    @Test func paddingHasALimit() {
        let padding = String(repeating: " ", count: MultipartLimits.padding)
        #expect(self.judge(padding + "\r\n", LineEnd.none, isFinal: false) == .open(MultipartLimits.padding + 2))
        #expect(self.judge(padding + " \r\n", LineEnd.none, isFinal: false) == .data)
    }
}
