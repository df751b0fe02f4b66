import Foundation
import TapeTestSupport
import Testing

/// HTTP/2 between real programs: recorded, and replayed without the origin, to clients of either version.
@Suite struct HTTP2Tests {
    /// An nginx that offers HTTP/2 over TLS, and HTTP/1.1 to clients without it.
    private final class Origin {
        let certificates: TLSCertificates
        private let folder = Result { try TemporaryFolder() }
        private let process: NginxProcess

        init() throws {
            let certificates = try TLSCertificates()
            let folder = try self.folder.get()
            try folder.write(Nginx.pets.utf8, to: "site/pets.json")
            try folder.write(TLSOrigins.large, to: "site/large.bin")
            self.certificates = certificates
            self.process = try NginxProcess(folder: folder, ports: 1) { ports in
                """
                server {
                    listen 127.0.0.1:\(ports[0]) ssl http2;
                    ssl_certificate \(certificates.certificate("good"));
                    ssl_certificate_key \(certificates.key("good"));
                    root \(folder.path)/site;
                    location = /version { return 200 "$server_protocol\\n"; }
                    location = /none { return 204; }
                }
                """
            }
        }

        func url(_ path: String) -> String { "https://localhost:\(self.process.ports[0])/\(path)" }

        func stop() { self.process.stop() }
    }

    private func record(_ cassette: String, _ origin: Origin, options: [String] = [], _ command: [String]) throws -> ExternalProgram.Ended {
        let end = try Wiretape.run(["record", cassette, "--upstream-ca", origin.certificates.authority] + options + ["--"] + command)
        #expect(end.status == 0, "\(end.errors)")
        return end
    }

    private func replay(_ cassette: String, options: [String] = [], _ command: [String]) throws -> ExternalProgram.Ended {
        let end = try Wiretape.run(["replay", cassette, "--fail-on", "miss,unused"] + options + ["--"] + command)
        #expect(end.status == 0, "\(end.errors)")
        return end
    }

    private func curl(_ options: String..., urls: [String]) -> [String] {
        ["curl", "-q", "--silent", "--show-error", "--max-time", "20", "--write-out", "%{http_version} %{http_code}\n"] + options + urls
    }

    @Test func aClientGetsTheProtocolOfItsOriginAndOfTheReplay() throws {
        let origin = try Origin()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let cassette = folder.file("h2.json")
        let urls = ["version", "pets.json", "none"].map(origin.url)
        let recorded = try self.record(cassette, origin, self.curl("--http2", urls: urls))
        #expect(recorded.outputText == "HTTP/2.0\n2 200\n" + Nginx.pets + "2 200\n2 204\n")
        let interactions = try CassetteFile.interactions(cassette)
        #expect(interactions.map { CassetteFile.text("request.version", of: $0) } == ["HTTP/2.0", "HTTP/2.0", "HTTP/2.0"])
        #expect(interactions.map { CassetteFile.text("response.version", of: $0) } == ["HTTP/2.0", "HTTP/2.0", "HTTP/2.0"])
        #expect(interactions.map { CassetteFile.text("connection.tls.alpn", of: $0) }[0] == "h2")
        #expect(interactions.map { CassetteFile.text("connection.id", of: $0) } == ["1", "1", "1"])
        try CassetteFile.expectValid(cassette)

        origin.stop()
        #expect(try self.replay(cassette, self.curl("--http2", urls: urls)).outputText == recorded.outputText)
        #expect(
            try self.replay(cassette, self.curl("--http1.1", urls: urls)).outputText
                == recorded.outputText.replacingOccurrences(of: "\n2 ", with: "\n1.1 "))
        #expect(
            try self.replay(cassette, options: ["--client-http2", "never"], self.curl("--http2", urls: urls)).outputText
                .contains("1.1 204"))
    }

    @Test func http1RecordingIsReplayedInHTTP1ByDefault() throws {
        let origin = try Origin()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let cassette = folder.file("h1.json")
        let recorded = try self.record(cassette, origin, self.curl("--http1.1", urls: [origin.url("version")]))
        #expect(recorded.outputText == "HTTP/1.1\n1.1 200\n")
        origin.stop()
        #expect(try self.replay(cassette, self.curl("--http2", urls: [origin.url("version")])).outputText == recorded.outputText)
        #expect(
            try self.replay(cassette, options: ["--client-http2", "always"], self.curl("--http2", urls: [origin.url("version")])).outputText
                == "HTTP/1.1\n2 200\n")
    }

    /// Both directions of a translation while forwarding: HTTP/2 to an HTTP/1.1 origin, with and without TLS.
    @Test func aClientOfHTTP2ReachesAnOriginOfHTTP1() throws {
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let folder = try TemporaryFolder()
        let cassette = folder.file("mixed.json")
        let url = "http://127.0.0.1:\(origin.port)/echo"
        let command = self.curl("--http2-prior-knowledge", "--proxytunnel", urls: [url])
        let recorded = try Wiretape.run(["record", cassette, "--"] + command)
        #expect(recorded.status == 0 && recorded.outputText.hasSuffix("2 200\n"), "\(recorded.outputText)\(recorded.errors)")
        let interaction = try #require(try CassetteFile.interactions(cassette).first)
        #expect(CassetteFile.text("request.version", of: interaction) == "HTTP/2.0")
        #expect(CassetteFile.text("response.version", of: interaction) == "HTTP/1.1")
        origin.program.stop()
        #expect(try self.replay(cassette, command).outputText == recorded.outputText)
    }

    @Test func aLargeBodyPassesTheWindowsOfBothSides() throws {
        let origin = try Origin()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let cassette = folder.file("large.json")
        let command = ["curl", "-q", "--silent", "--show-error", "--max-time", "20", "--http2", origin.url("large.bin")]
        #expect(try self.record(cassette, origin, command).output == TLSOrigins.large)
        origin.stop()
        #expect(try self.replay(cassette, command).output == TLSOrigins.large)
    }

    @Test func aThousandRequestsOnFewConnections() throws {
        let origin = try Origin()
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let cassette = folder.file("many.json")
        let proxy = try Wiretape.listening(["record", cassette, "--upstream-ca", origin.certificates.authority])
        defer { proxy.program.stop() }
        let load = try ExternalProgram.run(
            try Programs.find("h2load"),
            ["-n", "1000", "-c", "4", "-m", "32", "http://127.0.0.1:\(proxy.port)/\(origin.url("pets.json"))"])
        #expect(load.outputText.contains("1000 succeeded, 0 failed"), "\(load.outputText)")
        proxy.program.send(SIGTERM)
        #expect(try proxy.program.end().status == 0, "\(proxy.program.errors)")
        let interactions = try CassetteFile.interactions(cassette)
        #expect(interactions.count == 1000)
        #expect(Set(interactions.compactMap { CassetteFile.text("response.body.size", of: $0) }) == ["\(Nginx.pets.utf8.count)"])
        // One connection for each event loop, and for requests that waited for none.
        #expect(Set(interactions.compactMap { CassetteFile.text("connection.id", of: $0) }).count <= 4)
    }

    /// Calls of all four kinds, with a client and a server of Google's library.
    @Test(.enabled("grpcio is not there, and PyPI cannot be reached") { PythonPackages.python != nil })
    func callsOfGRPC() throws {
        let python = try #require(PythonPackages.python)
        let script = Programs.fixture("grpc_pets.py")
        let server = try ExternalProgram(python, [script, "serve"])
        defer { server.stop() }
        let port = try server.port()
        let folder = try TemporaryFolder()
        let cassette = folder.file("grpc.json")
        let direct = try ExternalProgram.run(python, [script, "call", "\(port)"])
        #expect(direct.outputText.contains("there is no such pet"), "\(direct.errors)")
        let call = [python, script, "call", "\(port)"]
        let recorded = try Wiretape.run(["record", cassette, "--"] + call)
        #expect(recorded.status == 0 && recorded.outputText == direct.outputText, "\(recorded.outputText)\(recorded.errors)")
        #expect(try CassetteFile.interactions(cassette).count == 6)
        server.stop()
        #expect(try self.replay(cassette, call).outputText == direct.outputText)
    }
}
