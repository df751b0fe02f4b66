import ArgumentParser
import Testing

@testable import WiretapeCLI

@Suite struct TrustErrorTests {
    @Test func anErrorBecomesTheExitCode() {
        #expect(throws: ExitCode(1)) { try TrustError.reporting { () throws(TrustError) in throw TrustError("a test says: all is well.") } }
        #expect(throws: Never.self) { try TrustError.reporting {} }
    }

    @Test func itReadsAsItsMessage() {
        #expect("\(TrustError("give another."))" == "give another.")
    }
}
