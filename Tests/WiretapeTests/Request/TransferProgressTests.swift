import Testing
import Wiretape

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
