import CassetteModel
@testable import TapeBytes
import TapeProxy
import Testing
@testable import WiretapeCLI
import TapeTestSupport

/// The environment of a program that runs through the proxy.
@Suite struct ChildEnvironmentTests {
    private func environment(_ parent: [String: String], _ options: [String] = []) throws -> [String: String] {
        let folder = try TemporaryFolder()
        let end = try Wiretape.run(["record", folder.file("x.json")] + options + ["--", "env"], environment: parent)
        try #require(end.status == 0, "\(end.errors)")
        var variables: [String: String] = [:]
        for line in end.outputText.split(separator: "\n") {
            let pair = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if pair.count == 2 { variables[String(pair[0])] = String(pair[1]) }
        }
        return variables
    }

    @Test func allNamesOfTheProxyAreSetAndTheRestIsKept() throws {
        let variables = try self.environment(["OWN": "kept = so", "http_proxy": "http://other.test:1", "NO_COLOR": ""])
        let proxy = try #require(variables["http_proxy"])
        #expect(proxy.hasPrefix("http://127.0.0.1:"))
        for name in ["HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "ws_proxy", "wss_proxy"] {
            #expect(variables[name] == proxy)
        }
        #expect(variables["WIRETAPE_REVERSE"] == "\(proxy)/")
        #expect(variables["OWN"] == "kept = so")
        #expect(variables["NO_COLOR"] == "")
        #expect(variables["no_proxy"] == nil)
    }

    @Test func exceptionsForLoopbackGoAndOthersStay() throws {
        let variables = try self.environment([
            "NO_PROXY": "localhost, 127.0.0.1,example.test,[::1],.internal,127.0.0.1:8080,10.0.0.0/8", "no_proxy": "*",
        ])
        #expect(variables["NO_PROXY"] == "example.test,.internal,10.0.0.0/8")
        #expect(variables["no_proxy"] == "")
    }

    @Test func anIsolatedProgramHasExceptionsForItsOwnServers() {
        let trust = ChildTrust(bundle: "/b", javaStore: nil, wgetSettings: "/w", notices: [])
        let changes = ChildEnvironment.changes(
            proxy: "http://127.0.0.1:7070", trust: trust, parent: ["no_proxy": "127.0.0.1,a.test"],
            own: ChildEnvironment.ownHosts(named: ["box"]))
        let variables = Dictionary(uniqueKeysWithValues: changes.map { ($0.name, $0.value) })
        let own = "localhost,127.0.0.1,127.0.0.0/8,::1,0.0.0.0,::,198.18.0.2,fd77:7474::2,box"
        #expect(variables["no_proxy"] == own + ",a.test")
        #expect(variables["NO_PROXY"] == own)
        let java = "-Dhttp.nonProxyHosts=localhost|127.*|[::1]|0.0.0.0|[::]|198.18.0.2|[fd77:7474::2]|box"
        #expect(variables["JAVA_TOOL_OPTIONS"]?.hasSuffix(java) == true)
    }

    @Test func aListenerOnEveryAddressIsReachedByLoopback() throws {
        let variables = try self.environment(["WIRETAPE_PROXY_AUTH": "bori:x@y"], ["--listen", "0.0.0.0:0", "--allow-remote"])
        let proxy = try #require(variables["http_proxy"])
        #expect(proxy.hasPrefix("http://bori:x%40y@127.0.0.1:"), "\(proxy)")
        #expect(variables["WIRETAPE_REVERSE"] == "http://\(proxy.dropFirst(18))/bori:x%40y/")
    }

    @Test(arguments: [
        ("", ""), ("*", ""), ("LOCALHOST,app.localhost,.localhost", ""), ("127.1.2.3 example.test", "example.test"),
        ("[::1]:80,::1,0.0.0.0", ""), ("localhost.example.test,128.0.0.1,::2", "localhost.example.test,128.0.0.1,::2"),
    ])
    func exceptionsAreReadHoweverTheyAreSpelled(_ given: String, _ kept: String) {
        #expect(ChildEnvironment.withoutLoopback(given) == kept)
    }

    @Test(
        arguments: [
            (1_577_934_245_678_901, "2020-01-02T03:04:05.678901Z", "1577934245"), (-1, "1969-12-31T23:59:59.999999Z", "-1"),
            (0, "1970-01-01T00:00:00.000000Z", "0"),
        ] as [(Int64, String, String)])
    func theTimeOfTheRecordingIsShownInTwoForms(_ microseconds: Int64, _ text: String, _ seconds: String) {
        let variables = ChildEnvironment.recordingTime(Timestamp(microseconds: microseconds))
        #expect(variables.map(\.name) == ["WIRETAPE_RECORDED_AT", "WIRETAPE_RECORDED_AT_UNIX"])
        #expect(variables.map(\.value) == [text, seconds])
    }

    @Test func withoutARecordingThereIsNoInstant() {
        #expect(ChildEnvironment.recordingTime(nil).map(\.value) == [nil, nil])
    }
}

@Suite struct JavaOptionsTests {
    /// Java refuses to send a password for a tunnel unless it is allowed at the start.
    @Test func aProxyWithAPasswordMayGetItForTunnels() {
        let value = JavaOptions.value(proxy: Self.address, needsPassword: true, store: nil, parent: nil)
        #expect(value.hasSuffix(" -Djdk.http.auth.tunneling.disabledSchemes="))
        #expect(JavaOptions.value(proxy: Self.address, needsPassword: true, store: nil, parent: value) == value)
        #expect(!JavaOptions.value(proxy: Self.address, store: nil, parent: nil).contains("tunneling"))
    }

    private static let address = ListenAddress(host: "127.0.0.1", port: 7070)
    private static let proxy =
        "-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=7070 -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=7070 -Dhttp.nonProxyHosts="

    @Test func proxyAndStoreAreProperties() {
        let value = JavaOptions.value(proxy: Self.address, store: "/t.p12", parent: nil)
        #expect(
            value
                == "-Djavax.net.ssl.trustStore=/t.p12 -Djavax.net.ssl.trustStoreType=PKCS12 -Djavax.net.ssl.trustStorePassword=changeit "
                + Self.proxy)
        #expect(JavaOptions.value(proxy: Self.address, store: nil, parent: "") == Self.proxy)
    }

    @Test func anIsolatedProgramAsksItsOwnServersDirectly() {
        let outer = JavaOptions.value(proxy: Self.address, store: nil, parent: nil)
        let value = JavaOptions.value(proxy: Self.address, own: ["box"], store: nil, parent: outer)
        #expect(value == Self.proxy + "localhost|127.*|[::1]|box")
    }

    @Test func theProxyCanBeTakenOutOfTheOptions() {
        let value = JavaOptions.value(proxy: Self.address, store: "/a b/t.p12", parent: "-Xmx1g")
        #expect(
            JavaOptions.withoutProxy(value)
                == "-Xmx1g '-Djavax.net.ssl.trustStore=/a b/t.p12' -Djavax.net.ssl.trustStoreType=PKCS12 "
                + "-Djavax.net.ssl.trustStorePassword=changeit")
    }

    @Test func theParentsOptionsStayInFront() {
        let value = JavaOptions.value(proxy: Self.address, store: nil, parent: "  -Xmx1g\t-Da='b  c' -De=\"f 'g\" ")
        #expect(value == "-Xmx1g -Da='b  c' -De=\"f 'g\" " + Self.proxy)
    }

    @Test func aRunInARunDoesNotAddAgain() {
        let outer = JavaOptions.value(proxy: ListenAddress(host: "::1", port: 1), store: "/a b/t.p12", parent: "-Xmx1g")
        #expect(outer.contains("'-Djavax.net.ssl.trustStore=/a b/t.p12'"))
        #expect(
            JavaOptions.value(proxy: Self.address, store: "/t.p12", parent: outer)
                == JavaOptions.value(proxy: Self.address, store: "/t.p12", parent: "-Xmx1g"))
    }

    @Test(
        .enabled(if: Programs.isInstalled("java")),
        arguments: ["/a/t.p12", "/a b/t.p12", "/it's/t.p12", "/a \"b\"/t.p12", "/Library/Application Support/t.p12"])
    func javaReadsThePathAsItIs(path: String) throws {
        let value = JavaOptions.value(proxy: Self.address, store: path, parent: "-Dkept='x  y'")
        let end = try ExternalProgram.run(
            try Programs.find("java"), ["-XshowSettings:properties", "-version"], environment: ["JAVA_TOOL_OPTIONS": value])
        #expect(end.errors.contains("\n    javax.net.ssl.trustStore = \(path)\n"), "\(end.errors)")
        #expect(end.errors.contains("\n    kept = x  y\n") && end.errors.contains("\n    https.proxyPort = 7070\n"))
    }
}

@Suite struct ProxyAddressTests {
    @Test func credentialsAreEncodedForAURL() {
        #expect(ProxyAddress.percentEncoded("bori:a:b@c/\u{e9} ~") == "bori:a%3Ab%40c%2F%C3%A9%20~")
    }

    @Test func wildcardAddressIsReachedOverLoopback() {
        #expect(ProxyAddress.reachable("0.0.0.0:7070") == "127.0.0.1:7070" && ProxyAddress.reachable("[::]:7") == "[::1]:7")
        #expect(ProxyAddress.reachable("10.0.0.1:7070") == "10.0.0.1:7070")
    }
}
