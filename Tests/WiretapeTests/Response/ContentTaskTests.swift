import Foundation
import TapeTestSupport
import Testing
@testable import Wiretape

@Suite struct ContentTaskTests {
    private let transport = ScriptedTransport()
    private let session: HTTPSession
    private let folder: TemporaryFolder

    init() throws {
        let folder = try TemporaryFolder()
        self.folder = folder
        self.session = .plain(self.transport) { $0.temporaryFolder = URL(fileURLWithPath: folder.path) }
    }

    @Test(arguments: ContentKind.allCases) func theSerializerRunsOnce(of kind: ContentKind) async throws {
        func check(_ request: some HTTPSession.ContentRequest) async throws {
            let calls = Collected<Int>()
            let task = request.serializing(CountingSerializer(calls: calls), automaticallyCancelling: true)
            await self.transport.exchange(1).answer(200, [:], "x")
            #expect(try await task.value == 1)
            #expect(try await task.result.get() == 1)
            #expect(calls.all.count == 1)
        }
        try await check(kind.request(self.session))
    }

    @Test(arguments: ContentKind.allCases) func cancellingTheTaskThatWaitsCancelsTheRequest(of kind: ContentKind) async {
        func check(_ request: some HTTPSession.ContentRequest) async {
            let task = request.serializingData()
            let waiting = Task { await task.response.error }
            _ = await self.transport.exchange(1)
            waiting.cancel()
            #expect(await waiting.value?.isCancelled == true)
            #expect(task.request.isCancelled)
        }
        await check(kind.request(self.session))
    }

    @Test(arguments: ContentKind.allCases) func eachTaskThatWaitsCanCancelTheRequest(of kind: ContentKind) async {
        func check(_ request: some HTTPSession.ContentRequest) async {
            let task = request.serializingData()
            let first = Task { await task.response.error }
            let exchange = await self.transport.exchange(1)
            while task.request.data.withLock({ $0.waiters.isEmpty }) { await Task.yield() }
            let second = Task { await task.response.error }
            second.cancel()
            #expect(await second.value?.isCancelled == true)
            #expect(await first.value?.isCancelled == true)
            #expect(exchange.isCancelled)
        }
        await check(kind.request(self.session))
    }

    @Test(arguments: ContentKind.allCases) func unlessItWasAskedNotTo(of kind: ContentKind) async throws {
        func check(_ request: some HTTPSession.ContentRequest) async throws {
            let task = request.serializingData(automaticallyCancelling: false)
            let waiting = Task { try await task.value }
            let exchange = await self.transport.exchange(1)
            while request.data.withLock({ $0.waiters.isEmpty }) { await Task.yield() }
            waiting.cancel()
            exchange.answer(200, [:], "x")
            #expect(try await waiting.value == Data("x".utf8))
        }
        try await check(kind.request(self.session))
    }

    @Test(arguments: ContentKind.allCases) func ordersReachTheRequest(of kind: ContentKind) async {
        func check(_ request: some HTTPSession.ContentRequest) async {
            let task = request.serializingData()
            task.suspend()
            #expect(task.request.isSuspended)
            task.resume()
            #expect(task.request.isResumed)
            task.cancel()
            #expect(await task.response.error?.isCancelled == true)
        }
        await check(kind.request(self.session))
    }
}

@Suite struct AnswerMemoTests {
    @Test func anAnswerIsComputedOnceForAllCallers() async {
        let memo = AnswerMemo<Int>()
        #expect(memo.made == nil)
        let made = Collected<Int>()
        let clock = ManualClock()
        let all = await withTaskGroup(of: Int?.self) { group in
            for _ in 0..<10 {
                group.addTask {
                    await memo.make {
                        made.add(1)
                        try? await clock.sleep(for: .seconds(1))
                        return 7
                    }
                    return memo.made
                }
            }
            await clock.sleepers(1)
            clock.advance(by: .seconds(1))
            var all: [Int?] = []
            for await answer in group { all.append(answer) }
            return all
        }
        #expect(all == Array(repeating: 7, count: 10))
        #expect(made.all.count == 1)
        await memo.make { 8 }
        #expect(memo.made == 7)
    }
}
