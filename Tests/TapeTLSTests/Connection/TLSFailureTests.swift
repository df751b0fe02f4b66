internal import COpenSSL
@testable import TapeTLS
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

struct TLSFailureReasonsTests {
    private func failure(_ errors: [(Int32, Int32)], lacksCertificate: Bool = false) -> TLSFailure {
        // The first use of TLS loads the texts.
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

    /// Reason numbers are unique only within one library of OpenSSL.
    @Test func aReasonOfAnotherLibraryIsNotTakenForOneOfTLS() {
        #expect(self.failure([(Int32(ERR_LIB_ASN1), SSL_R_NO_SHARED_CIPHER)]).cause == .malformed)
        #expect(self.failure([(Int32(ERR_LIB_RSA), SSL_R_WRONG_VERSION_NUMBER)]).cause == .malformed)
    }

    @Test func anErrorOfTLSCountsAfterOneOfAnotherLibrary() {
        let failure = self.failure([(Int32(ERR_LIB_RSA), 4000), (Int32(ERR_LIB_SSL), SSL_R_NO_SHARED_CIPHER)])
        #expect(failure.cause == .noSharedCipher)
        #expect(failure.reasons.count == 2)
    }

    /// Reasons that all libraries share have a flag above the number.
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

struct TLSFailureVerificationTests {
    private func summary(names: [String] = [], notBefore: Int64 = 0, notAfter: Int64 = 0) -> CertificateSummary {
        CertificateSummary(
            fingerprint: [], publicKeyDigest: [], subject: "CN=leaf", issuer: "CN=root", notBefore: notBefore, notAfter: notAfter,
            names: names, isAuthority: false)
    }

    @Test(
        arguments: [
            (X509_V_ERR_CERT_HAS_EXPIRED, .expired), (X509_V_ERR_CERT_NOT_YET_VALID, .notYetValid),
            (X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, .selfSigned), (X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, .unknownAuthority),
            (X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, .unknownAuthority),
            (X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, .unknownAuthority),
            (X509_V_ERR_HOSTNAME_MISMATCH, .nameMismatch), (X509_V_ERR_IP_ADDRESS_MISMATCH, .nameMismatch),
            (X509_V_ERR_EE_KEY_TOO_SMALL, .other),
            (X509_V_ERR_INVALID_PURPOSE, .other), (999, .other),
        ] as [(Int32, TLSFailure.Cause)])
    func errorsHaveCauses(error: Int32, cause: TLSFailure.Cause) {
        for summary in [nil, self.summary()] {
            let failure = TLSFailure(verification: error, of: summary)
            #expect(failure.cause == cause)
            #expect(failure.reasons.count == 1)
            #expect(!failure.message.isEmpty)
        }
    }

    @Test func anErrorWithoutWordsOfOursHasThoseOfOpenSSL() {
        let failure = TLSFailure(verification: X509_V_ERR_INVALID_PURPOSE, of: nil)
        #expect(failure.message == "its certificate was refused (\(failure.reasons[0]))")
    }

    /// Days computed with `date -u -d @…`.
    @Test(
        arguments: [
            (0, "1970-01-01"), (951_782_399, "2000-02-28"), (951_782_400, "2000-02-29"), (951_868_800, "2000-03-01"),
            (1_735_689_599, "2024-12-31"),
            (1_735_689_600, "2025-01-01"), (4_107_542_400, "2100-03-01"), (253_402_300_799, "9999-12-31"), (-1, "an unreadable date"),
            (253_402_300_800, "an unreadable date"),
        ] as [(Int64, String)])
    func timesAreShownAsDays(seconds: Int64, day: String) {
        let late = TLSFailure(verification: X509_V_ERR_CERT_HAS_EXPIRED, of: self.summary(notAfter: seconds))
        #expect(late.message == "the certificate \"CN=leaf\" expired on \(day)")
        let early = TLSFailure(verification: X509_V_ERR_CERT_NOT_YET_VALID, of: self.summary(notBefore: seconds))
        #expect(early.message == "the certificate \"CN=leaf\" is not valid before \(day)")
    }

    @Test(arguments: [
        (["a"], "\"a\""), (["a", "b", "c"], "\"a\", \"b\", \"c\""),
        (["a", "b", "c", "d", "e"], "\"a\", \"b\", \"c\" and 2 more"),
    ])
    func theFirstNamesAreShown(names: [String], words: String) {
        let failure = TLSFailure(verification: X509_V_ERR_HOSTNAME_MISMATCH, of: self.summary(names: names))
        #expect(failure.message == "the certificate is for \(words)")
    }

    @Test func aCertificateWithoutNamesSaysWhatItHas() {
        #expect(
            TLSFailure(verification: X509_V_ERR_HOSTNAME_MISMATCH, of: self.summary()).message
                == "the certificate names no host: subjectAltName is what counts (RFC 9525), and it has only the subject \"CN=leaf\"")
        #expect(
            TLSFailure(verification: X509_V_ERR_HOSTNAME_MISMATCH, of: nil).message
                == "the certificate names no host: subjectAltName is what counts (RFC 9525)")
    }
}
