import CassetteModel
import CassettePlayback
import CassetteStore
import ClientTestSupport
import Foundation
import TapeBytes
import TapeTestSupport
import Testing

@testable import Wiretape

@Suite struct RecordingTaskTests {
    /// A transport that does what its test says, and keeps what it was told.
    private final class Scripted: Transport, TransportTask {
        struct State: Sendable {
            var receive: (@Sendable (TransportEvent) -> Demand)?
            var orders: [String] = []
        }

        let state = Guarded(State())
        /// Signalled by each resume.
        let resumed = DispatchSemaphore(value: 0)

        func start(_ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Demand) -> any TransportTask {
            self.state.withLock { $0.receive = receive }
            return self
        }

        func cancel() { self.state.withLock { $0.orders.append("cancel") } }
        func resume() {
            self.state.withLock { $0.orders.append("resume") }
            self.resumed.signal()
        }
        func tell(_ event: TransportEvent) -> Demand? { self.state.withLock { $0.receive }?(event) }
        var orders: [String] { self.state.withLock { $0.orders } }
    }

    @Test func pauseAndResumeAreThoseOfTheReceiver() throws {
        let folder = try TemporaryFolder()
        let cassette = try Cassette(folder.file("a.json"), mode: .once)
        let inner = Scripted()
        let log = EventLog(pauses: [0])
        let task = RecordingTransport(cassette, around: inner).start(.make("GET", "http://a.test/")) { log.receive($0) }
        #expect(inner.tell(.chunk(Data("a".utf8))) == .pause)
        task.resume()
        #expect(inner.orders == ["resume"])
        #expect(inner.tell(.chunk(Data("b".utf8))) == .more)
        task.cancel()
        #expect(inner.orders == ["resume", "cancel"])
        #expect(inner.tell(.failed(.cancelled())) == .more)
        task.cancel()
        #expect(inner.orders == ["resume", "cancel"])
        #expect(log.lines == ["chunk a", "chunk b", "failed cancelled"])
        try cassette.close()
    }

    @Test func aFullRecorderPausesTheNetworkUntilItHasDrained() async throws {
        let folder = try TemporaryFolder()
        let cassette = try Cassette(folder.file("a.json"), mode: .once)
        let inner = Scripted()
        let log = EventLog()
        let task = RecordingTransport(cassette, around: inner).start(.make("GET", "http://a.test/")) { log.receive($0) }
        _ = inner.tell(.head(HTTPResponse(url: URL(fileURLWithPath: "/"), status: 200)))
        var pauses = 0
        for _ in 0..<40 where inner.tell(.chunk(Data(repeating: 7, count: 1 << 20))) == .pause { pauses += 1 }
        #expect(pauses > 0)
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                inner.resumed.wait()
                continuation.resume()
            }
        }
        #expect(inner.tell(.end) == .more)
        try cassette.close()
        #expect(inner.orders.contains("resume"))
        #expect(try RecordedCassette(path: folder.file("a.json")).interaction(at: 0).response?.body?.size == 40 << 20)
        withExtendedLifetime(task) {}
    }
}
