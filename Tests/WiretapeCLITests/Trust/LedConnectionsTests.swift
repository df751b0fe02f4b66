import TapeProxy
import TapeTestSupport
import Testing
@testable import WiretapeCLI

@Suite struct LedConnectionsTests {
    private func rules(_ arguments: [String], proxy: String = "127.0.0.1:7070", uid: UInt32 = 0) throws -> String {
        let address = try #require(ListenAddress(argument: proxy))
        return try LedConnections.parse(arguments).rules(proxy: address, uid: uid).joined(separator: "\n")
    }

    @Test func thisMachinesConnectionsAreRedirected() throws {
        let rules = try self.rules(["--user", "tester", "--ports", "80,8443"])
        #expect(rules.contains("meta nfproto ipv4 tcp dport { 80, 8443 } redirect to :7070"))
        #expect(rules.contains("meta skuid != tester accept") && rules.contains("udp dport { 80, 8443 } reject"))
    }

    @Test func theProxysOwnConnectionsPass() throws {
        #expect(try self.rules([]).contains("meta mark 0x7774 accept"))
        #expect(try self.rules([], uid: 1000).contains("meta skuid 1000 accept"), "who may not mark is known by the user")
    }

    @Test func anInterfaceIsLedByTPROXY() throws {
        #expect(try self.rules(["--interface", "veth0"]).contains("tproxy ip to 127.0.0.1:7070 meta mark set 0x7775 accept"))
        #expect(try self.rules(["--interface", "veth0"], proxy: "[::1]:7070").contains("tproxy ip6 to [::1]:7070"))
    }

    @Test func anAddressOfItsOwnIsNamed() throws {
        #expect(try self.rules([], proxy: "192.0.2.1:7070").contains("dport { 80, 443 } dnat ip to 192.0.2.1:7070"))
        #expect(try self.rules([], proxy: "[2001:db8::1]:7070").contains("dport { 80, 443 } dnat ip6 to [2001:db8::1]:7070"))
        for everywhere in ["0.0.0.0:7070", "[::]:7070", "[::1]:7070"] {
            #expect(try self.rules([], proxy: everywhere).contains("redirect to :7070"))
        }
    }

    @Test func theCommandsForAnInterfaceAreOfItsFamily() throws {
        let rules = try self.rules(["--interface", "veth0"], proxy: "[::1]:7070")
        #expect(rules.contains("ip -6 rule add fwmark 0x7775") && rules.contains("ip -6 route add local ::/0 dev lo"))
        #expect(try self.rules(["--interface", "veth0"]).contains("ip route add local 0.0.0.0/0 dev lo"))
    }

    @Test func underSudoTheProxysUserIsTheCaller() {
        #expect(LedConnections.proxyUser(["SUDO_UID": "1000"], uid: 0) == 1000)
        #expect(LedConnections.proxyUser([:], uid: 0) == 0)
        #expect(LedConnections.proxyUser(["SUDO_UID": "1000"], uid: 5) == 5, "no root, so no sudo")
    }

    @Test func theProxysOwnUserIsLedWithAWarning() throws {
        #expect(try self.rules(["--user", "1000"], uid: 1000).contains("# 1000 may be the proxy's own user"))
        #expect(try self.rules(["--user", "root"], uid: 0).contains("# root may be the proxy's own user"))
        #expect(try !self.rules(["--user", "1001"], uid: 1000).contains("own user"))
    }

    @Test(arguments: [["--user", "a b"], ["--interface", "a\"; drop"], ["--ports", "0"], ["--user", "a", "--interface", "b"]])
    func invalidNameOrPortIsRefused(arguments: [String]) {
        #expect(throws: (any Error).self) { try LedConnections.parse(arguments) }
    }
}

@Suite struct DockerRunTests {
    private let trust = ChildTrust(bundle: "/t/bundle.pem", javaStore: "/t/java.p12", wgetSettings: "/t/wgetrc", notices: [])

    @Test func aContainerGetsTheProxyAndTheAuthority() throws {
        let run = DockerRun(proxy: ListenAddress(host: "192.0.2.1", port: 7070), credentials: "me:pw", trust: self.trust)
        let arguments = run.arguments(file: "/t/docker.env")
        #expect(arguments.starts(with: ["--env-file", "/t/docker.env"]) && arguments.contains("/t/bundle.pem:/etc/wiretape/ca.pem:ro"))
        #expect(!arguments.joined().contains("pw"), "a password is no argument")
        let variables = Dictionary(run.variables.map { ($0.name, $0.value) }) { $1 }
        #expect(variables["https_proxy"] == "http://me:pw@192.0.2.1:7070" && variables["SSL_CERT_FILE"] == "/etc/wiretape/ca.pem")
        #expect(variables["JAVA_TOOL_OPTIONS"]?.contains("/etc/wiretape/java.p12") == true)
    }

    @Test func aUsersSettingsOfWgetStayHere() throws {
        let run = DockerRun(proxy: ListenAddress(host: "192.0.2.1", port: 7070), trust: self.trust)
        #expect(!run.arguments(file: "f").joined(separator: " ").contains("wgetrc"))
        #expect(!run.variables.contains { $0.name == "WGETRC" })
    }

    @Test func theLineNeedsNoQuotes() throws {
        let run = DockerRun(proxy: ListenAddress(host: "192.0.2.1", port: 7070), trust: self.trust)
        #expect(try run.line(file: "/t/docker.env").hasPrefix("--env-file /t/docker.env "))
        #expect(trustProblem { _ = try run.line(file: "/my folder/docker.env") }?.contains("--ca-dir") == true)
    }

    #if os(Linux)
    @Test(arguments: ["127.0.0.1", "127.0.0.5", "::1", "localhost", "0.0.0.0", "::"])
    func theLoopbackAddressIsReachedByTheMachinesOwnNetwork(host: String) {
        let run = DockerRun(proxy: ListenAddress(host: host, port: 7070), trust: self.trust)
        #expect(run.arguments(file: "f").contains("host"))
        let proxy = run.variables.first { $0.name == "http_proxy" }?.value ?? ""
        #expect(!proxy.contains("0.0.0.0") && !proxy.contains("[::]"), "\(proxy)")
    }
    #endif
}
