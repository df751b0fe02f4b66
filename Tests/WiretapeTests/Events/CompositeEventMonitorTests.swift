import Foundation
import TapeBytes
import Testing
import Wiretape

@Suite struct CompositeEventMonitorTests {
    @Test func allAreToldInOrder() {
        let told = Guarded<[Int]>([])
        let all = CompositeEventMonitor((0..<3).map { number in ClosureEventMonitor { _ in told.withLock { $0.append(number) } } })
        all.sessionDid(SessionEvent(requestID: UUID(), kind: .created))
        #expect(told.withLock { $0 } == [0, 1, 2])
    }
}
