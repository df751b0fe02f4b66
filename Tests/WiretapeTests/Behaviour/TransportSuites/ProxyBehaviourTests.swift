#if canImport(FoundationNetworking)
import ClientTestSupport
import Foundation
import TapeTestSupport
import Testing

@testable import Wiretape

/// The list of behaviours through the system's own URLSession, in a process of its own with `http_proxy` set, and with cassettes that the
/// proxy and the client exchange: their format is the same.
@Suite(.serialized) struct ProxyBehaviourTests {
    private func expect(_ kind: WayKind, _ behaviour: Behaviour, at url: String, through proxy: LoopbackProxy) async throws {
        let (ending, errors) = try await ProbeProcess.run(
            "behave", kind.rawValue, behaviour.name, url, environment: ["http_proxy": proxy.url, "no_proxy": nil, "NO_PROXY": nil])
        switch Expectations.standard.outcome(behaviour, kind) {
        case .lines(let lines): #expect(ending.lines == lines, "\(kind): \(ending) \(errors)")
        case .dies(let words): ProbeProcess.expectDeath(ending, errors, of: "\(behaviour) by \(kind)", saying: words)
        }
    }

    @Test(arguments: Behaviour.all) func recordedByTheProxy(behaviour: Behaviour) async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("a.json")
        let place = try BehaviourOrigin(behaviour)
        let recording = try LoopbackProxy(file, mode: .all)
        try await self.expect(.proxy, behaviour, at: place.url, through: recording)
        #expect(try recording.stop().recorded == 1)
        place.expectAsked(behaviour)
        place.stop()
        let replaying = try LoopbackProxy(file, mode: .none)
        try await self.expect(.proxyReplay, behaviour, at: place.url, through: replaying)
        #expect(try replaying.stop().misses == self.misses(behaviour))
        let cassette = try Cassette(file)
        let lines = try await TransportWay(.replayOfProxy, ReplayTransport(cassette)).lines(of: behaviour, at: place.url)
        #expect(lines == Expectations.standard.lines(behaviour, .replayOfProxy))
        #expect(try cassette.close().failures.isEmpty)
    }

    @Test(arguments: Behaviour.all) func recordedByTheClient(behaviour: Behaviour) async throws {
        guard Expectations.standard.lines(behaviour, .recording) != nil else { return }
        let folder = try TemporaryFolder()
        let file = folder.file("a.json")
        let place = try BehaviourOrigin(behaviour)
        let cassette = try Cassette(file, mode: .once, settings: .everything)
        let recording = TransportWay(.recording, RecordingTransport(cassette, around: LiveTransport.shared))
        _ = try await recording.lines(of: behaviour, at: place.url)
        #expect(try cassette.close().recorded == 1)
        place.stop()
        let replaying = try LoopbackProxy(file, mode: .none)
        try await self.expect(.proxyReplayOfClient, behaviour, at: place.url, through: replaying)
        #expect(try replaying.stop().misses == self.misses(behaviour))
    }

    /// A client that waits longer than the recorded one, which disconnected, gets no more of the answer.
    private func misses(_ behaviour: Behaviour) -> Int { behaviour.name == "cancelled" ? 1 : 0 }
}
#endif
