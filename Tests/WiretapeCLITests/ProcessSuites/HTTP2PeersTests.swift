import Foundation
import TapeTestSupport
import Testing

/// HTTP/2 with common programs: each gets the same result directly, recorded, and replayed without the origin.
@Suite struct HTTP2PeersTests {
    private func record(
        _ cassette: String, _ origin: HTTP2Origin, _ command: [String], environment: [String: String] = [:]
    ) throws -> ExternalProgram.Ended {
        let end = try Wiretape.run(
            ["record", cassette, "--upstream-ca", origin.certificates.authority, "--"] + command, environment: environment)
        #expect(end.status == 0, "\(end.errors)")
        return end
    }

    private func replay(_ cassette: String, _ command: [String]) throws -> ExternalProgram.Ended {
        let end = try Wiretape.run(["replay", cassette, "--fail-on", "miss,unused", "--"] + command)
        #expect(end.status == 0, "\(end.errors)")
        return end
    }

    private func direct(_ origin: HTTP2Origin, _ command: [String]) throws -> ExternalProgram.Ended {
        let authority = origin.certificates.authority
        let end = try ExternalProgram.run(
            try Programs.find(command[0]), Array(command.dropFirst()),
            environment: ["SSL_CERT_FILE": authority, "CURL_CA_BUNDLE": authority])
        #expect(end.status == 0, "\(end.errors)")
        return end
    }

    /// The content of the cassette, which is more than its clients see.
    private func expectHTTP2(_ cassette: String, count: Int) throws -> [[String: Any]] {
        try CassetteFile.expectValid(cassette)
        let interactions = try CassetteFile.interactions(cassette)
        #expect(interactions.count == count)
        for interaction in interactions {
            #expect(CassetteFile.text("request.version", of: interaction) == "HTTP/2.0")
            #expect(CassetteFile.text("response.version", of: interaction) == "HTTP/2.0")
        }
        return interactions
    }

    // MARK: Servers

    /// A body of 1 MiB, a small one on the same connection, and trailers if the server sends them.
    @Test(arguments: HTTP2Origin.Kind.allCases.filter(\.isThere)) func everyServer(kind: HTTP2Origin.Kind) throws {
        let origin = try HTTP2Origin(kind)
        let folder = try TemporaryFolder()
        let cassette = folder.file("server.json")
        let command =
            Curl.get() + ["--http2", "--write-out", "%{http_version} %{http_code}\n", origin.url("mebibyte.bin"), origin.url("pets.json")]
        let direct = try self.direct(origin, command).output
        let shown = HTTP2Origin.mebibyte + Array("2 200\n\(Nginx.pets)2 200\n".utf8)
        #expect(direct == shown)
        #expect(try self.record(cassette, origin, command).output == direct)
        let interactions = try self.expectHTTP2(cassette, count: 2)
        let trailers = interactions.compactMap { CassetteFile.text("response.trailers.0", of: $0) }
        switch kind {
        case .nghttpd, .nghttpx, .haproxy: #expect(trailers == ["x-end: yes", "x-end: yes"])
        case .node: #expect(trailers == ["x-size: \(HTTP2Origin.mebibyte.count)", "x-size: \(Nginx.pets.utf8.count)"])
        case .hypercorn: #expect(trailers.isEmpty)
        }
        origin.stop()
        #expect(try self.replay(cassette, command).output == direct)
    }

    // MARK: Clients

    @Test func nodesClient() throws {
        try self.programsClient([try Programs.find("node"), Programs.fixture("h2_peer.js"), "get"])
    }

    @Test(.enabled("httpx is not there, and PyPI cannot be reached") { PythonPackages.python != nil }) func httpxsClient() throws {
        try self.programsClient([try #require(PythonPackages.python), Programs.fixture("h2_peer.py"), "get"])
    }

    /// Several concurrent requests on one connection, whose answers the client prints.
    private func programsClient(_ program: [String]) throws {
        let origin = try HTTP2Origin()
        let folder = try TemporaryFolder()
        let cassette = folder.file("client.json")
        let command = program + ["pets.json", "mebibyte.bin", "style.css", "script.js"].map(origin.url)
        let authority = origin.certificates.authority
        let direct = try ExternalProgram.run(command[0], Array(command.dropFirst()), environment: ["SSL_CERT_FILE": authority])
        #expect(direct.status == 0 && direct.output.count > 200, "\(direct.errors)")
        #expect(try self.record(cassette, origin, command).output == direct.output)
        _ = try self.expectHTTP2(cassette, count: 4)
        origin.stop()
        #expect(try self.replay(cassette, command).output == direct.output)
    }

    /// Clients without proxy support use the URL in the path.
    enum Plain: String, Sendable, CaseIterable { case curl, nghttp, nghttpx, haproxy }

    @Test(arguments: Plain.allCases) func everyClientByPriorKnowledge(client: Plain) throws {
        let origin = try HTTP2Origin()
        let direct = try self.direct(origin, Curl.get(origin.url("mebibyte.bin"))).output
        let folder = try TemporaryFolder()
        let cassette = folder.file("plain.json")
        let recorder = try Wiretape.listening(["record", cassette, "--upstream-ca", origin.certificates.authority])
        defer { recorder.program.stop() }
        #expect(try self.ask(client, recorder.port, origin.url("mebibyte.bin")) == direct)
        let end = try recorder.program.end()
        #expect(end.status == 0, "\(end.errors)")
        let interaction = try #require(try self.expectHTTP2(cassette, count: 1).first)
        #expect(CassetteFile.text("request.url", of: interaction) == origin.url("mebibyte.bin"))

        origin.stop()
        let player = try Wiretape.listening(["replay", cassette, "--fail-on", "miss,unused"])
        defer { player.program.stop() }
        #expect(try self.ask(client, player.port, origin.url("mebibyte.bin")) == direct)
        #expect(try player.program.end().status == 0, "\(player.program.errors)")
    }

    private func ask(_ client: Plain, _ port: Int, _ url: String) throws -> [UInt8] {
        let proxy = "http://127.0.0.1:\(port)"
        switch client {
        case .curl: return try self.output("curl", Array(Curl.get("\(proxy)/\(url)").dropFirst()) + ["--http2-prior-knowledge"])
        case .nghttp: return try self.output("nghttp", ["\(proxy)/\(url)"])
        case .nghttpx:
            return try self.through("nghttpx", path: "/" + url) {
                HTTP2Origin.nghttpx("127.0.0.1,\($0);no-tls", backend: "127.0.0.1,\(port)")
            }
        case .haproxy:
            let parts = url.components(separatedBy: "/mebibyte.bin")
            let folder = try TemporaryFolder()
            return try self.through("haproxy", path: "/mebibyte.bin") {
                try HTTP2Origin.haproxy(
                    folder, bind: "127.0.0.1:\($0)", server: "127.0.0.1:\(port) proto h2",
                    rules: "http-request set-path /\(parts[0])%[path]")
            }
        }
    }

    /// With curl, through a program that translates its HTTP/1 to HTTP/2.
    private func through(_ name: String, path: String, _ arguments: (Int) throws -> [String]) throws -> [UInt8] {
        let (program, port) = try HTTP2Origin.listening(name, arguments)
        defer { program.stop() }
        return try self.output("curl", Array(Curl.get("http://127.0.0.1:\(port)\(path)").dropFirst()))
    }

    private func output(_ name: String, _ arguments: [String]) throws -> [UInt8] {
        let end = try ExternalProgram.run(try Programs.find(name), arguments)
        #expect(end.status == 0, "\(end.errors)")
        return end.output
    }

    // MARK: A browser

    private static let chromium = ["chromium", "chromium-browser", "google-chrome"].first(where: Programs.isInstalled)

    /// It has its own list of authorities, and does not read ours. Names with a dot bypass the proxy and lead nowhere: the browser sends
    /// its vendor many requests that the page does not need.
    private static let browse = """
        profile=$(mktemp -d) && trap 'rm -rf "$profile"' EXIT
        "$0" --headless=new --no-sandbox --disable-gpu --no-first-run --disable-dev-shm-usage --disable-background-networking \
            --disable-component-update --user-data-dir="$profile" --ignore-certificate-errors \
            ${https_proxy:+--proxy-server="$https_proxy"} '--proxy-bypass-list=<-loopback>;*.*' \
            '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1' --virtual-time-budget=10000 --dump-dom "$1"
        """

    @Test(.enabled("Chromium is not installed") { Self.chromium != nil }) func aPageInChromium() throws {
        let origin = try HTTP2Origin()
        let folder = try TemporaryFolder()
        let cassette = folder.file("page.json")
        let command = ["sh", "-c", Self.browse, try Programs.find(try #require(Self.chromium)), origin.url("page.html")]
        let recorded = try self.record(cassette, origin, command).outputText
        let seen = "/page.html h2, /pets.json h2, /script.js h2, /style.css h2"
        #expect(
            recorded.contains(Nginx.pets.trimmingCharacters(in: .newlines)) && recorded.contains("rgb(1, 2, 3): \(seen)"), "\(recorded)")
        let page = try CassetteFile.interactions(cassette).filter { CassetteFile.text("request.version", of: $0) == "HTTP/2.0" }
        #expect(page.count >= 4)
        origin.stop()
        let replayed = try Wiretape.run(["replay", cassette, "--"] + command)
        #expect(replayed.outputText == recorded, "\(replayed.errors)")
    }

    // MARK: No network

    #if os(Linux)
    private static func unshared(_ command: [String]) throws -> ExternalProgram.Ended {
        try ExternalProgram.run(
            try Programs.find("unshare"), ["--user", "--map-root-user", "--net", "python3", Programs.fixture("offline.py")] + command)
    }

    /// Observed from outside the process: no route leads anywhere, and the origins are gone.
    @Test(
        .enabled("network namespaces are forbidden") { try Self.unshared(["true"]).status == 0 },
        .enabled("grpcio is not there, and PyPI cannot be reached") { PythonPackages.python != nil })
    func aReplayNeedsNoRoutes() throws {
        let python = try #require(PythonPackages.python)
        let origin = try HTTP2Origin()
        let script = Programs.fixture("grpc_talks.py")
        let server = try ExternalProgram(python, [script, "serve"])
        defer { server.stop() }
        let port = "\(try server.port())"
        let pages = (Curl.get(origin.url("pets.json"), origin.url("mebibyte.bin")) + ["--http2"]).joined(separator: " ")
        let talks = ["sync", "aio"].map { "'\(python)' '\(script)' \($0) \(port) get:a list:b add:x:y ping:c:d greet:rex" }
        let command = ["sh", "-ec", ([pages] + talks).joined(separator: "\n")]
        let folder = try TemporaryFolder()
        let cassette = folder.file("offline.json")
        let recorded = try self.record(cassette, origin, command)
        #expect(recorded.output.starts(with: Array(Nginx.pets.utf8) + HTTP2Origin.mebibyte))
        #expect(recorded.outputText.components(separatedBy: "hello rex").count == 3, "\(recorded.errors)")
        _ = try self.expectHTTP2(cassette, count: 12)
        origin.stop()
        server.stop()
        let end = try Self.unshared([try Programs.wiretape(), "replay", cassette, "--fail-on", "miss,unused", "--"] + command)
        #expect(end.status == 0 && end.output == recorded.output, "\(end.errors)")
    }
    #endif

    // MARK: A reader that stalls

    #if os(Linux)
    /// A hundred concurrent answers of 1 MiB: a stream that is not read costs its window, and blocks no other.
    @Test(.enabled("h2 is not there, and PyPI cannot be reached") { PythonPackages.python != nil })
    func aStalledStreamStopsNoOther() throws {
        let python = try #require(PythonPackages.python)
        let origin = try HTTP2Origin()
        let folder = try TemporaryFolder()
        let recorder = try Wiretape.listening(
            ["record", folder.file("stalled.json"), "--upstream-ca", origin.certificates.authority, "--grace", "0"])
        defer { recorder.program.stop() }
        let client = try ExternalProgram.run(
            python,
            [Programs.fixture("h2_stalled.py"), "\(recorder.port)", "/" + origin.url("mebibyte.bin"), "100", "\(recorder.program.id)"])
        #expect(client.status == 0, "\(client.errors)")
        let words = client.outputText.split(separator: " ").map(String.init)
        try #require(words.count == 3, "\(client.outputText)")
        #expect(words[0] == "99" && words[1] == "\(99 << 20)")
        // The maximum, in KiB.
        #expect(try #require(Int(words[2].trimmingCharacters(in: .newlines))) < 100 << 10, "\(words[2]) KiB")
    }
    #endif
}
