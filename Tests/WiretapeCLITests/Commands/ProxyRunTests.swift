import ArgumentParser
import TapeProxy
import Testing

@testable import WiretapeCLI

@Suite struct ProxyRunTests {
    @Test(arguments: [
        ("bori:secret", "bori:secret"), ("bori:a:b", "bori:a%3Ab"), ("b@ri:p/w?#[]", "b%40ri:p%2Fw%3F%23%5B%5D"),
        ("a:%41 +", "a:%2541%20%2B"),
        ("ä:\n\u{0}", "%C3%A4:%0A%00"), ("aZ09-._~:", "aZ09-._~:"), ("", ""),
    ])
    func credentialsAreEncodedForAURL(pair: String, encoded: String) {
        #expect(ProxyRun.percentEncoded(pair) == encoded)
    }

    @Test(arguments: [
        ("0.0.0.0:7070", "127.0.0.1:7070"), ("[::]:7070", "[::1]:7070"), ("127.0.0.1:80", "127.0.0.1:80"), ("[::1]:80", "[::1]:80"),
        ("10.0.0.0:80", "10.0.0.0:80"),
    ])
    func aListenerOnEveryAddressIsReachedByLoopback(address: String, reachable: String) {
        #expect(ProxyRun.reachable(address) == reachable)
    }

    @Test func optionsBecomeTheProxysConfiguration() throws {
        let options = ["--listen", "[::1]:7070", "--allow-remote", "--proxy-auth", "bori:secret", "--grace", "9"]
        let configuration = try RecordCommand.parse(["pets.json", "--durability", "full", "--on-disk-full", "refuse"] + options)
            .proxyRun.configuration
        #expect(configuration.host == "::1")
        #expect(configuration.port == 7070)
        #expect(configuration.allowsRemote)
        #expect(configuration.credentials == "bori:secret")
        #expect(configuration.limits.grace == 9)
        #expect(configuration.durability == .full)
        #expect(configuration.diskFullPolicy == .refuse)
    }

    @Test func anAddressOpenToOthersWithoutAPasswordEndsWithOne() throws {
        let folder = try TemporaryFolder()
        let run = try RecordCommand.parse([folder.file("pets.json"), "--listen", "0.0.0.0:0", "--quiet", "--", "true"]).proxyRun
        #expect(throws: ExitCode(ExitStatus.failed)) { try run.run() }
    }
}
