import Testing
import TapeTestSupport

/// Real clients without proxy settings or trust: URLs in the path, redirects and cookies, recorded, and again without the origin.
@Suite struct ReverseClientTests {
    private func expectTaped(
        _ client: [String], prints lines: (_ origin: String) -> [String], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let certificates = try TLSCertificates()
        let (origin, port) = try Python.origin("leading_origin.py", [certificates.folder.path])
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let cassette = folder.file("client.json")
        let command = client.map { $0 == "ORIGIN" ? "https://localhost:\(port)" : $0 }
        let record = try Wiretape.run(["record", cassette, "--upstream-ca", certificates.authority, "--"] + command)
        #expect(record.status == 0, "\(record.errors)", sourceLocation: sourceLocation)
        #expect(record.outputText == lines("localhost:\(port)").joined(separator: "\n") + "\n", sourceLocation: sourceLocation)
        try CassetteFile.expectValid(cassette, sourceLocation: sourceLocation)
        for interaction in try CassetteFile.interactions(cassette) {
            let url = CassetteFile.text("request.url", of: interaction) ?? ""
            #expect(url.hasPrefix("https://localhost:\(port)/"), sourceLocation: sourceLocation)
            #expect(CassetteFile.text("connection.tls.version", of: interaction) == "TLSv1.3", sourceLocation: sourceLocation)
        }

        origin.stop()
        let replay = try Wiretape.run(["replay", cassette, "--fail-on", "miss,unused", "--"] + command)
        #expect(replay.status == 0, "\(replay.errors)", sourceLocation: sourceLocation)
        #expect(replay.outputText == record.outputText, sourceLocation: sourceLocation)
    }

    @Test(arguments: [[], ["proxied"]]) func curl(more: [String]) throws {
        try self.expectTaped(["sh", Programs.fixture("reverse_client.sh"), "ORIGIN"] + more) {
            [
                "GET /deep/end \($0) a=1; b=2 0", "GET /made/7 \($0) a=1; b=2 0", "PUT /files/a?v=1 \($0) a=1; b=2 10",
                "https://\($0)/hop?x=1",
            ]
        }
    }

    @Test func pythonsUrllib() throws {
        try self.expectTaped(["python3", Programs.fixture("reverse_client.py"), "ORIGIN"]) {
            ["GET /deep/end \($0) a=1; b=2 0", "GET /made/7 \($0) a=1; b=2 0", "POST /echo \($0) a=1; b=2 10"]
        }
    }
}
