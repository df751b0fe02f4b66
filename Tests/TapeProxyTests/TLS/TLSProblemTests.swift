import TapeTLS
import Testing
@testable import TapeProxy

@Suite struct TLSProblemTests {
    private static let trust =
        "\"wiretape ca install\" makes this machine trust it, \"--trust namespace -- COMMAND\" one program; where it pins certificates, "
        + "--passthrough h.test leaves it alone."

    private func line(_ leg: TLSProblem.Leg, _ cause: TLSFailure.Cause, host: String = "h.test", port: Int = 443) -> String {
        let failure = TLSFailure(cause: cause, message: "MESSAGE", reasons: ["tlsv1 alert unknown ca", "later"])
        return TLSProblem(leg: leg, host: host, port: port, failure: failure).description
    }

    @Test(arguments: [
        (
            TLSFailure.Cause.certificateRejected,
            "the client rejected wiretape's certificate (tlsv1 alert unknown ca): \(Self.trust)"
        ),
        (
            .closed,
            "the client closed the connection during the handshake, which most often means that it does not trust wiretape's CA: \(Self.trust)"
        ),
        (
            .reset,
            "the client reset the connection during the handshake, which most often means that it does not trust wiretape's CA: \(Self.trust)"
        ),
        (.noSharedVersion, "the client speaks no TLS version that is allowed here: --tls-min 1.0 allows old ones."),
        (
            .noSharedCipher,
            "the client speaks no cipher that is allowed here: --tls-min 1.0 allows old ones, --passthrough h.test leaves it alone."
        ),
        (.noSharedProtocol, "the client speaks no HTTP/1.1: --passthrough h.test leaves it alone."),
        (.timeout, "MESSAGE: is the client still running? --passthrough h.test leaves it alone."),
        (.expired, "the client found wiretape's certificate not valid now (MESSAGE): compare the clocks."),
        (.notYetValid, "the client found wiretape's certificate not valid now (MESSAGE): compare the clocks."),
        (.malformed, "MESSAGE: --passthrough h.test leaves it alone."),
        (.notTLS, "MESSAGE: --passthrough h.test leaves it alone."),
    ])
    func whatHappenedToAClientComesWithWhatToDo(cause: TLSFailure.Cause, words: String) {
        #expect(self.line(.client, cause) == "TLS from the client for \"h.test\": \(words)")
    }

    @Test(arguments: [
        (
            TLSFailure.Cause.unknownAuthority,
            "--upstream-ca FILE trusts its authority, --insecure-upstream h.test anything it shows."
        ),
        (.selfSigned, "--upstream-ca FILE trusts its authority, --insecure-upstream h.test anything it shows."),
        (.expired, "have it renewed, or compare the clocks; --insecure-upstream h.test accepts it."),
        (.notYetValid, "have it renewed, or compare the clocks; --insecure-upstream h.test accepts it."),
        (.nameMismatch, "correct the name in the URL, or have the certificate issued for it; --insecure-upstream h.test accepts it."),
        (.pinMismatch, "correct --pin, or find out who answers there."),
        (.refusedByPolicy, "the evaluation that was set for it said no."),
        (.noSharedVersion, "--upstream-tls-min 1.0 speaks to old origins."),
        (.noSharedCipher, "--upstream-tls-min 1.0 speaks to old origins."),
        (.noSharedProtocol, "it speaks no HTTP/1.1: --passthrough h.test leaves it alone."),
        (.certificateRequired, "--client-cert h.test=CERT.pem,KEY.pem gives it the certificate it wants."),
        (.certificateRejected, "--client-cert h.test=CERT.pem,KEY.pem gives it the certificate it wants."),
        (.notTLS, "is this port meant for http?"),
        (.timeout, "is it up, and does it speak TLS?"),
        (.closed, "is it up, and does it speak TLS?"),
        (.reset, "is it up, and does it speak TLS?"),
        (.malformed, "--passthrough h.test leaves it alone."),
        (.other, "--passthrough h.test leaves it alone."),
    ])
    func whatHappenedAtAnOriginComesWithWhatToDo(cause: TLSFailure.Cause, advice: String) {
        #expect(self.line(.upstream, cause) == "TLS to \"h.test\": MESSAGE: \(advice)")
    }

    @Test func everyCauseOfEveryLegIsOneLineWithAHostAndANextStep() {
        for leg in [TLSProblem.Leg.client, .upstream] {
            for cause in TLSFailure.Cause.allCases {
                let line = self.line(leg, cause, port: 8443)
                #expect(line.contains("\"h.test:8443\""), "\(line)")
                #expect(!line.contains("\n") && (line.hasSuffix(".") || line.hasSuffix("?")), "\(line)")
                #expect(!line.contains("..") && !line.contains("  "), "\(line)")
            }
        }
    }

    @Test func anAddressAndAPortStandAsAPatternTakesThem() throws {
        #expect(self.line(.client, .malformed, host: "::1", port: 443).hasSuffix("--passthrough [::1] leaves it alone."))
        #expect(self.line(.upstream, .expired, host: "::1", port: 8443).contains("--insecure-upstream [::1]:8443 accepts"))
        #expect(self.line(.client, .malformed, host: "h.test", port: 80).hasSuffix("--passthrough h.test:80 leaves it alone."))
    }

    @Test(arguments: [(TLSFailure.Cause.closed, "closed"), (.reset, "reset")])
    func theMomentIsSaid(cause: TLSFailure.Cause, word: String) {
        var problem = TLSProblem(leg: .client, host: "h", port: 443, failure: TLSFailure(cause: cause, message: "m"))
        #expect(problem.description.contains("the client \(word) the connection during the handshake, which"))
        problem.isAfterHandshake = true
        #expect(problem.description.contains("the client \(word) the connection right after the handshake, which"))
    }

    @Test func aRejectionWithoutAReasonSaysSo() {
        let failure = TLSFailure(cause: .certificateRejected, message: "it rejected the certificate")
        let problem = TLSProblem(leg: .client, host: "h", port: 443, failure: failure)
        #expect(problem.description.contains("(no reason given)"))
    }
}
