import Foundation
import Testing
import TapeTestSupport

/// Real clients that do not trust the recorder: one line reports it, the cassette has the failed tunnel if the client says why, and the exit
/// code is the client's.
@Suite struct HTTPSDistrustTests {
    /// - Parameters:
    ///   - exit: the client's expected exit code; nil for any failure.
    ///   - isRecorded: whether the failure is an exchange. A connection that is left without an alert may be a spare one.
    private static func expectTold(
        _ client: [String], exit: Int32? = nil, isRecorded: Bool = true, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let origins = try TLSOrigins()
        defer { origins.stop() }
        let folder = try TemporaryFolder()
        let cassette = folder.file("client.json")
        let authority = "localhost:\(origins.port(.good))"

        let end = try Wiretape.run(
            ["record", cassette, "--trust", "env", "--upstream-ca", origins.certificates.authority, "--", "env"]
                + ["CURL_CA_BUNDLE", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "WGETRC"].flatMap { ["-u", $0] } + client
                + [origins.url(.good)])
        #expect(exit.map { $0 == end.status } ?? (end.status != 0), "\(end.status)", sourceLocation: sourceLocation)
        #expect(end.output.isEmpty, sourceLocation: sourceLocation)
        // The client may be in the middle of one of its own lines.
        let lines = end.errors.components(separatedBy: "\n").compactMap { line in
            line.range(of: "wiretape: TLS from the client for \"\(authority)\": ").map { String(line[$0.lowerBound...]) }
        }
        #expect(lines.count == 1, "\(end.errors)", sourceLocation: sourceLocation)
        let line = try #require(lines.first)
        for part in ["the client ", "\"wiretape ca install\"", "--passthrough \(authority) "] {
            #expect(line.contains(part), "\(line)", sourceLocation: sourceLocation)
        }

        guard isRecorded else {
            #expect(try folder.names().allSatisfy { !$0.hasSuffix(".json") }, sourceLocation: sourceLocation)
            return
        }
        try CassetteFile.expectValid(cassette, sourceLocation: sourceLocation)
        let interactions = try CassetteFile.interactions(cassette)
        // A client may try more than once: it refuses every certificate of the recorder.
        #expect(!interactions.isEmpty, sourceLocation: sourceLocation)
        for interaction in interactions {
            let recorded = ["request.method", "request.url", "request.target", "response.status", "outcome.failed", "outcome.message"].map {
                CassetteFile.text($0, of: interaction)
            }
            #expect(
                recorded == ["CONNECT", "https://\(authority)/", authority, nil, "tls", String(line.dropFirst("wiretape: ".count))],
                sourceLocation: sourceLocation)
        }
    }

    @Test func curl() throws { try Self.expectTold(Curl.get(), exit: 60) }

    @Test func pythonsUrllib() throws { try Self.expectTold(["python3", Programs.fixture("https_client.py"), "urllib"], exit: 1) }

    /// Node and Java close the connection without an alert.
    @Test(.enabled("node is not installed") { Programs.isInstalled("node") }, arguments: ["agent", "dispatcher"])
    func node(kind: String) throws {
        try Self.expectTold(["node", Programs.fixture("https_client.js"), kind], exit: 1, isRecorded: false)
    }

    /// wget with GnuTLS checks the certificate after the handshake: the recorder only sees a client that disconnects.
    @Test(.enabled("wget is not installed") { Programs.isInstalled("wget") }) func wget() throws {
        try Self.expectTold(["wget", "--quiet", "--tries=1", "--timeout=20", "--output-document=-"], exit: 5, isRecorded: false)
    }

    @Test func clientThatLeavesAfterTheHandshakeIsReported() throws {
        let script = "url=${1#https://}; openssl s_client -brief -proxy \"${https_proxy#http://}\" -connect \"${url%%/*}\" </dev/null"
        try Self.expectTold(["sh", "-c", script, "sh"], exit: 0, isRecorded: false)
    }

    @Test(.enabled("java is not installed") { Programs.isInstalled("java") && Programs.isInstalled("javac") }) func javasClient() throws {
        // The same proxy without the trust settings.
        let script = """
            proxy=${https_proxy#http://}
            exec java -Dhttps.proxyHost="${proxy%:*}" -Dhttps.proxyPort="${proxy#*:}" -Dhttp.nonProxyHosts= "$@"
            """
        try Self.expectTold(
            ["-u", "JAVA_TOOL_OPTIONS", "sh", "-c", script, "sh", Programs.fixture("HTTPSClient.java")], exit: 1, isRecorded: false)
    }

    /// A cassette never has an answer for a client that trusts nobody: a replay reports the cause anyway.
    @Test func aReplayTellsOfItToo() throws {
        let folder = try TemporaryFolder()
        let cassette = try folder.write("{ \"wiretape\": 1, \"interactions\": [] }\n".utf8, to: "client.json")
        let end = try Wiretape.run(
            ["replay", cassette, "--trust", "env", "--", "env", "-u", "CURL_CA_BUNDLE", "-u", "SSL_CERT_FILE"]
                + Curl.get("https://origin.test/"))
        #expect(end.status == 60)
        #expect(
            end.errors.contains("wiretape: TLS from the client for \"origin.test\": the client rejected wiretape's certificate"),
            "\(end.errors)")
    }
}
