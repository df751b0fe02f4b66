import Foundation
import TapeCore
import TapeTestSupport
import Testing

@testable import Wiretape

/// The same list of behaviours in each way: what one way shows and another does not stands in `Expectations`.
@Suite(.serialized) struct BehaviourTests {
    /// An origin for one behaviour, or the URL of a port where nobody listens.
    private struct Place {
        var origin: LoopbackOrigin?
        var url: String { self.origin?.url ?? "http://127.0.0.1:1" }

        init(_ behaviour: Behaviour) throws {
            guard let answer = behaviour.answer else { return }
            self.origin = try LoopbackOrigin { _ in answer }
        }
    }

    private func expect(_ way: some Way, _ behaviour: Behaviour, at url: String) async throws {
        switch Expectations.standard.difference(behaviour, way.kind) {
        case .impossible: return
        case .lines(let lines): #expect(try await way.lines(of: behaviour, at: url) == lines)
        case nil: #expect(try await way.lines(of: behaviour, at: url) == behaviour.lines)
        }
    }

    @Test(arguments: Behaviour.all) func live(behaviour: Behaviour) async throws {
        let place = try Place(behaviour)
        try await self.expect(TransportWay(kind: .live, transport: LiveTransport.shared), behaviour, at: place.url)
    }

    @Test(arguments: Behaviour.all) func recordedAndReplayed(behaviour: Behaviour) async throws {
        if case .impossible = Expectations.standard.difference(behaviour, .recording) { return }
        let folder = try TemporaryFolder()
        var place: Place? = try Place(behaviour)
        let url = try #require(place?.url)
        var settings = CassetteSettings()
        // Cookies are to come back as they came.
        settings.redaction = false
        let cassette = try Cassette(folder.file("a.json"), mode: .once, settings: settings)
        let recording = TransportWay(kind: .recording, transport: RecordingTransport(cassette, around: LiveTransport.shared))
        try await self.expect(recording, behaviour, at: url)
        #expect(try cassette.close().recorded == 1)
        // Nobody is asked again.
        place = nil
        let replay = try Cassette(folder.file("a.json"))
        try await self.expect(TransportWay(kind: .replay, transport: ReplayTransport(replay)), behaviour, at: url)
        #expect(try replay.close().failures.isEmpty)
    }

    @Test func theOriginGetsWhatWasSent() async throws {
        for behaviour in Behaviour.all where behaviour.body.isPresent {
            let place = try Place(behaviour)
            try await self.expect(TransportWay(kind: .live, transport: LiveTransport.shared), behaviour, at: place.url)
            let request = try #require(place.origin?.requests.first)
            #expect(request.method == behaviour.method)
            guard case .data(let data) = behaviour.body else { continue }
            #expect(request.body == data)
            #expect(request.field("content-type") == behaviour.headers.first { $0.0 == "Content-Type" }?.1)
        }
    }

    @Test func eachDifferenceIsOfABehaviourThatThereIs() {
        let names = Set(Behaviour.all.map(\.name))
        #expect(names.count == Behaviour.all.count)
        for row in Expectations.standard.rows { #expect(names.contains(row.behaviour)) }
    }
}
