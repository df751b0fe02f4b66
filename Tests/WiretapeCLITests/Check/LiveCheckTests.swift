import Foundation
import Testing
import TapeTestSupport

/// Over TLS, against a real nginx; the tests of the command cover cleartext.
@Suite struct LiveCheckTests {
    @Test func anOriginOfHTTPSIsAskedAgainAndItsCertificateJudged() throws {
        let folder = try TemporaryFolder()
        let origins = try TLSOrigins()
        defer { origins.stop() }
        let cassette = folder.file("pets.json")
        let trust = ["--upstream-ca", origins.certificates.authority]
        let script = Curl.line(origins.url(.good), origins.url(.good, "large.bin")) + " > /dev/null"
        let record = try Wiretape.run(["record", cassette] + trust + ["--", "sh", "-c", script])
        try #require(record.status == 0, "\(record.errors)")
        let same = try Wiretape.run(["check", cassette, "--against", "live"] + trust)
        #expect(same.status == 0 && same.outputText.hasPrefix("2 the same, 0 changed, "), "\(same.outputText)\(same.errors)")

        let distrusted = try Wiretape.run(["check", cassette, "--against", "live"])
        #expect(distrusted.status == 1 && !distrusted.outputText.hasPrefix("2 the same"), "\(distrusted.outputText)\(distrusted.errors)")
    }
}
