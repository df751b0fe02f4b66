import Testing

@testable import WiretapeCLI

@Suite struct ProxyAddressTests {
    @Test func credentialsAreEncodedForAURL() {
        #expect(ProxyAddress.percentEncoded("bori:a:b@c/\u{e9} ~") == "bori:a%3Ab%40c%2F%C3%A9%20~")
    }

    @Test func whoListensEverywhereIsReachedHere() {
        #expect(ProxyAddress.reachable("0.0.0.0:7070") == "127.0.0.1:7070" && ProxyAddress.reachable("[::]:7") == "[::1]:7")
        #expect(ProxyAddress.reachable("10.0.0.1:7070") == "10.0.0.1:7070")
    }
}
