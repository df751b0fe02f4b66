import TapeTLS
import Testing

struct TLSFailureTests {
    @Test func describesItselfByItsMessage() {
        let failure = TLSFailure(cause: .expired, message: "its certificate has expired", reasons: ["certificate has expired"])
        #expect("\(failure)" == "its certificate has expired")
    }

    @Test func causesAreNamedAsCassettesAndLogsSpellThem() {
        #expect(
            TLSFailure.Cause.allCases.map(\.rawValue) == [
                "closed", "reset", "certificateRejected", "noSharedVersion", "noSharedCipher", "noSharedProtocol", "expired", "notYetValid",
                "unknownAuthority", "selfSigned", "nameMismatch", "pinMismatch", "refusedByPolicy", "certificateRequired", "notTLS",
                "timeout",
                "malformed", "other",
            ])
    }
}
