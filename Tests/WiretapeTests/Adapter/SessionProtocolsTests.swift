import Foundation
import Testing

@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct SessionProtocolsTests {
    private func session() -> AdaptedSession { AdaptedSession(AdapterTransport(), isInPlace: true, configuration: .ephemeral) }

    @Test func aClassBelongsToOneSession() {
        let protocols = SessionProtocols()
        let (first, second) = (self.session(), self.session())
        let (one, two) = (protocols.add(first), protocols.add(second))
        #expect(one != two)
        #expect(protocols.session(of: one) === first)
        #expect(protocols.session(of: two) === second)
        #expect(protocols.session(of: LoadingProtocol.self) == nil)
    }

    @Test func itKeepsNoSessionAliveAndGivesNoClassOutTwice() {
        let protocols = SessionProtocols()
        var types: [LoadingProtocol.Type] = []
        for _ in 0..<50 { types.append(protocols.add(self.session())) }
        #expect(Set(types.map { ObjectIdentifier($0) }).count == 50)
        #expect(types.allSatisfy { protocols.session(of: $0) == nil })
    }
}
