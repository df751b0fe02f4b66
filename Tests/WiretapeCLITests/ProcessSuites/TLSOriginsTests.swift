import Foundation
import Testing
import TapeTestSupport

/// The TLS origins are what they claim: curl accepts and refuses each of them for the intended reason.
@Suite struct TLSOriginsTests {
    private typealias Kind = TLSOrigins.Kind

    /// curl's result for an origin: the exit code, OpenSSL's verification result, and the status.
    private struct Result: Equatable, CustomStringConvertible {
        var exit: Int32
        var verification = "0"
        var status = "000"

        var description: String { "exit \(self.exit), verification \(self.verification), status \(self.status)" }

        static let done = Result(exit: 0, status: "200")
        /// Also if curl's own check of the name refuses: OpenSSL's result stays at "not verified".
        static let unverified = "1"
        static let noHandshake = Result(exit: 35, verification: Self.unverified)
        static func refused(_ verification: Int) -> Result { Result(exit: 60, verification: "\(verification)") }
    }

    private static func curl(_ url: String, _ certificates: TLSCertificates, _ options: [String] = []) throws -> (Result, body: String) {
        let folder = try TemporaryFolder()
        let always = ["-q", "--silent", "--max-time", "20", "--noproxy", "*", "--cacert", certificates.authority]
        let end = try ExternalProgram.run(
            try Programs.find("curl"),
            always + ["--output", folder.file("body"), "--write-out", "%{ssl_verify_result} %{http_code}"] + options + [url])
        let said = end.outputText.components(separatedBy: " ")
        let body = (try? folder.read("body")) ?? []
        return (
            Result(exit: end.status, verification: said.first ?? "", status: said.last ?? ""), body: String(decoding: body, as: UTF8.self)
        )
    }

    @Test func curlTakesAndRefusesEachKindForItsReason() throws {
        let origins = try TLSOrigins()
        defer { origins.stop() }
        let certificates = origins.certificates
        let legacy = ["--tlsv1.0", "--tls-max", "1.0", "--ciphers", "DEFAULT@SECLEVEL=0"]
        let client = ["--cert", certificates.certificate("client"), "--key", certificates.key("client")]
        let unknownClient = ["--cert", certificates.certificate("unknown-client"), "--key", certificates.key("unknown-client")]
        // Verification: the X509_V_ERR numbers of openssl-verification-options(1).
        let wanted: [(Kind, [String], Result)] = [
            (.good, [], .done), (.rsa, [], .done),
            (.tls10Only, [], .noHandshake), (.tls10Only, legacy, .done),
            (.tls12Only, [], .done), (.tls12Only, ["--tlsv1.3"], .noHandshake),
            (.tls13Only, [], .done), (.tls13Only, ["--tls-max", "1.2"], .noHandshake),
            (.clientCertificate, [], Result(exit: 0, status: "400")), (.clientCertificate, client, .done),
            (.clientCertificate, unknownClient, Result(exit: 0, status: "400")),
            (.expired, [], .refused(10)), (.notYetValid, [], .refused(9)),
            (.wrongName, [], Result(exit: 60, verification: Result.unverified)), (.selfSigned, [], .refused(18)),
            (.unknownAuthority, [], .refused(20)), (.intermediate, [], .done), (.missingIntermediate, [], .refused(20)),
        ]
        #expect(Set(wanted.map(\.0)) == Set(Kind.allCases))
        for (kind, options, result) in wanted {
            let found = try Self.curl(origins.url(kind), certificates, options)
            #expect(found.0 == result, "\(kind) \(options)")
            #expect((found.body == Nginx.pets) == (result == .done), "\(kind) \(options)")
        }
        let otherName = try Self.curl(
            origins.url(.wrongName, host: "other.test"), certificates, ["--resolve", "other.test:\(origins.port(.wrongName)):127.0.0.1"])
        #expect(otherName.0 == .done)
    }

    @Test func theOriginSaysWhatItSaw() throws {
        let origins = try TLSOrigins()
        let client = ["--cert", origins.certificates.certificate("client"), "--key", origins.certificates.key("client")]
        let seen = { (kind: Kind, host: String, options: [String]) in
            try Self.curl(
                origins.url(kind, "tls", host: host), origins.certificates,
                ["--http1.1", "--resolve", "origin.test:\(origins.port(kind)):127.0.0.1"] + options
            ).body
        }
        #expect(try seen(.tls13Only, "origin.test", []) == "TLSv1.3 TLS_AES_256_GCM_SHA384 origin.test http/1.1 . \n")
        #expect(try seen(.tls12Only, "127.0.0.1", []) == "TLSv1.2 ECDHE-ECDSA-AES256-GCM-SHA384  http/1.1 . \n")
        #expect(try seen(.rsa, "localhost", ["--tls-max", "1.2"]) == "TLSv1.2 ECDHE-RSA-AES256-GCM-SHA384 localhost http/1.1 . \n")
        #expect(try seen(.clientCertificate, "localhost", client).hasSuffix(" CN=Test client\n"))
    }

    @Test func oddOriginsEndAsTheySay() throws {
        let certificates = try TLSCertificates()
        let client = ["--cert", certificates.certificate("client"), "--key", certificates.key("client")]
        let stranger = ["--cert", certificates.certificate("unknown-client"), "--key", certificates.key("unknown-client")]
        // curl: 28 is a timeout, 35 a failed handshake, 55 a failed write, 56 a failed read.
        let wanted: [(kind: String, options: [String], exits: [Int32], body: String)] = [
            ("clean", [], [0], "hello nobody\n"),
            ("client-required", [], [55, 56], ""), ("client-required", stranger, [55, 56], ""),
            ("client-required", client, [0], "hello Test client\n"),
            ("client-required-1.2", [], [35], ""), ("client-required-1.2", client, [0], "hello Test client\n"),
            ("closes", [], [35], ""), ("resets", [], [35], ""), ("plain", [], [35], ""),
            ("silent", ["--connect-timeout", "0.2"], [28], ""),
        ]
        for (kind, options, exits, body) in wanted {
            let origin = try Python.origin("tls_origin.py", [kind, certificates.folder.path])
            defer { origin.program.stop() }
            let found = try Self.curl("https://127.0.0.1:\(origin.port)/", certificates, options)
            #expect(exits.contains(found.0.exit), "\(kind) \(options): \(found.0)")
            #expect(found.body == body, "\(kind) \(options)")
        }
    }

    /// Only `openssl s_client` distinguishes them: curl treats the end of the connection as the end of the body.
    @Test(arguments: [("clean", false), ("truncated", true)])
    func anEndWithoutCloseNotifyIsSeen(kind: String, isTruncated: Bool) throws {
        let certificates = try TLSCertificates()
        let origin = try Python.origin("tls_origin.py", [kind, certificates.folder.path])
        defer { origin.program.stop() }
        let request = "printf 'GET / HTTP/1.0\\r\\n\\r\\n' | openssl s_client -quiet -connect 127.0.0.1:\(origin.port)"
        let end = try ExternalProgram.run("/bin/sh", ["-c", request])
        #expect(end.outputText.hasSuffix("hello nobody\n"))
        #expect(end.errors.contains("unexpected eof while reading") == isTruncated, "\(end.errors)")
    }

    @Test func gitClonesOverTLS() throws {
        let certificates = try TLSCertificates()
        let folder = try TemporaryFolder()
        let git = { (arguments: [String]) in
            try ExternalProgram.run(
                try Programs.find("git"), ["-c", "user.name=Bori", "-c", "user.email=bori@example.test"] + arguments,
                environment: ["GIT_SSL_CAINFO": certificates.authority], directory: folder.path)
        }
        #expect(try git(["init", "--quiet", "repositories/pets"]).status == 0)
        #expect(try git(["-C", "repositories/pets", "commit", "--quiet", "--allow-empty", "--message", "Begin"]).status == 0)
        let origin = try Python.origin(
            "git_origin.py", [folder.file("repositories"), certificates.certificate("good"), certificates.key("good")])
        defer { origin.program.stop() }
        let url = "https://127.0.0.1:\(origin.port)/pets/.git"
        let clone = try git(["clone", "--quiet", url, "cloned"])
        #expect(clone.status == 0, "\(clone.errors)")
        #expect(try git(["-C", "cloned", "log", "--format=%s"]).outputText == "Begin\n")
    }
}
