import Foundation
import NIOEmbedded
import Testing
@testable import TapeProxy

@Suite struct SessionGateTests {
    private let loop = EmbeddedEventLoop()

    private func basic(_ pair: String) -> String { "Basic " + Data(pair.utf8).base64EncodedString() }

    @Test func anOpenPortNeedsNoCredentials() throws {
        let session = try EmbeddedProxy.context(self.loop)
        var sessionGate = SessionGate(nil)
        #expect(sessionGate.session(for: nil, at: session) === session)
        #expect(sessionGate.session(for: "nonsense", at: session) === session)
    }

    @Test func onlyAnOpenPortAsksForNoCredentials() throws {
        #expect(!SessionGate(nil).isGuarded && !SessionGate.open.isGuarded)
        #expect(SessionGate(try ProxyCredentials(pair: "user:pass")).isGuarded && SessionGate(SessionDirectory()).isGuarded)
    }

    @Test func aGuardedPortWantsItsPairEachTime() throws {
        let session = try EmbeddedProxy.context(self.loop)
        var sessionGate = SessionGate(try ProxyCredentials(pair: "user:pass"))
        #expect(sessionGate.session(for: self.basic("user:pass"), at: session) === session)
        #expect(sessionGate.session(for: nil, at: session) == nil)
        #expect(sessionGate.session(for: self.basic("user:past"), at: session) == nil)
    }

    @Test func aSharedPortGoesByEachRequestsCredentials() throws {
        let unauthenticated = try EmbeddedProxy.context(self.loop)
        let one = try EmbeddedProxy.context(self.loop)
        let two = try EmbeddedProxy.context(self.loop)
        let directory = SessionDirectory()
        directory.add(one, name: SessionName(number: 1), token: Secret("first"))
        directory.add(two, name: SessionName(number: 2), token: Secret("second"))
        var sessionGate = SessionGate(directory)
        #expect(sessionGate.session(for: nil, at: unauthenticated) == nil)
        #expect(sessionGate.session(for: self.basic("s1:first"), at: unauthenticated) === one)
        #expect(sessionGate.session(for: self.basic("s1:first"), at: one) === one)
        #expect(sessionGate.session(for: self.basic("s2:second"), at: one) === two)
        #expect(sessionGate.session(for: nil, at: two) == nil, "who was let in once shows the credentials again")
        #expect(sessionGate.session(for: self.basic("s1:second"), at: two) == nil)
    }

    @Test func aRefusalComesWithAdvice() throws {
        let shared = SessionGate(SessionDirectory())
        #expect(shared.refusal(of: nil).text.contains("use the URL in \"proxy\""))
        #expect(shared.refusal(of: self.basic("s1:wrong")).text.contains("no open session has that name and token"))
        #expect(shared.refusal(of: self.basic("s1:wrong")).text.contains("s1") == false)
        #expect(SessionGate(try ProxyCredentials(pair: "user:pass")).refusal(of: nil).text.contains("USER:PASSWORD"))
        #expect(shared.refusal(of: nil).status == 407)
    }

    @Test func credentialsOfASessionThatEndedOpenNothing() throws {
        let one = try EmbeddedProxy.context(self.loop)
        let directory = SessionDirectory()
        directory.add(one, name: SessionName(number: 1), token: Secret("first"))
        var sessionGate = SessionGate(directory)
        #expect(sessionGate.session(for: self.basic("s1:first"), at: one) === one)
        directory.remove(SessionName(number: 1))
        one.stop(then: self.loop.makePromise(of: Void.self))
        #expect(sessionGate.session(for: self.basic("s1:first"), at: one) == nil)
    }
}
