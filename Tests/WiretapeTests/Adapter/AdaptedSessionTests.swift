import Foundation
import Testing

@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

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

    @Test func itKnowsWhatItsUserChangesLater() {
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
