import CassetteStore
import ClientTestSupport
import Foundation
import TapeTestSupport
import Testing

@testable import Wiretape

/// The same list of behaviours in every way; the differences are in `Expectations`.
@Suite(.serialized) struct BehaviourTests {
    private func expect(_ way: some Way, _ behaviour: Behaviour, at url: String) async throws {
        let lines = try await way.lines(of: behaviour, at: url)
        #expect(lines == Expectations.standard.lines(behaviour, way.kind))
    }

    @Test(arguments: Behaviour.all) func live(behaviour: Behaviour) async throws {
        guard Expectations.standard.lines(behaviour, .live) != nil else { return }
        let place = try BehaviourOrigin(behaviour)
        try await self.expect(TransportWay(.live, LiveTransport.shared), behaviour, at: place.url)
        place.expectAsked(behaviour)
    }

    @Test(arguments: Behaviour.all) func recordedAndReplayed(behaviour: Behaviour) async throws {
        guard Expectations.standard.lines(behaviour, .recording) != nil else { return }
        let folder = try TemporaryFolder()
        let place = try BehaviourOrigin(behaviour)
        let cassette = try Cassette(folder.file("a.json"), mode: .once, settings: .everything)
        let recording = TransportWay(.recording, RecordingTransport(cassette, around: LiveTransport.shared))
        try await self.expect(recording, behaviour, at: place.url)
        place.expectAsked(behaviour)
        #expect(try cassette.close().recorded == 1)
        // The origin must not be asked again.
        place.stop()
        let replay = try Cassette(folder.file("a.json"))
        try await self.expect(TransportWay(.replay, ReplayTransport(replay)), behaviour, at: place.url)
        #expect(try replay.close().failures.isEmpty)
    }

    @Test(arguments: Behaviour.all) func stubbed(behaviour: Behaviour) async throws {
        let stub = StubTransport { _ in behaviour.stub }
        try await self.expect(TransportWay(.stub, stub), behaviour, at: "http://stub.test")
        #expect(stub.requests.map(\.method) == [behaviour.method])
    }

    @Test func eachDifferenceIsOne() {
        let names = Set(Behaviour.all.map(\.name))
        #expect(names.count == Behaviour.all.count)
        for row in Expectations.standard.rows {
            #expect(names.contains(row.behaviour), "\"\(row.behaviour)\" is no behaviour: correct its row in Expectations")
            let lines = Behaviour.named(row.behaviour)?.lines ?? []
            #expect(row.outcome != .lines(lines), "\"\(row.behaviour)\" has a row that says what the list says: remove it")
        }
    }
}
