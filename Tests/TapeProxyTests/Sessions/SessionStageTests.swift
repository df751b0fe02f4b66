import NIOConcurrencyHelpers
import NIOEmbedded
import TapeCore
import Testing
@testable import TapeProxy

@Suite struct SessionStageTests {
    @Test func nothingIsForwardedOrReplayedInTheLobby() throws {
        let stage = try SessionStage(loop: EmbeddedEventLoop(), settings: ProxyConfiguration(), resolver: NameResolver(), disk: .shared)
        #expect(!stage.lobby.session.mayForward && !stage.lobby.session.looksUp)
        #expect(stage.lobby.recorder == nil && stage.lobby.library == nil)
    }

    @Test func eachSessionHasItsOwnWayToOrigins() throws {
        let stage = try SessionStage(loop: EmbeddedEventLoop(), settings: ProxyConfiguration(), resolver: NameResolver(), disk: .shared)
        stage.lobby.listens(on: "127.0.0.1", port: 7070)
        let contexts = try ["a.json", "b.json"].map {
            stage.makeContext(
                try CassetteSession(mode: .all), cassette: nil, recorder: nil, cassetteName: $0, counts: NIOLockedValueBox(ProxyCounts()),
                notice: { _ in })
        }
        #expect(contexts[0].pool !== contexts[1].pool && contexts[0].dialing !== contexts[1].dialing)
        #expect(contexts.map(\.configuration.cassetteName) == ["a.json", "b.json"])
        #expect(contexts[0].address == "127.0.0.1:7070")
    }
}
