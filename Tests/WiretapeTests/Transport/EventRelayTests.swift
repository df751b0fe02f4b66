import ClientTestSupport
import Foundation
import TapeBytes
import Testing
@testable import Wiretape

@Suite struct EventRelayTests {
    @Test func eventsPassAtOnceUntilThereIsAPause() async {
        let log = EventLog(pauses: [1])
        let relay = EventRelay { log.receive($0) }
        relay.push(.chunk(Data("a".utf8)))
        relay.push(.chunk(Data("b".utf8)))
        #expect(relay.isPaused)
        relay.push(.chunk(Data("c".utf8)))
        relay.push(.end)
        relay.push(.chunk(Data("d".utf8)))
        #expect(log.lines == ["chunk a", "chunk b"])
        relay.resume()
        await log.wait()
        #expect(log.lines == ["chunk a", "chunk b", "chunk c", "end"])
        relay.cancel()
        relay.resume()
        #expect(log.events.count == 4)
    }

    @Test func eventsDuringAPauseAreHeldOnDiskAboveALimit() async {
        let log = EventLog(pauses: [0])
        let relay = EventRelay { log.receive($0) }
        let piece = 300 << 10
        for number in 0..<20 { relay.push(.chunk(Data(repeating: UInt8(number), count: piece))) }
        relay.push(.end)
        #expect(log.events.count == 1)
        relay.resume()
        await log.wait()
        #expect(log.events.count == 21)
        #expect(log.body == Data((0..<20).flatMap { [UInt8](repeating: UInt8($0), count: piece) }))
    }

    @Test func aCancelIsReportedOnceAndLast() async {
        let log = EventLog(pauses: [0])
        let relay = EventRelay { log.receive($0) }
        relay.push(.chunk(Data("a".utf8)))
        relay.push(.chunk(Data("b".utf8)))
        relay.cancel()
        relay.cancel()
        relay.push(.end)
        relay.resume()
        #expect(log.lines == ["chunk a", "failed cancelled"])
    }

    @Test func aReceiverMayCancelFromWithin() {
        let log = EventLog()
        let holder = Guarded<EventRelay?>(nil)
        let relay = EventRelay { event in
            let demand = log.receive(event)
            if case .chunk = event { holder.withLock { $0 }?.cancel() }
            return demand
        }
        holder.withLock { $0 = relay }
        relay.push(.chunk(Data("a".utf8)))
        relay.push(.chunk(Data("b".utf8)))
        #expect(log.lines == ["chunk a", "failed cancelled"])
        holder.withLock { $0 = nil }
    }
}

@Suite struct ChunkSpoolTests {
    @Test func bytesComeBackInTheirOrder() throws {
        let spool = try ChunkSpool()
        try spool.append(Data("abc".utf8))
        #expect(try spool.next(2) == Data("ab".utf8))
        try spool.append(Data("de".utf8))
        #expect(try spool.next(0) == Data())
        #expect(try spool.next(3) == Data("cde".utf8))
        #expect(throws: CocoaError.self) { try spool.next(1) }
    }
}
