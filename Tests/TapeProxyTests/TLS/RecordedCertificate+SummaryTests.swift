import CassetteModel
import TapeTLS
import Testing
@testable import TapeProxy

@Suite struct RecordedCertificateSummaryTests {
    private func recorded(from: Int64 = 0, to: Int64 = 1) -> RecordedCertificate {
        RecordedCertificate(
            CertificateSummary(
                fingerprint: [0x0a, 0xff], publicKeyDigest: [1], subject: "CN=leaf", issuer: "CN=root", notBefore: from, notAfter: to,
                names: ["h"], isAuthority: false))
    }

    @Test func itIsWhatACassetteKeeps() {
        let recorded = self.recorded(from: 1_790_000_000, to: -1)
        #expect(recorded.sha256 == "0aff")
        #expect(recorded.subject == "CN=leaf")
        #expect(recorded.issuer == "CN=root")
        #expect(recorded.notBefore == Timestamp(microseconds: 1_790_000_000_000_000))
        #expect(recorded.notAfter == Timestamp(microseconds: -1_000_000))
    }

    @Test(arguments: [Int64.max, .min, .max / 1_000_000 + 1, .min / 1_000_000 - 1]) func aTimeBeyondAllTimesIsNone(seconds: Int64) {
        let recorded = self.recorded(from: seconds, to: seconds)
        #expect(recorded.notBefore == Timestamp(microseconds: 0))
        #expect(recorded.notAfter == Timestamp(microseconds: 0))
    }

    @Test func theLastSecondOfYear9999IsATime() {
        #expect(self.recorded(to: 253_402_300_799).notAfter == Timestamp(microseconds: 253_402_300_799_000_000))
    }
}
