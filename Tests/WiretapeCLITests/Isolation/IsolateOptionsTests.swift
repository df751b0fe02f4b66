import ArgumentParser
import CassettePlayback
import CassetteRun
import TapeIsolation
import TapeProxy
import Testing

@testable import WiretapeCLI

@Suite struct IsolateOptionsTests {
    @Test(arguments: [("9000", 9000), ("localhost:80", 80), ("127.0.0.2:81", 81), ("[::1]:82", 82)] as [(String, UInt16)])
    func aPortOfThisMachineIsRead(_ text: String, _ port: UInt16) { #expect(ReachedPort(argument: text)?.port == port) }

    @Test(arguments: ["", "0", "65536", "+80", "a.test:80", "203.0.113.5:80", "80:", "localhost:"])
    func otherTextIsNoPort(_ text: String) { #expect(ReachedPort(argument: text) == nil) }

    @Test func aServerIsNamedWithItsProtocol() {
        #expect(AllowedServer(argument: "tcp:DB.test:5432")?.passage == .init(host: "db.test", port: 5432))
        #expect(AllowedServer(argument: "tcp:[2001:db8::5]:25")?.passage == .init(host: "2001:db8::5", port: 25))
        #expect(AllowedServer(argument: "tcp:db.test.:5432")?.passage == .init(host: "db.test", port: 5432))
        for text in [
            "db.test:5432", "udp:db.test:53", "tcp:db.test", "tcp:db.test:0", "tcp::5432", "tcp:5432", "tcp:*:5432", "tcp:*.test:1",
        ] { #expect(AllowedServer(argument: text) == nil) }
    }

    @Test func thePortOfTheResolverIsNotPassed() {
        #expect(throws: (any Error).self) { try IsolationExits.parse(["--allow", "tcp:dns.test:53"]) }
        #expect(throws: Never.self) { try IsolationExits.parse(["--allow", "tcp:dns.test:5353"]) }
    }

    @Test func aPassageOfLoopbackHasAllItsNames() throws {
        let passages = try IsolationExits.parse(["--allow", "tcp:localhost:5432", "--allow", "tcp:[2001:db8::5]:25"]).allow.map(\.patterns)
        for host in ["localhost", "127.0.0.1", "::1"] { #expect(passages[0].contains { $0.matches(host: host, port: 5432) }) }
        #expect(
            passages[1].contains { $0.matches(host: "2001:db8::5", port: 25) }
                && !passages[1].contains { $0.matches(host: "2001:db8::5", port: 26) })
    }

    #if os(Linux)
    @Test func exitsNeedAnIsolation() {
        for words in [["--reach", "9000"], ["--allow", "tcp:a.test:22"], ["--real-addresses"]] {
            #expect(throws: (any Error).self) { try RecordCommand.parse(["a.json"] + words + ["--", "true"]) }
            #expect(throws: Never.self) { try RecordCommand.parse(["a.json", "--isolate"] + words + ["--", "true"]) }
        }
    }

    @Test func escapesNeedAnIsolation() throws {
        for command in [["a.json"], ["a.json", "--", "true"]] {
            #expect(throws: (any Error).self) { try ReplayCommand.parse(["--fail-on", "miss,escapes"] + command) }
        }
        #expect(throws: Never.self) { try ReplayCommand.parse(["--fail-on", "miss,escapes", "--isolate", "a.json", "--", "true"]) }
        let rule = FailureRule([.miss], others: [.escapes])
        let (with, without) = (try IsolateOptions.parse(["--isolate"]), try IsolateOptions.parse([]))
        #expect(throws: Never.self) { try with.validate(rule, command: ["true"]) }
        #expect(throws: SettingError.self) { try without.validate(rule, command: ["true"]) }
        // Nothing runs that could escape.
        #expect(throws: Never.self) { try without.validate(rule, command: []) }
    }

    @Test func anIsolationNeedsAProgram() {
        #expect(throws: (any Error).self) { try RecordCommand.parse(["a.json", "--isolate"]) }
        #expect(throws: (any Error).self) { try RecordCommand.parse(["a.json", "http://a.test/", "--browser", "--isolate"]) }
        #expect(throws: (any Error).self) { try IsolateCommand.parse([]) }
        #expect(throws: (any Error).self) { try IsolateCommand.parse(["--offline", "--session", "s1", "--", "true"]) }
    }
    #endif

    @Test func allowedLoopbackServersAreReached() throws {
        let options = try IsolationExits.parse(["--allow", "tcp:localhost:5432", "--allow", "tcp:db.test:25", "--reach", "9000"])
        #expect(options.settings(cassette: nil, mayForward: false).reach == [5432, 9000])
    }
}

@Suite struct SessionAccessTests {
    @Test func theSessionIsThatOfTheVariables() throws {
        let access = try SessionAccess("s1", environment: ["http_proxy": "http://s1:secret@127.0.0.1:7070", "SSL_CERT_FILE": "/roots.pem"])
        #expect(access.chain.https?.description == "socks5://127.0.0.1:7070" && access.chain.isSession)
        #expect(access.chain.https?.credentials == Array("s1:secret".utf8) && access.bundle == "/roots.pem")
    }

    @Test(arguments: [nil, "http://127.0.0.1:7070", "http://s2:secret@127.0.0.1:7070", "http://s1:secret@203.0.113.5:7070"])
    func anotherProxyIsRefused(_ proxy: String?) {
        #expect(throws: TrustError.self) { try SessionAccess("s1", environment: proxy.map { ["http_proxy": $0] } ?? [:]) }
    }
}
