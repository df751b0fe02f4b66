import Foundation
import TapeBytes
import Testing
import Wiretape

@Suite struct ClosureEventMonitorTests {
    @Test func itIsToldEachEvent() {
        let ids = Guarded<[UUID]>([])
        let monitor: any EventMonitor = .events { event in ids.withLock { $0.append(event.requestID) } }
        let wanted = [UUID(), UUID()]
        for id in wanted { monitor.sessionDid(SessionEvent(requestID: id, kind: .created)) }
        #expect(ids.withLock { $0 } == wanted)
    }
}
