import ClientTestSupport
import Foundation
import TapeTestSupport
import Testing

@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The list of behaviours through a URLSession of others: to the network and recorded, then from the cassette.
@Suite(.serialized) struct AdapterBehaviourTests {
    @Test(arguments: Behaviour.all) func recordedAndReplayed(behaviour: Behaviour) async throws {
        guard let recorded = Expectations.standard.lines(behaviour, .adapter) else { return }
        let folder = try TemporaryFolder()
        let place = try BehaviourOrigin(behaviour)
        let cassette = try Cassette(folder.file("a.json"), mode: .once, settings: .everything)
        #expect(try await SessionWay(.adapter, .recording(cassette)).lines(of: behaviour, at: place.url) == recorded)
        guard try cassette.close().recorded == 1 else {
            #expect(place.requests.isEmpty, "what the origin was asked is not recorded")
            return
        }
        place.expectAsked(behaviour)
        place.stop()
        let replay = try Cassette(folder.file("a.json"))
        let replayed = try await SessionWay(.adapterReplay, .replaying(replay)).lines(of: behaviour, at: place.url)
        #expect(replayed == Expectations.standard.lines(behaviour, .adapterReplay))
        #expect(try replay.close().failures.isEmpty)
    }
}
