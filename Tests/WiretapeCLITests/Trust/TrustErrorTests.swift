import ArgumentParser
import Testing

@testable import WiretapeCLI

@Suite struct TrustErrorTests {
    @Test func anErrorBecomesTheExitCode() {
        #expect(throws: ExitCode(1)) { try TrustError.told { () throws(TrustError) in throw TrustError("a test says: all is well.") } }
        #expect(throws: Never.self) { try TrustError.told {} }
    }

    @Test func itReadsAsItsMessage() {
        #expect("\(TrustError("give another."))" == "give another.")
    }
}
