internal import COpenSSL
@testable import TapeTLS
import Testing

struct ClientIdentityTests {
    @Test func certificateAndKeyMayBeOneText() throws {
        let certificate = try TestCertificate("client")
        let both = certificate.certificate.pem() + (try certificate.key.pem())
        _ = try ClientIdentity(certificatePEM: both, keyPEM: both)
        #expect(ERR_peek_error() == 0)
    }

    @Test func aKeyOfAnotherCertificateIsRefused() throws {
        let certificate = try TestCertificate("client").certificate.pem()
        let key = try TestCertificate("other").key.pem()
        let error = #expect(throws: CertificateError.self) { _ = try ClientIdentity(certificatePEM: certificate, keyPEM: key) }
        #expect(error?.code == .mismatch)
        #expect(ERR_peek_error() == 0)
    }

    @Test func aTextWithoutCertificateIsRefused() throws {
        let key = try TestCertificate("client").key.pem()
        let error = #expect(throws: CertificateError.self) { _ = try ClientIdentity(certificatePEM: key, keyPEM: key) }
        #expect(error?.code == .damaged)
        #expect(ERR_peek_error() == 0)
    }

    @Test func aTextWithoutKeyIsRefused() throws {
        let certificate = try TestCertificate("client").certificate.pem()
        let error = #expect(throws: CertificateError.self) { _ = try ClientIdentity(certificatePEM: certificate, keyPEM: certificate) }
        #expect(error?.code == .damaged)
        #expect(ERR_peek_error() == 0)
    }

    @Test func theCertificatesAfterTheFirstAreShownToo() throws {
        let root = try TestCertificate("root", isAuthority: true)
        let middle = try TestCertificate("middle", issuer: root, isAuthority: true)
        let client = try TestCertificate("client", issuer: middle)
        let identity = try ClientIdentity(
            certificatePEM: client.certificate.pem() + middle.certificate.pem(), keyPEM: client.key.pem())
        let authority = try TestAuthority()
        let server = try TestAuthority.serverContext()
        // It knows only the root: the chain has to come from the client.
        try server.wantCertificates(from: root, in: authority.folder)
        let pair = try authority.pair(authority.clientContext(), server, peer: .example(identity: identity))
        pair.run()
        #expect(pair.isEstablished)
        #expect(pair.server.progress == .needsInput)
    }
}

struct TLSPeerConnectionTests {
    private let authority: TestAuthority

    init() throws {
        self.authority = try TestAuthority()
    }

    private func prepared<R>(_ peer: TLSPeer, _ body: (OpaquePointer) throws -> R) throws -> R {
        let context = try self.authority.clientContext()
        let ssl = try #require(SSL_new(context.pointer))
        defer { SSL_free(ssl) }
        try peer.prepare(ssl, ConnectionState(keyLog: nil), sessions: nil)
        #expect(ERR_peek_error() == 0)
        return try body(ssl)
    }

    private func hello(_ peer: TLSPeer) throws -> ClientHello? {
        let pair = try self.authority.pair(peer: peer)
        pair.server.answer = nil
        pair.run()
        return pair.server.hello
    }

    @Test func nameAndProtocolsAreAskedFor() throws {
        let peer = TLSPeer(host: "127.0.0.1", serverName: "example.test", protocols: ["h2", "http/1.1"])
        #expect(try self.hello(peer) == ClientHello(serverName: "example.test", protocols: ["h2", "http/1.1"]))
    }

    @Test func withoutNameAndProtocolsBothExtensionsAreLeftOut() throws {
        #expect(try self.hello(TLSPeer(host: "example.test", serverName: nil)) == ClientHello())
    }

    @Test(arguments: ["127.0.0.1", "::1"])
    func anAddressIsNotTakenForAName(host: String) throws {
        let names = try self.prepared(TLSPeer(host: host, serverName: nil)) { ssl in
            (SSL_get0_peername(ssl) == nil, X509_VERIFY_PARAM_get0_host(SSL_get0_param(ssl), 0) == nil)
        }
        #expect(names == (true, true))
    }

    @Test(arguments: ["", "example.test\0.other.test"])
    func anInvalidHostDoesNotMatchAnyHost(host: String) throws {
        let error = #expect(throws: TLSFailure.self) { try self.prepared(TLSPeer(host: host, serverName: nil)) { _ in } }
        #expect(error?.cause == .nameMismatch)
    }

    @Test func theHostIsCheckedWhereThePolicyWantsItAlone() throws {
        func host(_ policy: PeerPolicy) throws -> String? {
            try self.prepared(.example(policy: policy)) { ssl in
                X509_VERIFY_PARAM_get0_host(SSL_get0_param(ssl), 0).map { String(cString: $0) }
            }
        }
        #expect(try host(.defaultEvaluation()) == "example.test")
        #expect(try host(.defaultEvaluation(validatesHost: false)) == nil)
        #expect(try host(.disabled) == nil)
    }

    @Test func aServerNameThatCannotBeSentFails() throws {
        let context = try self.authority.clientContext()
        let name = String(repeating: "a", count: 300)
        var end: TLSEnd?
        do throws(TLSFailure) {
            end = TLSEnd(try TLSConnection(client: context, peer: TLSPeer(host: "example.test", serverName: name)))
        } catch {
            #expect(error.cause == .other)
        }
        #expect(end == nil)
        #expect(ERR_peek_error() == 0)
    }
}
