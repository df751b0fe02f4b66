import Testing

@testable import WiretapeCLI

@Suite struct TerminalTests {
    @Test func withoutATerminalThereIsNoColorAndAWidthAllTheSame() {
        for terminal in [Terminal.output, Terminal.error] {
            #expect(terminal.isTerminal || !terminal.usesColor)
            #expect(terminal.width > 0)
        }
    }
}
