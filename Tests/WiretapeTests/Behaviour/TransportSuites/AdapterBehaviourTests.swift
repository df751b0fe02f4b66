import ClientTestSupport
import Foundation
import TapeTestSupport
import Testing

@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The list of behaviours through a plain URLSession: live while recording, then from the cassette.
@Suite(.serialized) struct AdapterBehaviourTests {
    @Test(arguments: Behaviour.all) func recordedAndReplayed(behaviour: Behaviour) async throws {
        guard let recorded = Expectations.standard.lines(behaviour, .adapter) else { return }
        let folder = try TemporaryFolder()
        let place = try BehaviourOrigin(behaviour)
        let cassette = try Cassette(folder.file("a.json"), mode: .once, settings: .everything)
        #expect(try await SessionWay(.adapter, .recording(cassette)).lines(of: behaviour, at: place.url) == recorded)
        let isRecorded = Expectations.standard.isRecorded(behaviour, .adapter)
        #expect(try cassette.close().recorded == (isRecorded ? 1 : 0))
        guard isRecorded else { return #expect(place.requests.isEmpty) }
        place.expectAsked(behaviour)
        place.stop()
        let replay = try Cassette(folder.file("a.json"))
        let replayed = try await SessionWay(.adapterReplay, .replaying(replay)).lines(of: behaviour, at: place.url)
        #expect(replayed == Expectations.standard.lines(behaviour, .adapterReplay))
        #expect(try replay.close().failures.isEmpty)
    }
}
