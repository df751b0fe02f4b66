import ClientTestSupport
import Foundation
import TapeTestSupport
import Testing

@testable import Wiretape

/// Where requests of a session without a transport go, with scopes of their own: tests beside these are not refused anything.
@Suite struct CassetteScopesTests {
    private let folder: TemporaryFolder
    private let scopes = CassetteScopes()

    init() throws { self.folder = try TemporaryFolder() }

    private func cassette(_ name: String = "a.json") throws -> Cassette { try Cassette(self.folder.file(name), mode: .all) }

    private func enter(allowsEscapes: Bool = false, isOutside: Bool = false) -> CassetteScopes.Scope {
        self.scopes.enter(allowsEscapes: allowsEscapes) { isOutside }
    }

    private func core(madeUnder cassette: Cassette? = nil) -> SessionCore {
        Cassette.$current.withValue(cassette) { SessionCore(HTTPSession.Configuration()) }
    }

    private func cassette(of core: SessionCore, in current: Cassette? = nil) -> Cassette? {
        let transport = Cassette.$current.withValue(current) { core.destination(among: self.scopes).transport }
        return (transport as? RecordingTransport)?.cassette
    }

    @Test func aSessionRemembersTheCassetteItWasMadeUnder() throws {
        let own = try self.cassette()
        let core = self.core(madeUnder: own)
        #expect(self.cassette(of: core) === own)
        let request = HTTPSession.Request(core: core, source: .plain("http://a/", .get, nil, nil), interceptor: nil, sink: .memory)
        #expect(request.withItsCassette { Cassette.current } === own, "its handlers have it too")
    }

    @Test func theTasksCassetteComesFirstAndEndsTheMemory() throws {
        let (own, other) = (try self.cassette(), try self.cassette("b.json"))
        let core = self.core(madeUnder: own)
        #expect(self.cassette(of: core, in: own) === own)
        #expect(self.cassette(of: core) === own)
        #expect(self.cassette(of: core, in: other) === other)
        _ = self.enter()
        #expect(core.destination(among: self.scopes).transport is EscapedTransport, "it is shared between tests")
    }

    /// The worker of a singleton has the cassette of the first test for good.
    @Test func aTaskOfAnEarlierTestUsesTheSessionsCassetteAndElseNone() throws {
        let (first, second) = (try self.cassette(), try self.cassette("b.json"))
        try first.abandon()
        let scope = self.enter()
        #expect(self.cassette(of: self.core(madeUnder: second), in: first) === second)
        let transport = Cassette.$current.withValue(first) { self.core().destination(among: self.scopes).transport }
        #expect((transport as? EscapedTransport)?.isLate == true)
        // Without a test, a closed cassette says that it is closed.
        _ = self.scopes.leave(scope)
        #expect(self.cassette(of: self.core(), in: first) === first)
    }

    @Test func aReleasedCassetteIsForgotten() throws {
        var own: Cassette? = try self.cassette()
        let core = self.core(madeUnder: own)
        own = nil
        #expect(core.destination(among: self.scopes).transport is LiveTransport)
    }

    @Test(arguments: [(false, false, true), (true, false, false), (false, true, false)])
    func withoutACassetteATestIsLeftOnlyIfItAllowsThat(allows: Bool, isOutside: Bool, isRefused: Bool) throws {
        #expect(self.core().destination(among: self.scopes).transport is LiveTransport, "no test uses a cassette")
        let scope = self.enter(allowsEscapes: allows, isOutside: isOutside)
        #expect((self.core().destination(among: self.scopes).transport is EscapedTransport) == isRefused)
        _ = self.scopes.leave(scope)
        #expect(self.core().destination(among: self.scopes).transport is LiveTransport)
    }

    @Test func everyTestThatRunsIsToldOfARefusedRequest() async throws {
        let (one, two) = (self.enter(), self.enter(allowsEscapes: true))
        let session = HTTPSession(transport: EscapedTransport(scopes: self.scopes, isLate: false))
        let url = "http://a/pets?access_token=0123456789abcdef"
        let response = await session.request(url, method: .post).serializingString().response
        #expect(response.error?.message.contains("withEscapedCassette") == true)
        #expect(response.error?.message.contains("0123456789abcdef") == false, "no secret is shown")
        for _ in 0..<30 { _ = await session.request("http://a/").serializingString().response }
        #expect(self.scopes.leave(one).first?.hasPrefix("POST \"http://a/pets") == true)
        #expect(self.scopes.leave(two).count == 20, "as many as a person reads")
        #expect(self.scopes.leave(two).isEmpty)
    }

    @Test func theCassetteIsCarriedIntoACallback() async throws {
        let own = try self.cassette()
        let escaped = Cassette.$current.withValue(own) { withEscapedCassette { $0 } }
        let seen = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(returning: [Cassette.current === own, escaped.yield { Cassette.current === own }])
            }
        }
        #expect(seen == [false, true])
        #expect(await escaped.yield { await Task { Cassette.current === own }.value })
        #expect(withEscapedCassette { $0.yield { Cassette.current } } == nil)
    }
}
