import Foundation
import Testing
import TapeTestSupport

/// CONNECT tunnels that are passed through, refused, or do not carry TLS, and the output for outside observers.
@Suite struct HTTPSTunnelTests {
    @Test func passedThroughTunnelHasTheOriginsCertificateAndIsNotRecorded() throws {
        let origins = try TLSOrigins()
        defer { origins.stop() }
        let folder = try TemporaryFolder()
        let cassette = folder.file("some.json")
        let authority = origins.certificates.authority
        let recorded = origins.url(.good, host: "127.0.0.1")
        let end = try Wiretape.run(
            [
                "record", cassette, "--json", "--upstream-ca", authority, "--passthrough", "localhost:\(origins.port(.good))", "--", "sh",
                "-c",
                "\(Curl.line()) --cacert '\(authority)' '\(origins.url(.good))'; \(Curl.line(recorded))",
            ])
        #expect(end.status == 0, "\(end.errors)")
        #expect(end.outputText == Nginx.pets + Nginx.pets)
        #expect(end.errors.contains("\"recorded\": 1,") && end.errors.contains("\"tunnels\": 1,"), "\(end.errors)")
        #expect(try CassetteFile.urls(cassette) == [recorded])
    }

    @Test func refusedHostGets403AndIsNotReached() throws {
        let origins = try TLSOrigins()
        defer { origins.stop() }
        let folder = try TemporaryFolder()
        let end = try Wiretape.run(
            ["record", folder.file("none.json"), "--upstream-ca", origins.certificates.authority, "--refuse", "localhost", "--"]
                + Curl.get(origins.url(.good)))
        #expect(end.status == 56, "\(end.errors)")
        #expect(end.output.isEmpty && end.errors.contains("response 403"), "\(end.errors)")
        #expect(end.errors.contains("nothing was recorded"), "\(end.errors)")
    }

    @Test func aClientsProtocolsDoNotWriteToTheTerminal() throws {
        let folder = try TemporaryFolder()
        let cassette = try folder.write("{ \"wiretape\": 1, \"interactions\": [] }\n".utf8, to: "none.json")
        let script = """
            alpn=$(printf '\\033[2J\\nwiretape: all is well')
            openssl s_client -alpn "$alpn" -proxy "${https_proxy#http://}" -connect localhost:1 >/dev/null 2>&1 </dev/null
            """
        let end = try Wiretape.run(["replay", cassette, "--", "sh", "-c", script])
        #expect(end.errors.contains("offers \"\\u{1b}[2J\\nwiretape: all is well\" but not HTTP"), "\(end.errors)")
    }

    /// async-http-client requests http:// through a proxy this way: with CONNECT, and a Host field without a port.
    @Test func plainHTTPInATunnelIsRecordedAndReplayed() throws {
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let folder = try TemporaryFolder()
        let cassette = folder.file("plain.json")
        let bytes = Array(
            """
            CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r
            Host: 127.0.0.1\r
            \r
            GET /echo HTTP/1.1\r
            Host: 127.0.0.1:\(origin.port)\r
            Connection: close\r
            \r\n
            """.utf8)
        let exchange = { (command: String) in
            let proxy = try Wiretape.listening([command, cassette])
            defer { proxy.program.stop() }
            let answer = try RawClient.exchange(port: proxy.port, bytes)
            #expect(try proxy.program.end().status == 0, "\(proxy.program.errors)")
            return String(decoding: answer, as: UTF8.self)
        }
        let recorded = try exchange("record")
        #expect(recorded.hasPrefix("HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200 "), "\(recorded)")
        #expect(try CassetteFile.urls(cassette) == ["http://127.0.0.1:\(origin.port)/echo"])
        origin.program.stop()
        #expect(try exchange("replay") == recorded)
    }

    @Test func theLinesOfEnvSendAShellsProgramsThroughTheProxy() throws {
        let origins = try TLSOrigins()
        defer { origins.stop() }
        let folder = try TemporaryFolder()
        let cassette = folder.file("env.json")
        // Both use one authority.
        let environment = ["WIRETAPE_CA_DIR": folder.file("ca"), "no_proxy": "localhost"]
        let proxy = try Wiretape.listening(["record", cassette, "--upstream-ca", origins.certificates.authority], environment: environment)
        defer { proxy.program.stop() }
        let script = """
            eval "$("$0" env --proxy 127.0.0.1:\(proxy.port) --shell sh)" && \(Curl.line(origins.url(.good))) &&
            python3 '\(Programs.fixture("https_client.py"))' urllib '\(origins.url(.good))'
            """
        let shell = try ExternalProgram.run("/bin/sh", ["-c", script, try Programs.wiretape()], environment: environment)
        #expect(shell.status == 0 && shell.outputText == Nginx.pets + Nginx.pets, "\(shell.errors)")
        let end = try proxy.program.end()
        #expect(end.status == 0, "\(end.errors)")
        #expect(try CassetteFile.urls(cassette) == [origins.url(.good), origins.url(.good)])
    }

    // MARK: Keys

    /// The content of a key log in NSS's format: each connection's secrets by the client random.
    private static func secrets(_ file: String) throws -> [String: [String: String]] {
        var secrets: [String: [String: String]] = [:]
        for line in String(decoding: try TemporaryFolder.contents(file), as: UTF8.self).components(separatedBy: "\n") {
            let words = line.components(separatedBy: " ")
            if words.count == 3 { secrets[words[1], default: [:]][words[0]] = words[2] }
        }
        return secrets
    }

    @Test(arguments: [(TLSOrigins.Kind.tls12Only, "CLIENT_RANDOM"), (.tls13Only, "SERVER_TRAFFIC_SECRET_0")])
    func theKeysOfBothLegsAreLogged(kind: TLSOrigins.Kind, label: String) throws {
        let origins = try TLSOrigins()
        defer { origins.stop() }
        let folder = try TemporaryFolder()
        let proxy = try Wiretape.listening(
            ["record", folder.file("keys.json"), "--upstream-ca", origins.certificates.authority],
            environment: ["SSLKEYLOGFILE": folder.file("proxy.log")])
        defer { proxy.program.stop() }
        let version = kind == .tls12Only ? ["--tls-max", "1.2"] : []
        let curl = Curl.get() + version + ["--insecure", "--proxy", "http://127.0.0.1:\(proxy.port)", origins.url(kind)]
        let client = try ExternalProgram.run(
            try Programs.find(curl[0]), Array(curl.dropFirst()), environment: ["SSLKEYLOGFILE": folder.file("client.log")])
        #expect(client.status == 0, "\(client.errors)")
        #expect(try proxy.program.end().status == 0, "\(proxy.program.errors)")

        let ours = try Self.secrets(folder.file("proxy.log"))
        let clients = try Self.secrets(folder.file("client.log"))
        #expect(clients.count == 1 && ours.count == 2)
        // The recorder logs the client's leg with the same secrets, and its own leg too.
        for (random, secrets) in clients { #expect(ours[random]?[label] == secrets[label] && secrets[label] != nil) }
        #expect(ours.values.allSatisfy { $0[label] != nil }, "\(ours)")
        let mode = try FileManager.default.attributesOfItem(atPath: folder.file("proxy.log"))[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }
}
