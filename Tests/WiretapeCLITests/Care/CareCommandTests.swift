import ArgumentParser
import CassetteModel
import CassettePlayback
import TapeBytes
import Testing

@testable import WiretapeCLI

@Suite struct CareCommandTests {
    @Test func whatCannotBeDoneHasItsOwnExitCode() throws {
        #expect(try CareCommand.run { 3 } == 3)
        #expect(throws: ExitCode(2)) { try CareCommand.run { throw CassetteError(.notFound, "\"a\" is not there: name another.") } }
        #expect(throws: ExitCode(1)) { try CareCommand.run(failure: ExitStatus.failed) { throw TrustError("no: do this.") } }
    }

    @Test func aTornCassetteIsReadAsFarAsItGoes() throws {
        let folder = try TemporaryFolder()
        let text = cassetteText([interactionText(1), interactionText(2)])
        try folder.write(text.dropLast(30), to: "a.json")
        #expect(try CareCommand.cassette(folder.file("a.json")).count == 1)
        #expect(throws: CassetteError.self) { _ = try CareCommand.cassette(folder.file("none.json")) }
    }

    @Test func theDigestIsSHA256() {
        var digest = CareCommand.digest()
        Array("abc".utf8).withUnsafeBytes { digest.update($0) }
        #expect(digest.finalize().prefix(4) == [0xBA, 0x78, 0x16, 0xBF])
    }
}
