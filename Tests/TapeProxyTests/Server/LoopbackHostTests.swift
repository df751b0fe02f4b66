import Testing
@testable import TapeProxy

@Suite struct LoopbackHostTests {
    @Test(arguments: ["127.0.0.1", "127.8.9.1", "::1", "localhost", "LocalHost"]) func thisMachineAlone(_ host: String) {
        #expect(LoopbackHost.contains(host))
    }

    @Test(arguments: ["", "0.0.0.0", "::", "192.0.2.1", "localhost.example.com", "127.example.com", "127.1", "2130706433", "localtest.me"])
    func everythingElseMayBeForOthers(_ host: String) {
        #expect(!LoopbackHost.contains(host))
    }
}
