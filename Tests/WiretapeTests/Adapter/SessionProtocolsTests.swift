import Foundation
import Testing

@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct SessionProtocolsTests {
    private final class Marker: Sendable {}

    private func session(_ cassette: Marker? = nil) -> AdaptedSession {
        AdaptedSession(
            answers: .transport(AdapterTransport(), inPlace: true), configuration: .ephemeral,
            cassette: cassette.map { ObjectIdentifier($0) })
    }

    @Test func aClassBelongsToOneSession() throws {
        let protocols = SessionProtocols()
        let (first, second) = (self.session(), self.session())
        let (one, two) = (protocols.add(first), protocols.add(second))
        #expect(one != two)
        #expect(try #require(protocols.session(of: one)).configuration === first.configuration)
        #expect(try #require(protocols.session(of: two)).configuration === second.configuration)
        #expect(protocols.session(of: LoadingProtocol.self) == nil)
    }

    @Test func aClosedCassetteLetsItsSessionsGoAndNoOthers() throws {
        let protocols = SessionProtocols()
        let cassette = Marker()
        let (one, two) = (protocols.add(self.session(cassette)), protocols.add(self.session(Marker())))
        protocols.close(ObjectIdentifier(cassette), reason: "its cassette is closed")
        guard case .none("its cassette is closed") = try #require(protocols.session(of: one)).answers else {
            Issue.record("a session of a closed cassette still answers")
            return
        }
        guard case .transport = try #require(protocols.session(of: two)).answers else {
            Issue.record("a session of another cassette answers no more")
            return
        }
    }

    @Test func classesThatWereLetGoAreNotGivenOutAgain() {
        let protocols = SessionProtocols()
        var types: Set<ObjectIdentifier> = []
        for _ in 0..<50 {
            let cassette = Marker()
            types.insert(ObjectIdentifier(protocols.add(self.session(cassette))))
            protocols.close(ObjectIdentifier(cassette), reason: "closed")
        }
        #expect(types.count == 50)
    }
}
