import Testing

@testable import Wiretape

@Suite struct TransferCountTests {
    @Test func observersAreToldWhereItStands() {
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
