import Foundation
import Testing
import TapeTestSupport

/// Real clients over HTTPS, configured only by the recorder's environment: recorded, and again without the origin.
@Suite struct HTTPSClientTests {
    private static let paths = ["pets.json", "bytes.bin"]
    private static let bodies = Array(Nginx.pets.utf8) + Array(0...255)

    /// Expects the same output of a client after `record` and, without an origin, after `replay`: the bodies of `paths`.
    private static func expectTaped(
        _ client: [String], paths: [String] = Self.paths, options: [String] = [], prints bodies: [UInt8] = Self.bodies,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let origins = try TLSOrigins()
        defer { origins.stop() }
        try self.expectTaped(origins, count: paths.count, options: options, sourceLocation: sourceLocation) {
            client + paths.map { origins.url(.good, $0) }
        } check: {
            // The bytes are not shown: a page of them is not readable.
            let isSame = $0 == bodies
            #expect(isSame, "\($0.count) bytes for \(bodies.count)", sourceLocation: sourceLocation)
        }
    }

    private static func expectTaped(
        _ origins: TLSOrigins, count: Int, options: [String] = [], sourceLocation: SourceLocation, command: () -> [String],
        check: ([UInt8]) -> Void
    ) throws {
        let folder = try TemporaryFolder()
        let cassette = folder.file("client.json")
        let command = command()
        let record = try Wiretape.run(["record", cassette, "--upstream-ca", origins.certificates.authority] + options + ["--"] + command)
        #expect(record.status == 0, "\(record.errors)", sourceLocation: sourceLocation)
        check(record.output)
        #expect(record.errors.contains("wiretape: recorded \(count) exchange"), "\(record.errors)", sourceLocation: sourceLocation)
        #expect(!record.errors.contains("TLS"), "\(record.errors)", sourceLocation: sourceLocation)
        try CassetteFile.expectValid(cassette, sourceLocation: sourceLocation)
        for interaction in try CassetteFile.interactions(cassette) {
            #expect(CassetteFile.text("response.status", of: interaction) == "200", sourceLocation: sourceLocation)
            #expect(CassetteFile.text("connection.tls.version", of: interaction) == "TLSv1.3", sourceLocation: sourceLocation)
        }

        origins.stop()
        let replay = try Wiretape.run(["replay", cassette] + options + ["--"] + command)
        #expect(replay.status == 0, "\(replay.errors)", sourceLocation: sourceLocation)
        let isSame = replay.output == record.output
        #expect(isSame, "\(replay.outputText.prefix(500))", sourceLocation: sourceLocation)
        #expect(
            replay.errors.contains("wiretape: replayed \(count) of \(count) exchange") && !replay.errors.contains("miss"),
            "\(replay.errors)", sourceLocation: sourceLocation)
    }

    @Test func curl() throws { try Self.expectTaped(Curl.get()) }

    @Test func curlWithALargeBody() throws { try Self.expectTaped(Curl.get(), paths: ["large.bin"], prints: TLSOrigins.large) }

    @Test func curlWithTLS12() throws {
        try Self.expectTaped(Curl.get() + ["--tls-max", "1.2"])
    }

    @Test(.enabled("wget is not installed") { Programs.isInstalled("wget") }) func wget() throws {
        try Self.expectTaped(["wget", "--quiet", "--tries=1", "--timeout=20", "--output-document=-"])
    }

    @Test func pythonsUrllib() throws { try Self.expectTaped(["python3", Programs.fixture("https_client.py"), "urllib"]) }

    @Test(
        .enabled("requests and httpx are not there, and PyPI cannot be reached") { PythonPackages.python != nil },
        arguments: ["requests", "httpx"])
    func pythonsPackages(name: String) throws {
        try Self.expectTaped([try #require(PythonPackages.python), Programs.fixture("https_client.py"), name])
    }

    @Test(.enabled("node is not installed") { Programs.isInstalled("node") }, arguments: ["agent", "dispatcher"])
    func nodeWithAProxyOfTheProgramsOwn(kind: String) throws {
        try Self.expectTaped(["node", Programs.fixture("https_client.js"), kind])
    }

    /// NODE_USE_ENV_PROXY was added in 22.21 and 24.5.
    private static func nodeUsesEnvironment() throws -> Bool {
        guard Programs.isInstalled("node") else { return false }
        let version = try ExternalProgram.run(try Programs.find("node"), ["--print", "process.versions.node"]).outputText
        let numbers = version.components(separatedBy: ".").compactMap { Int($0) }
        return numbers.count > 1 && (numbers[0] > 24 || numbers[0] == 24 && numbers[1] >= 5 || numbers[0] == 22 && numbers[1] >= 21)
    }

    @Test(.enabled("this node has no NODE_USE_ENV_PROXY") { try Self.nodeUsesEnvironment() }) func nodesFetch() throws {
        try Self.expectTaped(["node", Programs.fixture("https_client.js"), "fetch"])
    }

    @Test(.enabled("java is not installed") { Programs.isInstalled("java") && Programs.isInstalled("javac") }) func javasClient() throws {
        try Self.expectTaped(["java", Programs.fixture("HTTPSClient.java")])
    }

    @Test func opensslsClient() throws {
        let origins = try TLSOrigins()
        defer { origins.stop() }
        try Self.expectTaped(origins, count: 1, sourceLocation: #_sourceLocation) {
            ["sh", Programs.fixture("s_client.sh"), "localhost", "\(origins.port(.good))", "/pets.json"]
        } check: {
            let text = String(decoding: $0, as: UTF8.self)
            #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n") && text.hasSuffix("\r\n\r\n" + Nginx.pets), "\(text)")
        }
    }

    #if os(Linux)
    /// libcurl inside Foundation reads none of the variables.
    @Test(
        .enabled(
            if: Programs.isInstalled("swiftc") && Namespaces.arePermitted, "there is no swiftc, or mount namespaces are forbidden here"))
    func urlSession() throws {
        let folder = try TemporaryFolder()
        let program = folder.file("URLSessionClient")
        let compiler = try ExternalProgram.run(
            try Programs.find("swiftc"), ["-parse-as-library", Programs.fixture("URLSessionClient.swift"), "-o", program])
        try #require(compiler.status == 0, "\(compiler.errors)")
        try Self.expectTaped([program], options: ["--trust", "namespace"])
    }
    #endif
}
