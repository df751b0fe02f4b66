#if os(Linux)
import Testing
import TapeTestSupport

/// FoundationNetworking's URLSession in a process of its own: over `http_proxy` in cleartext, over https in a namespace, and with URLs in
/// the path.
@Suite struct URLSessionTests {
    private func expectTaped(
        _ command: [String], origin: ExternalProgram, count: Int, options: [String] = [], recordOptions: [String] = [], prints text: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let folder = try TemporaryFolder()
        let cassette = folder.file("client.json")
        let record = try Wiretape.run(["record", cassette] + recordOptions + options + ["--"] + command)
        #expect(record.status == 0 && record.outputText == text, "\(record.outputText)\(record.errors)", sourceLocation: sourceLocation)
        #expect(try CassetteFile.interactions(cassette).count == count, sourceLocation: sourceLocation)
        try CassetteFile.expectValid(cassette, sourceLocation: sourceLocation)
        origin.stop()
        let replay = try Wiretape.run(["replay", cassette, "--fail-on", "miss,unused"] + options + ["--"] + command)
        #expect(replay.status == 0 && replay.outputText == text, "\(replay.outputText)\(replay.errors)", sourceLocation: sourceLocation)
    }

    private static func lines(_ host: String) -> String {
        [
            "200 GET /get?q=1 \(host) no cookie 0", "200 POST /post \(host) no cookie 13", "200 PUT /data \(host) no cookie 100000",
            "200 POST /file \(host) no cookie 300000", "200 GET /download \(host) no cookie 0", "200 GET /made/7 \(host) no cookie 0",
            "200 GET /one \(host) no cookie 0", "200 GET /two \(host) no cookie 0",
        ].joined(separator: "\n") + "\n"
    }

    @Test(.enabled(if: SwiftFixture.isBuildable, "swiftc is not installed")) func everyKindOfTaskInClearOverTheProxy() throws {
        let folder = try TemporaryFolder()
        let program = try SwiftFixture.build("URLSessionWork", into: folder)
        let (origin, port) = try Python.origin("leading_origin.py")
        defer { origin.stop() }
        try self.expectTaped(
            [program, "http://localhost:\(port)", folder.path], origin: origin, count: 9, options: ["--trust", "env"],
            prints: Self.lines("localhost:\(port)"))
    }

    @Test(.enabled(if: SwiftFixture.isBuildable && Namespaces.arePermitted, "there is no swiftc, or mount namespaces are forbidden here"))
    func httpsInANamespaceOfItsOwn() throws {
        let folder = try TemporaryFolder()
        let program = try SwiftFixture.build("URLSessionWork", into: folder)
        let certificates = try TLSCertificates()
        let (origin, port) = try Python.origin("leading_origin.py", [certificates.folder.path])
        defer { origin.stop() }
        try self.expectTaped(
            [program, "https://localhost:\(port)", folder.path], origin: origin, count: 9, options: ["--trust", "namespace"],
            recordOptions: ["--upstream-ca", certificates.authority], prints: Self.lines("localhost:\(port)"))
    }

    /// Without root and trust: redirects go through the proxy too.
    @Test(.enabled(if: SwiftFixture.isBuildable, "swiftc is not installed")) func httpsByURLsInThePath() throws {
        let folder = try TemporaryFolder()
        let program = try SwiftFixture.build("URLSessionWork", into: folder)
        let certificates = try TLSCertificates()
        let (origin, port) = try Python.origin("leading_origin.py", [certificates.folder.path])
        defer { origin.stop() }
        try self.expectTaped(
            ["sh", "-c", "exec \"$1\" \"${WIRETAPE_REVERSE}https://localhost:$2\" \"$3\"", "sh", program, "\(port)", folder.path],
            origin: origin,
            count: 9, options: ["--trust", "env"], recordOptions: ["--upstream-ca", certificates.authority],
            prints: Self.lines("localhost:\(port)"))
    }
}
#endif
