import Foundation
import TapeTestSupport
import Testing

@testable import Wiretape

@Suite struct DownloadTaskTests {
    private let transport = ScriptedTransport()
    private let session: Session
    private let folder: TemporaryFolder

    init() throws {
        let folder = try TemporaryFolder()
        self.folder = folder
        self.session = .plain(self.transport) { $0.temporaryFolder = URL(fileURLWithPath: folder.path) }
    }

    @Test func theSerializerRunsOnce() async throws {
        let calls = Collected<Int>()
        let task = self.session.download("http://a.test/a").serializing(CountingSerializer(calls: calls))
        await self.transport.exchange(1).answer(200, [:], "x")
        #expect(try await task.value == 1)
        #expect(try await task.result.get() == 1)
        #expect(calls.all.count == 1)
    }

    @Test func cancellingTheTaskThatWaitsCancelsTheRequest() async {
        let task = self.session.download("http://a.test/a").serializingData()
        let waiting = Task { await task.response.error }
        _ = await self.transport.exchange(1)
        waiting.cancel()
        #expect(await waiting.value?.isCancelled == true)
        #expect(task.request.isCancelled)
    }

    @Test func unlessItWasAskedNotTo() async throws {
        let task = self.session.download("http://a.test/a").serializingData(automaticallyCancelling: false)
        let waiting = Task { try await task.value }
        let exchange = await self.transport.exchange(1)
        waiting.cancel()
        exchange.answer(200, [:], "x")
        #expect(try await waiting.value == Data("x".utf8))
    }

    @Test func ordersReachTheRequest() async {
        let task = self.session.download("http://a.test/a").serializingData()
        task.suspend()
        #expect(task.request.isSuspended)
        task.resume()
        #expect(task.request.isResumed)
        task.cancel()
        #expect(await task.response.error?.isCancelled == true)
    }
}
