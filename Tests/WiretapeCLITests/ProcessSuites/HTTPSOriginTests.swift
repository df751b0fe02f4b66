import Foundation
import Testing
import TapeTestSupport

/// Real origins through the recorder: good ones are recorded unchanged; bad ones are refused with the option that helps, and it does help.
@Suite struct HTTPSOriginTests {
    private typealias Kind = TLSOrigins.Kind

    /// The status and the body of each URL, in order, in one run of the recorder.
    private struct Run {
        var answers: [(status: String, error: String, body: String)] = []
        var lines: [String] = []
        var interactions: [[String: Any]] = []

        init(_ urls: [String], options: [String]) throws {
            let folder = try TemporaryFolder()
            let script = """
                for url in "$@"; do
                    \(Curl.line()) --output body --write-out '%{http_code}|%header{wiretape-error}|' "$url" && cat body && printf '\\0'
                done
                """
            let cassette = folder.file("origins.json")
            let end = try Wiretape.run(["record", cassette] + options + ["--", "sh", "-c", script, "sh"] + urls, directory: folder.path)
            guard end.status == 0 else { throw TestProblem("the run ended with \(end.status): \(end.outputText)\(end.errors)") }
            try CassetteFile.expectValid(cassette)
            self.interactions = try CassetteFile.interactions(cassette)
            self.lines = end.errors.components(separatedBy: "\n")
            for answer in end.outputText.components(separatedBy: "\0").dropLast() {
                let parts = answer.split(separator: "|", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
                self.answers.append((status: parts[0], error: parts[1], body: parts[2]))
            }
            guard self.answers.count == urls.count, self.interactions.count == urls.count else {
                throw TestProblem("\(self.interactions.count) exchanges for \(urls.count) requests")
            }
        }
    }

    // MARK: Good origins

    /// The SHA-256, subject, issuer and validity of a file's first certificate in the format of the cassette, from an independent program.
    private static func certificate(_ file: String) throws -> [String?] {
        let options = ["x509", "-in", file, "-noout", "-fingerprint", "-sha256", "-subject", "-issuer", "-nameopt", "RFC2253", "-dates"]
        let end = try ExternalProgram.run(try Programs.find("openssl"), options + ["-dateopt", "iso_8601"])
        let values = end.outputText.components(separatedBy: "\n").dropLast().map {
            $0.components(separatedBy: "=").dropFirst().joined(separator: "=")
        }
        guard values.count == 5 else { throw TestProblem("openssl says: \(end.outputText)\(end.errors)") }
        let dates = values[3...].map { $0.replacingOccurrences(of: " ", with: "T") }
        return [values[0].replacingOccurrences(of: ":", with: "").lowercased(), values[1], values[2]] + dates
    }

    private static func certificate(_ index: Int, of interaction: [String: Any]) -> [String?] {
        ["sha256", "subject", "issuer", "notBefore", "notAfter"].map {
            CassetteFile.text("connection.tls.chain.\(index).\($0)", of: interaction)
        }
    }

    /// The registered names of ciphers by OpenSSL's names, which nginx prints.
    private static func cipherNames() throws -> [String: String] {
        let end = try ExternalProgram.run(try Programs.find("openssl"), ["ciphers", "-stdname", "ALL:@SECLEVEL=0"])
        let pairs = end.outputText.components(separatedBy: "\n").map { $0.components(separatedBy: " ").filter { !$0.isEmpty } }
        return Dictionary(pairs.filter { $0.count > 2 }.map { ($0[2], $0[0]) }) { first, _ in first }
    }

    @Test func theCassetteHasWhatTheOriginSaw() throws {
        let origins = try TLSOrigins()
        defer { origins.stop() }
        let certificates = origins.certificates
        let wanted: [(kind: Kind, host: String, chain: [String])] = [
            (.good, "localhost", ["good"]), (.good, "127.0.0.1", ["good"]), (.rsa, "localhost", ["rsa"]),
            (.tls10Only, "localhost", ["good"]), (.tls12Only, "localhost", ["good"]), (.tls13Only, "localhost", ["good"]),
            (.clientCertificate, "localhost", ["good"]), (.intermediate, "localhost", ["missing-intermediate", "intermediate-authority"]),
        ]
        let identity = "\(certificates.certificate("client")),\(certificates.key("client"))"
        let run = try Run(
            wanted.map { origins.url($0.kind, "tls", host: $0.host) },
            options: [
                "--upstream-ca", certificates.authority, "--upstream-tls-min", "1.0", "--client-cert",
                "localhost:\(origins.port(.clientCertificate))=\(identity)",
            ])
        #expect(!run.lines.contains { $0.contains("TLS") }, "\(run.lines)")
        let ciphers = try Self.cipherNames()
        for ((wanted, answer), interaction) in zip(zip(wanted, run.answers), run.interactions) {
            #expect(answer.status == "200", "\(wanted)")
            // Version, cipher, SNI, ALPN; then a dot for a session that was not resumed.
            let recorded = ["version", "cipher", "sni", "alpn"].map { CassetteFile.text("connection.tls.\($0)", of: interaction) ?? "" }
            var seen = answer.body.components(separatedBy: " ")
            seen[1] = ciphers[seen[1]] ?? seen[1]
            #expect(recorded == Array(seen[..<4]) && seen[4] == ".", "\(wanted)")
            #expect(seen[0] == ([.tls10Only: "TLSv1", .tls12Only: "TLSv1.2"][wanted.kind] ?? "TLSv1.3"), "\(wanted)")
            #expect(seen[2] == (wanted.host == "127.0.0.1" ? "" : wanted.host))
            #expect(CassetteFile.text("connection.tls.chain.\(wanted.chain.count)", of: interaction) == nil, "\(wanted)")
            for (index, name) in wanted.chain.enumerated() {
                #expect(try Self.certificate(index, of: interaction) == Self.certificate(certificates.certificate(name)), "\(wanted)")
            }
            #expect(CassetteFile.text("connection.remote", of: interaction) == "127.0.0.1:\(origins.port(wanted.kind))")
            #expect((CassetteFile.text("timing.tls", of: interaction).flatMap(Double.init) ?? 0) > 0, "\(wanted)")
        }
        #expect(run.answers[6].body.hasSuffix(" CN=Test client\n"))
    }

    @Test(arguments: [TLSOrigins.Kind.tls12Only, .tls13Only])
    private func aConnectionThatIsUsedAgainSaysSoAndAResumedSessionToo(kind: TLSOrigins.Kind) throws {
        let origins = try TLSOrigins()
        defer { origins.stop() }
        let folder = try TemporaryFolder()
        let cassette = folder.file("origins.json")
        let url = origins.url(kind, "tls")
        let closing = origins.url(kind, "tls-closing")
        // Three on one connection, which the origin closes; one on the next.
        let script = "\(Curl.line(url, url, closing)); \(Curl.line(url))"
        let end = try Wiretape.run(
            ["record", cassette, "--loops", "1", "--upstream-ca", origins.certificates.authority, "--", "sh", "-c", script])
        #expect(end.status == 0, "\(end.errors)")
        try CassetteFile.expectValid(cassette)
        let interactions = try CassetteFile.interactions(cassette)
        let reused = interactions.map { CassetteFile.text("connection.reused", of: $0) != nil }
        let chains = interactions.map { CassetteFile.text("connection.tls.chain", of: $0) != nil }
        let resumed = interactions.map { CassetteFile.text("connection.tls.resumed", of: $0) != nil }
        #expect(interactions.count == 4)
        #expect(reused == [false, true, true, false])
        #expect(chains == reused.map { !$0 })
        #expect(end.outputText.components(separatedBy: "\n").dropLast().map { $0.contains(" r ") } == resumed)
        #expect(resumed == [false, false, false, true])
    }

    // MARK: Bad origins

    /// An origin that is refused, and the options that allow it.
    private struct Bad {
        var port: Int
        /// In the wording of the line.
        var cause: String
        /// The options in the line. FILE and similar names mean `file`.
        var options: [[String]]
        var file = ""

        static func certificate(_ port: Int, _ cause: String, authority: String? = nil) -> Self {
            let insecure = ["--insecure-upstream", "localhost:\(port)"]
            return Self(
                port: port, cause: cause, options: authority == nil ? [insecure] : [["--upstream-ca", "FILE"], insecure],
                file: authority ?? "")
        }

        static func client(_ port: Int, identity: String) -> Self {
            Self(
                port: port, cause: "it requires a client certificate", options: [["--client-cert", "localhost:\(port)=CERT.pem,KEY.pem"]],
                file: identity)
        }

        func filled(_ option: [String]) -> [String] {
            option.map { $0.replacingOccurrences(of: "CERT.pem,KEY.pem", with: self.file) }.map { $0 == "FILE" ? self.file : $0 }
        }
    }

    private static func expectTold(_ bad: Bad, _ index: Int, of run: Run) {
        let lines = run.lines.filter { $0.hasPrefix("wiretape: TLS to \"localhost:\(bad.port)\": ") }
        #expect(lines.count == 1, "\(run.lines)")
        let line = lines.first ?? ""
        #expect(line.contains(bad.cause))
        for option in bad.options { #expect(line.contains(option.joined(separator: " "))) }
        let answer = run.answers[index]
        #expect(answer.status == "502" && answer.error == "tls" && answer.body.contains(bad.cause), "\(bad): \(answer)")
        let interaction = run.interactions[index]
        #expect(CassetteFile.text("request.url", of: interaction) == "https://localhost:\(bad.port)/pets.json")
        #expect(CassetteFile.text("outcome.failed", of: interaction) == "tls")
        #expect(CassetteFile.text("outcome.message", of: interaction).map { "wiretape: \($0)" } == line)
    }

    @Test func aBadOriginIsReportedWithAnOptionThatHelps() throws {
        let origins = try TLSOrigins()
        defer { origins.stop() }
        let certificates = origins.certificates
        let required = try Python.origin("tls_origin.py", ["client-required", certificates.folder.path])
        defer { required.program.stop() }
        let required12 = try Python.origin("tls_origin.py", ["client-required-1.2", certificates.folder.path])
        defer { required12.program.stop() }
        let identity = "\(certificates.certificate("client")),\(certificates.key("client"))"
        let wanted: [Bad] = [
            Bad(
                port: origins.port(.tls10Only), cause: "there is no TLS version that both sides support",
                options: [["--upstream-tls-min", "1.0"]]),
            .certificate(origins.port(.expired), #"the certificate "CN=origin.test" expired on 2021-01-01"#),
            .certificate(origins.port(.notYetValid), #"the certificate "CN=origin.test" is not valid before 2070-01-01"#),
            .certificate(origins.port(.wrongName), #"the certificate is for "other.test""#),
            .certificate(
                origins.port(.selfSigned), #"the certificate "CN=origin.test" is self-signed"#,
                authority: certificates.certificate("self-signed")),
            .certificate(
                origins.port(.unknownAuthority), #"the authority "CN=Unknown Test CA" is unknown"#,
                authority: certificates.certificate("other-authority")),
            .certificate(
                origins.port(.missingIntermediate),
                #"the authority "CN=Test Intermediate CA" is unknown, or the server does not send its certificate"#,
                authority: certificates.certificate("intermediate-authority")),
            .client(required.port, identity: identity), .client(required12.port, identity: identity),
        ]
        let urls = wanted.map { "https://localhost:\($0.port)/pets.json" }
        let always = ["--upstream-ca", certificates.authority]

        let run = try Run(urls, options: always)
        for (index, bad) in wanted.enumerated() { Self.expectTold(bad, index, of: run) }

        let first = wanted.flatMap { bad in bad.filled(bad.options[0]) }
        let last = wanted.flatMap { bad in bad.filled(bad.options[bad.options.count - 1]) }
        for options in [first, last] {
            let run = try Run(urls, options: always + options)
            #expect(run.answers.map(\.status) == wanted.map { _ in "200" }, "\(options): \(run.lines)")
            #expect(!run.lines.contains { $0.contains("TLS") }, "\(run.lines)")
        }
    }

    @Test(arguments: [
        ("closes", "it closed the connection during the handshake"), ("resets", "it broke the connection during the handshake"),
        ("plain", "what it sent is not TLS"),
    ])
    func anOriginThatSpeaksNoTLSIsReported(kind: String, cause: String) throws {
        let certificates = try TLSCertificates()
        let origin = try Python.origin("tls_origin.py", [kind, certificates.folder.path])
        defer { origin.program.stop() }
        let run = try Run(["https://127.0.0.1:\(origin.port)/"], options: ["--upstream-ca", certificates.authority])
        #expect(run.lines.contains { $0.hasPrefix("wiretape: TLS to \"127.0.0.1:\(origin.port)\": \(cause)") }, "\(run.lines)")
        #expect(run.answers[0].status == "502" && run.answers[0].error == "tls")
        #expect(CassetteFile.text("outcome.failed", of: run.interactions[0]) == "tls")
    }

    // MARK: Pins

    @Test func aPinAcceptsOnlyTheCertificateThatItNames() throws {
        let origins = try TLSOrigins()
        defer { origins.stop() }
        let certificates = origins.certificates
        let pin = { (name: String) in
            let script =
                "openssl x509 -in \"$0\" -pubkey -noout | openssl pkey -pubin -outform DER | openssl dgst -sha256 -binary | openssl base64"
            let end = try ExternalProgram.run("/bin/sh", ["-c", script, certificates.certificate(name)])
            return "sha256/" + end.outputText.components(separatedBy: "\n")[0]
        }
        let wanted: [(pins: [String], status: String)] = [
            ([try pin("good")], "200"), ([try pin("rsa"), try pin("good")], "200"), ([try pin("rsa")], "502"),
            ([certificates.certificate("good")], "200"), ([certificates.authority], "200"), ([certificates.certificate("rsa")], "502"),
        ]
        for (pins, status) in wanted {
            let options = pins.flatMap { ["--pin", "localhost=\($0)"] } + ["--upstream-ca", certificates.authority]
            let run = try Run([origins.url(.good)], options: options)
            #expect(run.answers[0].status == status, "\(pins): \(run.lines)")
            let told = run.lines.contains {
                $0.hasPrefix("wiretape: TLS to \"localhost:\(origins.port(.good))\": ") && $0.contains("--pin")
            }
            #expect(told == (status == "502"), "\(run.lines)")
        }
    }
}
