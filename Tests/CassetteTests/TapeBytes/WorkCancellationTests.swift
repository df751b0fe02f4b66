import TapeBytes
import Testing

@Suite struct WorkCancellationTests {
    @Test func workAsksWhetherItWasCancelled() {
        let cancellation = WorkCancellation()
        #expect(!WorkCancellation.isCancelled)
        cancellation.run {
            #expect(!WorkCancellation.isCancelled)
            cancellation.cancel()
            #expect(WorkCancellation.isCancelled)
        }
        #expect(!WorkCancellation.isCancelled, "other work of this thread is not cancelled")
    }

    @Test func handlersAreCalledOnce() {
        let cancellation = WorkCancellation()
        let calls = Guarded<[String]>([])
        cancellation.run { WorkCancellation.onCancel { calls.withLock { $0.append("early") } } }
        #expect(calls.withLock { $0 }.isEmpty)
        cancellation.cancel()
        cancellation.cancel()
        cancellation.run { WorkCancellation.onCancel { calls.withLock { $0.append("late") } } }
        #expect(calls.withLock { $0 } == ["early", "late"])
    }

    @Test func workThatCannotBeCancelledContinues() {
        WorkCancellation.onCancel { Issue.record("it was cancelled") }
        #expect(!WorkCancellation.isCancelled)
    }
}
