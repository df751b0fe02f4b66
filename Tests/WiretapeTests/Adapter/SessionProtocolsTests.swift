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

@Suite struct AdaptedSessionTests {
    @Test func itLivesAsLongAsAConfigurationACopyOrASessionDoes() {
        weak var transport: AdapterTransport?
        var configuration: URLSessionConfiguration?
        do {
            let made = AdapterTransport()
            transport = made
            configuration = .answered(by: made)
        }
        #expect(transport != nil)
        var copy = configuration?.copy() as? URLSessionConfiguration
        configuration = nil
        #expect(transport != nil)
        let session = copy.map { URLSession(configuration: $0) }
        copy = nil
        #expect(transport != nil)
        session?.invalidateAndCancel()
    }

    @Test func itGoesWithTheLastOfThem() {
        weak var transport: AdapterTransport?
        do {
            let made = AdapterTransport()
            transport = made
            let configuration = URLSessionConfiguration.answered(by: made)
            #expect(configuration.copy() is URLSessionConfiguration)
        }
        #expect(transport == nil)
    }

    @Test func settingsForProxiesStay() throws {
        let base = URLSessionConfiguration.ephemeral
        base.connectionProxyDictionary = ["own": 1]
        let configuration = URLSessionConfiguration.answered(by: AdapterTransport(), basedOn: base)
        #expect(try #require(configuration.connectionProxyDictionary)["own"] as? Int == 1)
        #expect(base.connectionProxyDictionary?.count == 1)
    }

    @Test func laterChangesOfItsUserAreKept() {
        let configuration = URLSessionConfiguration.ephemeral
        let session = AdaptedSession(AdapterTransport(), isInPlace: false, configuration: configuration)
        configuration.timeoutIntervalForRequest = 3
        #expect(session.configuration.timeoutIntervalForRequest == 3)
    }

    @Test func itKnowsWhatWasHandedOutWhereThatIsGone() {
        func made() -> AdaptedSession {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.timeoutIntervalForRequest = 5
            return AdaptedSession(AdapterTransport(), isInPlace: false, configuration: configuration)
        }
        #expect(made().configuration.timeoutIntervalForRequest == 5)
    }
}

@Suite struct BinaryNumberTests {
    @Test func everyNumberIsATypeOfItsOwn() {
        let types = Set((0..<2000).map { ObjectIdentifier(BinaryNumber.type(of: $0)) })
        #expect(types.count == 2000)
        for number: UInt in [0, 1, 6, 1999] { #expect(types.contains(ObjectIdentifier(BinaryNumber.type(of: number)))) }
    }

    @Test func digitsAreWrittenFromTheLowest() {
        let six = BinaryNumber.Even<BinaryNumber.Odd<BinaryNumber.Odd<BinaryNumber.Zero>>>.self
        #expect(ObjectIdentifier(BinaryNumber.type(of: 6)) == ObjectIdentifier(six))
        _ = BinaryNumber.type(of: .max)
    }
}

@Suite struct SessionProtocolTests {
    @Test func eachNumberHasAClassOfItsOwnWhichIsAURLProtocol() {
        let types = (0..<100).map { SessionProtocol<BinaryNumber.Zero>.numbered($0) }
        #expect(Set(types.map { ObjectIdentifier($0) }).count == 100)
        let all: [AnyClass] = types
        #expect(all.allSatisfy { $0 is URLProtocol.Type })
        #expect(types[3] == SessionProtocol<BinaryNumber.Zero>.numbered(3))
    }
}
