import ArgumentParser
import CassetteModel
import CassettePlayback
import CassetteRedaction
@testable import CassetteRun
@testable import TapeProxy
import TapeBytes
import Testing
@testable import WiretapeCLI

@Suite struct CommandEndTests {
    private func code(_ body: () throws -> Int32) -> Int32? {
        do {
            try CommandEnd.run(body)
            return nil
        } catch let code as ExitCode {
            return code.rawValue
        } catch {
            return -1
        }
    }

    @Test func aStatusIsTheExitCode() {
        #expect(self.code { ExitStatus.done } == nil)
        #expect(self.code { ExitStatus.misses } == 3)
        #expect(self.code { throw ExitCode(9) } == 9)
    }

    @Test func errorsOfAllPartsAreReportedAndFail() {
        let errors: [any Error] = [
            CassetteError(.damaged, "a"), TrustError("a"), SettingError("a"), MatchRuleError(.unknownPlace, "a"), SettingSyntaxError("a"),
        ]
        for error in errors { #expect(CommandEnd.message(of: error)?.hasPrefix("a") == true && CommandEnd.status(of: error) == 1) }
        let latency = #expect(throws: SettingSyntaxError.self) { try Latency("soon") }
        #expect(latency.flatMap { CommandEnd.message(of: $0) }?.contains("soon") == true)
    }

    @Test func aCassetteThatIsTooOldHasACodeOfItsOwn() {
        #expect(CommandEnd.status(of: RunPlan.Expired(message: "old")) == 7)
        #expect(CommandEnd.message(of: RunPlan.Expired(message: "old")) == "old")
    }

    @Test func unknownErrorsAreLeftToTheParser() {
        #expect(CommandEnd.message(of: ValidationError("x")) == nil)
        #expect(self.code { throw ValidationError("x") } == -1)
    }
}

@Suite struct TrustErrorTests {
    @Test func anErrorBecomesTheExitCode() {
        #expect(throws: ExitCode(1)) { try TrustError.reporting { () throws(TrustError) in throw TrustError("a test says: all is well.") } }
        #expect(throws: Never.self) { try TrustError.reporting {} }
    }

    @Test func itReadsAsItsMessage() {
        #expect("\(TrustError("give another."))" == "give another.")
    }
}
