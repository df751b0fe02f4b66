import TapeBytes
import CassetteModel
import Dispatch
@testable import TapeProxy
import TapeTLS
import Testing

@Suite struct TLSProblemTests {
    private static let trust =
        "\"wiretape ca install\" makes this machine trust it, \"--trust namespace -- COMMAND\" one program; if it pins certificates, "
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
        (.noSharedVersion, "the client supports no TLS version that is allowed here: --tls-min 1.0 allows old ones."),
        (
            .noSharedCipher,
            "the client supports no cipher that is allowed here: --tls-min 1.0 allows old ones, --passthrough h.test leaves it alone."
        ),
        (.noSharedProtocol, "the client does not speak HTTP/1.1: --passthrough h.test leaves it alone."),
        (.timeout, "MESSAGE: is the client still running? --passthrough h.test leaves it alone."),
        (.expired, "the client rejected wiretape's certificate as not valid now (MESSAGE): compare the clocks."),
        (.notYetValid, "the client rejected wiretape's certificate as not valid now (MESSAGE): compare the clocks."),
        (.malformed, "MESSAGE: --passthrough h.test leaves it alone."),
        (.notTLS, "MESSAGE: --passthrough h.test leaves it alone."),
    ])
    func problemOfAClientComesWithAdvice(cause: TLSFailure.Cause, words: String) {
        #expect(self.line(.client, cause) == "TLS from the client for \"h.test\": \(words)")
    }

    @Test(arguments: [
        (
            TLSFailure.Cause.unknownAuthority,
            "--upstream-ca FILE trusts its authority, --insecure-upstream h.test accepts any certificate."
        ),
        (.selfSigned, "--upstream-ca FILE trusts its authority, --insecure-upstream h.test accepts any certificate."),
        (.expired, "have it renewed, or compare the clocks; --insecure-upstream h.test accepts it."),
        (.notYetValid, "have it renewed, or compare the clocks; --insecure-upstream h.test accepts it."),
        (.nameMismatch, "correct the name in the URL, or have the certificate issued for it; --insecure-upstream h.test accepts it."),
        (.pinMismatch, "correct --pin, or find out who answers there."),
        (.refusedByPolicy, "the trust evaluation set for this host rejected it."),
        (.noSharedVersion, "--upstream-tls-min 1.0 allows old origins."),
        (.noSharedCipher, "--upstream-tls-min 1.0 allows old origins."),
        (.noSharedProtocol, "it speaks neither HTTP/1.1 nor HTTP/2: --passthrough h.test leaves it alone."),
        (.certificateRequired, "--client-cert h.test=CERT.pem,KEY.pem sends it the certificate it requires."),
        (.certificateRejected, "--client-cert h.test=CERT.pem,KEY.pem sends it the certificate it requires."),
        (.notTLS, "is this port meant for http?"),
        (.timeout, "is it up, and does it speak TLS?"),
        (.closed, "is it up, and does it speak TLS?"),
        (.reset, "is it up, and does it speak TLS?"),
        (.malformed, "--passthrough h.test leaves it alone."),
        (.other, "--passthrough h.test leaves it alone."),
    ])
    func problemOfAnOriginComesWithAdvice(cause: TLSFailure.Cause, advice: String) {
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
    func theMomentIsNamed(cause: TLSFailure.Cause, word: String) {
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

@Suite struct DiagnosisTests {
    private let counts = Guarded(ProxyCounts())
    private let notices = NoticeList()

    private func diagnosis() -> Diagnosis { Diagnosis(counts: self.counts, notice: self.notices.add) }

    private func problem(_ host: String = "h", port: Int = 443, leg: TLSProblem.Leg = .client, cause: TLSFailure.Cause = .closed)
        -> TLSProblem
    {
        TLSProblem(leg: leg, host: host, port: port, failure: TLSFailure(cause: cause, message: "m"))
    }

    @Test func aProblemIsReportedOnceAndCountedEachTime() {
        let diagnosis = self.diagnosis()
        for _ in 0..<5 { diagnosis.report(self.problem()) }
        #expect(self.notices.lines == [self.problem().description])
        #expect(self.counts.withLock { $0.tlsFailures } == 5)
    }

    @Test func anotherHostPortLegOrCauseIsAnotherProblem() {
        let diagnosis = self.diagnosis()
        let problems = [
            self.problem(), self.problem("i"), self.problem(port: 8443), self.problem(leg: .upstream), self.problem(cause: .reset),
        ]
        for problem in problems + problems { diagnosis.report(problem) }
        #expect(self.notices.lines == problems.map(\.description))
    }

    @Test func otherWordsForTheSameCauseAreNoNews() {
        let diagnosis = self.diagnosis()
        diagnosis.report(self.problem())
        var other = self.problem()
        other.failure.message = "other words"
        diagnosis.report(other)
        #expect(self.notices.lines.count == 1)
    }

    @Test func aRemarkIsNoFailureAndIsMadeOnce() {
        let diagnosis = self.diagnosis()
        diagnosis.remark("one")
        diagnosis.remark("one")
        diagnosis.remark("two")
        #expect(self.notices.lines == ["one", "two"])
        #expect(self.counts.withLock { $0.tlsFailures } == 0)
    }

    @Test func aProblemIsReportedOnceOverAllEventLoops() {
        let diagnosis = self.diagnosis()
        let problem = self.problem()
        DispatchQueue.concurrentPerform(iterations: 100) { _ in diagnosis.report(problem) }
        #expect(self.notices.lines == [problem.description])
        #expect(self.counts.withLock { $0.tlsFailures } == 100)
    }

    @Test func reportsAreLimitedToTwoHundred() {
        let diagnosis = self.diagnosis()
        for number in 0..<1000 { diagnosis.report(self.problem("h\(number)")) }
        diagnosis.remark("late")
        #expect(self.notices.lines.count == 200)
        #expect(self.counts.withLock { $0.tlsFailures } == 1000)
    }
}

@Suite struct RecordedCertificateSummaryTests {
    private func recorded(from: Int64 = 0, to: Int64 = 1) -> RecordedCertificate {
        RecordedCertificate(
            CertificateSummary(
                fingerprint: [0x0a, 0xff], publicKeyDigest: [1], subject: "CN=leaf", issuer: "CN=root", notBefore: from, notAfter: to,
                names: ["h"], isAuthority: false))
    }

    @Test func summaryHasTheFormOfACassette() {
        let recorded = self.recorded(from: 1_790_000_000, to: -1)
        #expect(recorded.sha256 == "0aff")
        #expect(recorded.subject == "CN=leaf")
        #expect(recorded.issuer == "CN=root")
        #expect(recorded.notBefore == Timestamp(microseconds: 1_790_000_000_000_000))
        #expect(recorded.notAfter == Timestamp(microseconds: -1_000_000))
    }

    @Test(arguments: [Int64.max, .min, .max / 1_000_000 + 1, .min / 1_000_000 - 1]) func aTimeBeyondTheRangeIsZero(seconds: Int64) {
        let recorded = self.recorded(from: seconds, to: seconds)
        #expect(recorded.notBefore == Timestamp(microseconds: 0))
        #expect(recorded.notAfter == Timestamp(microseconds: 0))
    }

    @Test func theLastSecondOfYear9999IsATime() {
        #expect(self.recorded(to: 253_402_300_799).notAfter == Timestamp(microseconds: 253_402_300_799_000_000))
    }
}
