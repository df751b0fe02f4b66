internal import COpenSSL
import Testing

@testable import TapeTLS

struct RenegotiationTests {
    private let authority: TestAuthority

    init() throws {
        self.authority = try TestAuthority()
    }

    private func server(_ raw: RawPeer) throws -> TLSEnd {
        let server = TLSEnd(try TLSConnection(server: TLSServerContext()), answer: TLSEnd.Answer(leaf: try self.authority.leaf()))
        raw.run(with: server)
        #expect(server.isEstablished)
        return server
    }

    @Test func aClientThatWantsToRenegotiateIsRefused() throws {
        let raw = try RawPeer(maximum: .tls12)
        let server = try self.server(raw)
        #expect(SSL_renegotiate(raw.ssl) == 1)
        SSL_do_handshake(raw.ssl)
        ERR_clear_error()
        let hello = raw.taken()
        #expect(hello.first == TLSRecord.handshake)
        server.receive(hello)
        #expect(server.failure == nil)
        // The alert no_renegotiation (RFC 5246, 7.2.2), and no second handshake.
        let answer = server.output()
        #expect(TLSRecord.split(answer).map(\.first) == [TLSRecord.alert])
        server.answer = nil
        #expect(server.hello == ClientHello(serverName: "example.test", protocols: []))
    }

    @Test func renegotiatingAgainAndAgainEndsTheConnection() throws {
        let raw = try RawPeer(maximum: .tls12)
        let server = try self.server(raw)
        var output = 0
        SSL_renegotiate(raw.ssl)
        SSL_do_handshake(raw.ssl)
        ERR_clear_error()
        var up = raw.taken()
        for _ in 0..<100 where server.failure == nil && !up.isEmpty {
            server.receive(up)
            let down = server.output()
            output += down.count
            up = raw.receive(down)
        }
        #expect(output < 1000)
        // The client gave up after the alert, and the server is notified.
        #expect(server.failure != nil || server.progress == .ended || server.progress == .needsInput)
    }

    /// TLS 1.3 updates keys instead (RFC 8446, 4.6.3).
    @Test func newKeysAreTaken() throws {
        let raw = try RawPeer(maximum: .tls13)
        let server = try self.server(raw)
        for number in 0..<5 {
            #expect(SSL_key_update(raw.ssl, SSL_KEY_UPDATE_REQUESTED) == 1)
            server.receive(raw.send(Array("\(number)".utf8)))
            try server.send("down".utf8)
            _ = raw.receive(server.output())
        }
        #expect(server.text == "01234")
        #expect(server.failure == nil)
    }

    /// While nobody reads, memory grows at most by the bytes that the peer sends.
    @Test func anAnswerToARequestForNewKeysIsNotLongerThanTheRequest() throws {
        let raw = try RawPeer(maximum: .tls13)
        let server = try self.server(raw)
        _ = server.output()
        var input = 0
        for _ in 0..<200 {
            SSL_key_update(raw.ssl, SSL_KEY_UPDATE_REQUESTED)
            SSL_do_handshake(raw.ssl)
            ERR_clear_error()
            let request = raw.taken()
            input += request.count
            server.receive(request)
        }
        #expect(input > 200)
        #expect(server.pendingOutput <= input)
        #expect(server.failure == nil)
    }
}
