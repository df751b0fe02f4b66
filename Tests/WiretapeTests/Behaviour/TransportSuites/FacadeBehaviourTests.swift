import ClientTestSupport
import Foundation
import TapeTestSupport
import Testing

@testable import Wiretape

/// The list of behaviours through a Wiretape session: live while recording, from the cassette, and from a stub.
@Suite(.serialized) struct FacadeBehaviourTests {
    @Test(arguments: Behaviour.all) func recordedAndReplayed(behaviour: Behaviour) async throws {
        guard let recorded = Expectations.standard.lines(behaviour, .facade) else { return }
        let folder = try TemporaryFolder()
        let place = try BehaviourOrigin(behaviour)
        let cassette = try Cassette(folder.file("a.json"), mode: .once, settings: .everything)
        #expect(try await FacadeWay(.facade, cassette.transport).lines(of: behaviour, at: place.url) == recorded)
        #expect(try cassette.close().recorded == 1)
        place.expectAsked(behaviour)
        place.stop()
        let replay = try Cassette(folder.file("a.json"))
        let replayed = try await FacadeWay(.facadeReplay, replay.transport).lines(of: behaviour, at: place.url)
        #expect(replayed == Expectations.standard.lines(behaviour, .facadeReplay))
        #expect(try replay.close().failures.isEmpty)
    }

    @Test(arguments: Behaviour.all) func stubbed(behaviour: Behaviour) async throws {
        let stub = StubTransport { _ in behaviour.stub }
        let lines = try await FacadeWay(.facadeStub, stub).lines(of: behaviour, at: "http://stub.test")
        #expect(lines == Expectations.standard.lines(behaviour, .facadeStub))
    }
}
