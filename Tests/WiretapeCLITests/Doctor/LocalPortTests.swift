import TapeProxy
import Testing

@testable import WiretapeCLI

@Suite struct LocalPortTests {
    @Test func somebodyListensOrNobodyDoes() throws {
        let (origin, port) = try Python.origin("leading_origin.py")
        for host in ["127.0.0.1", "localhost"] { #expect(LocalPort.isOpen(ListenAddress(host: host, port: port)) == true) }
        origin.stop()
        #expect(LocalPort.isOpen(ListenAddress(host: "127.0.0.1", port: port)) == false)
    }

    @Test(arguments: ["192.0.2.1", "example.test", "::1", "127.x"]) func othersAreNotAsked(host: String) {
        #expect(LocalPort.isOpen(ListenAddress(host: host, port: 1)) == nil)
    }
}
