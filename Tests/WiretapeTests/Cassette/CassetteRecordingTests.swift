import CassetteModel
import CassetteStore
import ClientTestSupport
import Foundation
import TapeBytes
import TapeTestSupport
import Testing

@testable import Wiretape

@Suite struct CassetteRecordingTests {
    @Test func whoAsksWhileThereIsRoomIsCalledAtOnce() throws {
        let folder = try TemporaryFolder()
        let cassette = try Cassette(folder.file("a.json"), mode: .once)
        let recording = try #require(cassette.recording)
        let calls = Guarded(0)
        recording.whenDrained { calls.withLock { $0 += 1 } }
        recording.waitUntilDrained()
        #expect(calls.withLock { $0 } == 1)
        #expect(recording.nextID() == 1)
        #expect(recording.nextID() == 2)
        try cassette.close()
    }

    @Test func aSecretThatIsLeftIsAnErrorThatNamesItsPlace() async throws {
        let folder = try TemporaryFolder()
        let cassette = try Cassette(folder.file("a.json"), mode: .once)
        // What is a secret in a field is one in the host's name, where nothing is taken out.
        let transport = RecordingTransport(cassette, around: StubTransport { _ in .response() })
        _ = try await transport.exchange("GET", "http://s3cr3t-0123456789abcdef.test/", headers: [("X-Api-Key", "s3cr3t-0123456789abcdef")])
        do {
            try cassette.close()
            let text = String(decoding: try folder.read("a.json"), as: UTF8.self)
            #expect(!text.contains("s3cr3t-0123456789abcdef"))
        } catch let error as CassetteError {
            #expect(error.code == .secretsLeft)
            #expect(error.message.contains("exchange 1"))
            #expect(throws: CassetteError.self) { try cassette.close() }
        }
    }

    @Test func anExchangeThatBeginsBehindTheEndWaitsForNobody() throws {
        let folder = try TemporaryFolder()
        let cassette = try Cassette(folder.file("a.json"), mode: .once)
        let recording = try #require(cassette.recording)
        try cassette.close()
        let request = TransportRequest.make("GET", "http://a.test/")
        let tape = ExchangeTape(request, recording: recording, clock: ContinuousClock())
        #expect(!tape.take(.head(HTTPSession.Response(url: request.url, status: 200))).isFull)
        for _ in 0..<16 { #expect(!tape.take(.chunk(Data(count: 1 << 20))).isFull) }
        #expect(!tape.take(.end).isFull)
        #expect(recording.recordedCount == 0)
    }
}
