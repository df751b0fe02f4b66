import Testing
@testable import Wiretape

@Suite struct TransferProgressTests {
    @Test func fractionsNeedATotal() {
        #expect(TransferProgress(completedUnitCount: 5).fractionCompleted == nil)
        #expect(TransferProgress(completedUnitCount: 5, totalUnitCount: 20).fractionCompleted == 0.25)
        #expect(TransferProgress(completedUnitCount: 30, totalUnitCount: 20).fractionCompleted == 1)
        #expect(TransferProgress(completedUnitCount: 0, totalUnitCount: 0).fractionCompleted == 1)
        #expect(TransferProgress(completedUnitCount: 20, totalUnitCount: 20).isFinished)
        #expect(!TransferProgress(completedUnitCount: 20).isFinished)
    }
}

@Suite struct TransferCountTests {
    @Test func observersGetTheCurrentProgress() {
        let seen = Collected<String>()
        var count = TransferCount()
        #expect(!count.isObserved)
        count.observe { seen.add("\($0.completedUnitCount) of \($0.totalUnitCount.map(String.init) ?? "?") \($1)") }
        count.begin(total: nil)
        count.advance(by: 3)
        count.notify()
        count.reach(4, of: 6)
        count.notify()
        count.begin(total: nil)
        count.advance(by: 2)
        count.finish(whole: true)
        count.notify()
        #expect(count.isObserved)
        #expect(seen.all == ["3 of ? false", "4 of 6 false", "2 of 2 true"])
    }

    @Test func aCutTransferHasNoTotal() {
        var count = TransferCount()
        count.advance(by: 3)
        count.finish(whole: false)
        #expect(count.progress.totalUnitCount == nil)
    }
}
