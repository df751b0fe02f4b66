import CassetteModel
import TapeTLS
import Testing
@testable import TapeProxy

@Suite struct TLSDetailsConnectionTests {
    private func details(maximum: TLSVersion = .tls13, protocols: [String] = ["http/1.1"], serverName: String? = "example.test") throws
        -> TLSDetails
    {
        let pair = try EmbeddedTLS(maximum: maximum, protocols: protocols, serverName: serverName)
        try pair.run()
        return pair.client.handler.inspect { TLSDetails($0, serverName: serverName, certificates: $0.peerCertificates()) }
    }

    @Test(arguments: [(TLSVersion.tls12, "TLSv1.2"), (.tls13, "TLSv1.3")]) func whatWasAgreedOnIsKept(version: TLSVersion, name: String)
        throws
    {
        let details = try self.details(maximum: version)
        #expect(details.version == name)
        #expect(details.cipher.hasPrefix("TLS_"))
        #expect(details.alpn == "http/1.1")
        #expect(details.sni == "example.test")
        #expect(!details.isResumed)
        #expect(details.chain.first?.subject == "CN=example.test")
    }

    @Test func whatWasNotAskedForIsAbsent() throws {
        let details = try self.details(protocols: [], serverName: nil)
        #expect(details.alpn == nil)
        #expect(details.sni == nil)
    }
}
