import CassetteModel
import NIOCore
import TapeExchange
import TapeRecorder
import Testing
@testable import TapeProxy

/// Long event streams, in memory: which parts of them the recorder gets while they run.
@Suite struct RunningStreamTests {
    private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
    private static let event = "data: \(String(repeating: "x", count: 992))\n\n"

    private func scene(_ durability: ProxyConfiguration.Durability = .normal) throws -> ExchangeScene {
        let scene = try ExchangeScene { $0.durability = durability }
        scene.client(ForwardTranscriptTests.get)
        scene.connected()
        return scene
    }

    @Test func aShortStreamIsKeptOnlyOnceItHasRunForAWhile() throws {
        let scene = try self.scene()
        scene.origin(Self.head + Self.event)
        #expect(scene.recorder.kept == [])
        scene.advance(1)
        #expect(scene.recorder.kept == ["open", "1000"])
        scene.origin(Self.event + "data: part")
        scene.origin("\n\n")
        #expect(scene.recorder.kept == ["open", "1000", "1000", "12"])
    }

    /// Bytes that leave memory could not be recorded later.
    @Test func aStreamThatBeginsWithMuchIsKeptBeforeThatLeavesMemory() throws {
        let scene = try self.scene()
        scene.origin(Self.head + String(repeating: Self.event, count: 60))
        #expect(scene.recorder.kept == [])
        scene.origin(String(repeating: Self.event, count: 10))
        #expect(scene.recorder.kept == ["open", "60000", "10000", "block"])
    }

    @Test func aStreamIsKeptWithFullDurabilityToo() throws {
        let scene = try self.scene(.full)
        scene.origin(Self.head + Self.event)
        scene.advance(1)
        #expect(scene.recorder.kept == ["open", "1000"])
    }

    /// A secret split between two pieces would be found in neither.
    @Test func aRequestThatIsNoStreamIsKeptWhenItIsWhole() throws {
        let scene = try ExchangeScene()
        scene.client(ForwardTranscriptTests.post("Content-Length: 10", "first"))
        scene.connected()
        scene.origin(Self.head + Self.event)
        scene.advance(1)
        #expect(scene.recorder.kept == ["open", "1000"])
        scene.client("secon")
        #expect(scene.recorder.kept == ["open", "1000", "10", "end"])
    }
}
