internal import COpenSSL
import Testing

@testable import TapeTLS

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
    func aHostThatIsNoneIsNotTakenForAnyHost(host: String) throws {
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
