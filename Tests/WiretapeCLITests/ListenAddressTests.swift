import Testing

@testable import WiretapeCLI

@Suite struct ListenAddressTests {
    @Test(arguments: [
        ("127.0.0.1:7070", "127.0.0.1", 7070), ("localhost:0", "localhost", 0), ("[::1]:65535", "::1", 65535), ("0.0.0.0:1", "0.0.0.0", 1),
    ])
    func hostAndPortAreTakenApartAndPutTogether(_ text: String, _ host: String, _ port: Int) {
        let address = ListenAddress(argument: text)
        #expect(address == ListenAddress(host: host, port: port))
        #expect(address?.description == text)
    }

    @Test(arguments: [
        "", ":", "7070", ":7070", "localhost", "localhost:", "localhost:x", "localhost:65536", "localhost:-1", "::1:7070", "[]:1",
    ])
    func anythingElseIsRefused(_ text: String) {
        #expect(ListenAddress(argument: text) == nil)
    }
}
