import Testing
@testable import WiretapeCLI

@Suite struct ProgramOutputTests {
    private func run(_ line: String, seconds: Int32 = 10, withErrors: Bool = false) -> ProgramOutput? {
        ProgramOutput.text(of: "sh", ["sh", "-c", line], seconds: seconds, withErrors: withErrors)
    }

    @Test func outputAndExitStatus() {
        #expect(self.run("printf a; printf b >&2; exit 3") == ProgramOutput(status: 3, output: Array("a".utf8)))
        #expect(self.run("printf a; printf b >&2", withErrors: true) == ProgramOutput(status: 0, output: Array("ab".utf8)))
        #expect(self.run("kill -KILL $$") == ProgramOutput(status: 137, output: []))
        #expect(self.run("cat") == ProgramOutput(status: 0, output: []), "nothing is there to be read")
    }

    @Test func aProgramThatIsNotThereIsNil() { #expect(ProgramOutput.text(of: "/no/such/program", ["x"]) == nil) }

    @Test func oneThatNeverEndsIsEnded() { #expect(self.run("while :; do :; done", seconds: 0) == nil) }

    @Test func longOutputIsTruncated() { #expect(self.run("head -c 400000 /dev/zero")?.output.count == ProgramOutput.limit) }
}
