internal import COpenSSL
import Testing

@testable import TapeTLS

struct TLSFailureVerificationTests {
    @Test(arguments: [
        (X509_V_ERR_CERT_HAS_EXPIRED, .expired), (X509_V_ERR_CERT_NOT_YET_VALID, .notYetValid),
        (X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, .selfSigned), (X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, .unknownAuthority),
        (X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, .unknownAuthority), (X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, .unknownAuthority),
        (X509_V_ERR_HOSTNAME_MISMATCH, .nameMismatch), (X509_V_ERR_IP_ADDRESS_MISMATCH, .nameMismatch), (X509_V_ERR_EE_KEY_TOO_SMALL, .other),
        (X509_V_ERR_INVALID_PURPOSE, .other), (999, .other),
    ] as [(Int32, TLSFailure.Cause)])
    func errorsHaveCauses(error: Int32, cause: TLSFailure.Cause) {
        let failure = TLSFailure(verification: error)
        #expect(failure.cause == cause)
        #expect(failure.reasons.count == 1)
        #expect(!failure.message.isEmpty)
    }

    @Test func anErrorWithoutWordsOfOursHasThoseOfOpenSSL() {
        let failure = TLSFailure(verification: X509_V_ERR_INVALID_PURPOSE)
        #expect(failure.message.hasPrefix("its certificate was refused: "))
        #expect(failure.message.hasSuffix(failure.reasons[0]))
    }
}
