import CassettePlayback
import CassetteStore
import NIOEmbedded
import Testing
@testable import TapeProxy

@Suite struct SessionStageTests {
    @Test func eachSessionHasItsOwnWayToOrigins() throws {
        let lobby = try EmbeddedProxy.context(EmbeddedEventLoop())
        lobby.listens(on: "127.0.0.1", port: 7070)
        let stage = SessionStage(shared: lobby.shared, lobby: lobby)
        let contexts = try ["a.json", "b.json"].map {
            var configuration = ProxyConfiguration()
            configuration.cassetteName = $0
            return stage.makeContext(SharedSession(configuration: configuration, session: try CassetteSession(mode: .all)))
        }
        #expect(contexts[0].pool !== contexts[1].pool && contexts[0].dialing !== contexts[1].dialing)
        #expect(contexts.map(\.configuration.cassetteName) == ["a.json", "b.json"])
        #expect(contexts[0].address == "127.0.0.1:7070")
    }
}
