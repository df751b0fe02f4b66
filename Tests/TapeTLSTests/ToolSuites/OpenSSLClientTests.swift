import Foundation
import Testing

@testable import TapeTLS

/// Handshakes over loopback with this machine's `openssl s_client`.
@Suite(.enabled(if: Tool("openssl") != nil)) struct OpenSSLClientTests {
    private let authority: TestAuthority
    private let tool: Tool

    init() throws {
        self.authority = try TestAuthority()
        self.tool = try #require(Tool("openssl"))
    }

    /// The output of `s_client` for a handshake with our server, and the reason why the server refused it.
    private func shakeHands(_ options: [String], minimum: TLSVersion = .tls12) throws -> (text: String, refusal: TLSFailure.Cause?) {
        let socket = try LoopbackSocket()
        let server = TLSEnd(
            try TLSConnection(server: TestAuthority.serverContext(minimum: minimum)),
            answer: TLSEnd.Answer(leaf: try self.authority.leaf()))
        let client = try self.tool.start(
            ["s_client", "-connect", "127.0.0.1:\(socket.port)", "-CAfile", self.authority.path, "-servername", "example.test"] + options)
        let served = Result { try socket.serve(server) }
        let text = client.finish().text
        try served.get()
        return (text, server.failure?.cause)
    }

    private func expectAgreement(_ options: [String], minimum: TLSVersion = .tls12, on words: String) throws {
        let (text, refusal) = try self.shakeHands(options, minimum: minimum)
        #expect(text.contains(words) && text.contains("Verify return code: 0 (ok)"), "\(text)")
        #expect(refusal == nil)
    }

    private func expectRefusal(_ options: [String]) throws {
        let (text, refusal) = try self.shakeHands(options)
        #expect(text.contains("alert handshake failure"), "\(text)")
        #expect(refusal == .noSharedCipher)
    }

    @Test func aClientWithCBCAloneIsRefusedUnlessOldOnesAreAllowed() throws {
        try self.expectRefusal(["-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA384"])
        try self.expectAgreement(
            ["-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA"], minimum: .tls10, on: "Cipher is ECDHE-ECDSA-AES128-SHA")
    }

    @Test func aClientWithX448AloneIsRefused() throws {
        try self.expectRefusal(["-tls1_3", "-groups", "X448"])
        try self.expectAgreement(["-tls1_3", "-groups", "X448:P-384"], on: "Server Temp Key: ECDH, secp384r1")
    }

    @Test func theServerPicksByItsOwnOrder() throws {
        try self.expectAgreement(
            ["-tls1_2", "-cipher", "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256"],
            on: "Cipher is ECDHE-ECDSA-AES128-GCM-SHA256")
        try self.expectAgreement(
            ["-tls1_3", "-ciphersuites", "TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256"], on: "Cipher is TLS_AES_128_GCM_SHA256")
    }
}
