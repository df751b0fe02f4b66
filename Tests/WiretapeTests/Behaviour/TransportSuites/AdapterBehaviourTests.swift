import Foundation
import TapeTestSupport
import Testing

@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The list of behaviours through a URLSession of others: to the network and recorded, then from the cassette.
@Suite(.serialized) struct AdapterBehaviourTests {
    private func wanted(_ behaviour: Behaviour, _ kinds: WayKind...) -> [String]? {
        for kind in kinds {
            switch Expectations.standard.difference(behaviour, kind) {
            case .impossible: return nil
            case .lines(let lines): return lines
            case nil: continue
            }
        }
        return behaviour.lines
    }

    @Test(arguments: Behaviour.all) func recordedAndReplayed(behaviour: Behaviour) async throws {
        guard let lines = self.wanted(behaviour, .adapter) else { return }
        let folder = try TemporaryFolder()
        var origin = try behaviour.answer.map { answer in try LoopbackOrigin { _ in answer } }
        let url = origin?.url ?? "http://127.0.0.1:1"
        var settings = CassetteSettings()
        settings.redaction = false
        let cassette = try Cassette(folder.file("a.json"), mode: .once, settings: settings)
        #expect(await AdapterWay(configuration: .recording(cassette)).lines(of: behaviour, at: url) == lines)
        #expect(try cassette.close().recorded == 1)
        origin = nil
        guard let replayed = self.wanted(behaviour, .adapter, .replay) else { return }
        // Whoever has gone away is answered by what had come.
        let isCut = behaviour.cancelsAfter != nil
        let replay = try Cassette(folder.file("a.json"))
        let found = await AdapterWay(configuration: .replaying(replay)).lines(of: behaviour, at: url)
        #expect(isCut || found == replayed)
        #expect(try replay.close().failures.isEmpty)
    }
}
