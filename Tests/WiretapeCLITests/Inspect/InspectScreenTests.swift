import Testing

@testable import WiretapeCLI

@Suite struct InspectScreenTests {
    @Test func isATerminalWhereItHasAWidth() {
        #expect(InspectScreen.terminal(80).isTerminal)
        #expect(!InspectScreen.piped.isTerminal)
    }

    @Test func theCurrentOneGoesWithStandardOutput() {
        #expect(InspectScreen.current.isTerminal == Terminal.output.isTerminal)
    }
}
