import Testing

@testable import TapeProxy

@Suite struct ListenAddressTests {
    @Test(
        arguments: [
            ("127.0.0.1:7070", "127.0.0.1", 7070), ("localhost:0", "localhost", 0), ("[::1]:65535", "::1", 65535), ("[::]:80", "::", 80),
            ("example.test:080", "example.test", 80),
        ])
    func aHostAndAPortAreTaken(text: String, host: String, port: Int) {
        #expect(ListenAddress(argument: text) == ListenAddress(host: host, port: port))
    }

    @Test(arguments: [
        "", ":", ":80", "80", "localhost", "localhost:", "localhost:65536", "localhost:-1", "localhost:+80", "localhost:8 0", "::1:80",
        "[]:80",
        "[::1]", "localhost:99999999999999999999", "localhost:x",
    ])
    func anythingElseIsRefused(text: String) {
        #expect(ListenAddress(argument: text) == nil)
    }

    @Test(arguments: ["127.0.0.1:7070", "[::1]:0", "localhost:80"])
    func theTextIsWhatWasGiven(text: String) {
        #expect(ListenAddress(argument: text)?.description == text)
    }
}
