internal import COpenSSL
import Testing

@testable import TapeTLS

struct TLSFailureReasonsTests {
    private func failure(_ errors: [(Int32, Int32)], lacksCertificate: Bool = false) -> TLSFailure {
        // Who is the first to speak TLS loads the texts.
        OPENSSL_init_ssl(UInt64(OPENSSL_INIT_LOAD_SSL_STRINGS), nil)
        ErrorQueue.clear()
        for (library, reason) in errors {
            ERR_new()
            withVaList([]) { ERR_vset_error(library, reason, nil, $0) }
        }
        return .drained(lacksCertificate: lacksCertificate)
    }

    @Test(
        arguments: [
            (SSL_R_WRONG_VERSION_NUMBER, .notTLS), (SSL_R_HTTP_REQUEST, .notTLS), (SSL_R_HTTPS_PROXY_REQUEST, .notTLS),
            (SSL_R_UNSUPPORTED_PROTOCOL, .noSharedVersion), (SSL_R_VERSION_TOO_LOW, .noSharedVersion),
            (SSL_R_NO_SHARED_CIPHER, .noSharedCipher),
            (SSL_R_NO_APPLICATION_PROTOCOL, .noSharedProtocol), (SSL_R_UNEXPECTED_EOF_WHILE_READING, .closed),
            (SSL_R_EE_KEY_TOO_SMALL, .noSharedCipher), (SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC, .malformed),
            (SSL_R_NO_RENEGOTIATION, .malformed),
        ] as [(Int32, TLSFailure.Cause)])
    func reasonsHaveCauses(reason: Int32, cause: TLSFailure.Cause) {
        #expect(self.failure([(Int32(ERR_LIB_SSL), reason)]).cause == cause)
    }

    @Test func theFirstErrorDecidesAndAllAreKept() {
        let failure = self.failure([(Int32(ERR_LIB_SSL), SSL_R_NO_SHARED_CIPHER), (Int32(ERR_LIB_SSL), SSL_R_WRONG_VERSION_NUMBER)])
        #expect(failure.cause == .noSharedCipher)
        #expect(failure.reasons == ["no shared cipher", "wrong version number"])
        #expect(ERR_peek_error() == 0)
    }

    @Test func noErrorIsAnEnd() {
        #expect(self.failure([]).cause == .closed)
    }

    /// Numbers of reasons are unique within one library of OpenSSL alone.
    @Test func aReasonOfAnotherLibraryIsNotTakenForOneOfTLS() {
        #expect(self.failure([(Int32(ERR_LIB_ASN1), SSL_R_NO_SHARED_CIPHER)]).cause == .malformed)
        #expect(self.failure([(Int32(ERR_LIB_RSA), SSL_R_WRONG_VERSION_NUMBER)]).cause == .malformed)
    }

    @Test func behindAnErrorOfAnotherLibraryTLSHasItsSay() {
        let failure = self.failure([(Int32(ERR_LIB_RSA), 4000), (Int32(ERR_LIB_SSL), SSL_R_NO_SHARED_CIPHER)])
        #expect(failure.cause == .noSharedCipher)
        #expect(failure.reasons.count == 2)
    }

    /// Reasons that all libraries share carry a flag above the number.
    @Test func aSharedReasonIsNoAlert() {
        let failure = self.failure([(Int32(ERR_LIB_SSL), Int32(ERR_R_INTERNAL_ERROR))])
        #expect(failure.cause == .malformed)
        #expect(!failure.message.contains("alert"))
    }

    @Test(
        arguments: [
            (40, true, .certificateRequired), (40, false, .noSharedCipher), (42, true, .certificateRequired),
            (42, false, .certificateRejected),
        ] as [(Int32, Bool, TLSFailure.Cause)])
    func anAlertAfterARequestForACertificateThatDidNotComeAsksForIt(number: Int32, lacks: Bool, cause: TLSFailure.Cause) {
        #expect(self.failure([(Int32(ERR_LIB_SSL), 1000 + number)], lacksCertificate: lacks).cause == cause)
    }
}
