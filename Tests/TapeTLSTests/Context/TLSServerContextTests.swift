internal import COpenSSL
import Testing

@testable import TapeTLS

struct TLSServerContextTests {
    private func hello(_ peer: TLSPeer) throws -> ClientHello? {
        let authority = try TestAuthority()
        let pair = try authority.pair(peer: peer)
        pair.run()
        #expect(pair.isEstablished)
        return pair.server.hello
    }

    @Test func theHelloTellsNameAndProtocols() throws {
        #expect(
            try self.hello(.example(protocols: ["h2", "http/1.1"]))
                == ClientHello(serverName: "example.test", protocols: ["h2", "http/1.1"]))
    }

    @Test func aHelloMayTellNothing() throws {
        let peer = TLSPeer(host: "example.test", serverName: nil)
        #expect(try self.hello(peer) == ClientHello(serverName: nil, protocols: []))
    }

    @Test func theProtocolOfTheAnswerIsChosen() throws {
        let pair = try TestAuthority().pair(peer: .example(protocols: ["h2", "http/1.1"]), protocolName: "http/1.1")
        pair.run()
        #expect(pair.isEstablished)
        #expect(pair.client.protocolName == "http/1.1")
        #expect(pair.server.protocolName == "http/1.1")
    }

    @Test(arguments: [nil, "http/1.1"])
    func withoutAnOfferNoProtocolIsChosen(protocolName: String?) throws {
        let pair = try TestAuthority().pair(protocolName: protocolName, refusesProtocols: true)
        pair.run()
        #expect(pair.isEstablished)
        #expect(pair.client.protocolName == nil)
        #expect(pair.server.protocolName == nil)
    }

    @Test(arguments: [nil, "http/1.1"])
    func anOfferOfOthersIsLeftUnanswered(protocolName: String?) throws {
        let pair = try TestAuthority().pair(peer: .example(protocols: ["h2", "http/1.10", "http/1"]), protocolName: protocolName)
        pair.run()
        #expect(pair.isEstablished)
        #expect(pair.client.protocolName == nil)
        #expect(pair.server.protocolName == nil)
    }

    @Test func anOfferOfOthersCanBeRefused() throws {
        let pair = try TestAuthority().pair(peer: .example(protocols: ["h2"]), refusesProtocols: true)
        pair.run()
        #expect(pair.client.failure?.cause == .noSharedProtocol)
        #expect(pair.server.failure?.cause == .noSharedProtocol)
    }

    @Test func theErrorQueueIsEmptyAfter() throws {
        _ = try TLSServerContext(minimum: .tls10)
        #expect(ERR_peek_error() == 0)
    }
}
