import TapeTestSupport
import Testing

/// A share of `make stress-files`: the same combinations of cassettes and commands in every run.
@Suite struct StressFilesTests {
    @Test func everyCommandEndsAndLeavesWholeFiles() throws {
        let end = try ExternalProgram.run(
            try Programs.find("python3"), [Programs.fixture("stress_files.py"), try Programs.wiretape(), "--share", "61"], seconds: 600)
        #expect(end.status == 0, "\(end.outputText)\(end.errors)")
    }
}
