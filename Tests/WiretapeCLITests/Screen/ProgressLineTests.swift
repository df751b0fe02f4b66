import Testing

@testable import WiretapeCLI

@Suite struct ProgressLineTests {
    /// On a terminal it writes; in a test there is none, and nothing to divide by is no reason to trap.
    @Test func withoutATerminalNothingIsWritten() {
        let line = ProgressLine(label: "developing")
        line.show(0, of: 0)
        line.show(1, of: 2)
        line.end()
    }
}
