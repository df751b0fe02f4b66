import TapeBytes
import Testing

@testable import TrafficRules

@Suite struct PauseDeskTests {
    private static func item(_ paused: Int, size: Int = 1) -> PauseDesk.Item {
        var content = PauseDesk.Content()
        content.body = [UInt8](repeating: 65, count: size)
        return PauseDesk.Item(
            stage: .request, rule: "look", method: "GET", url: "http://h.test/", content: content, began: .zero, paused: .seconds(paused),
            wait: .seconds(30))
    }

    private static func desk() -> PauseDesk {
        let desk = PauseDesk()
        desk.setWatched { true }
        return desk
    }

    @Test func nothingWaitsWhileNobodyLooks() {
        let desk = PauseDesk()
        #expect(throws: PauseDesk.Refusal.nobodyWatches) { try desk.put(Self.item(1)) { _ in } }
        #expect(desk.count == 0)
    }

    @Test func eachMessageIsDecidedOnce() throws {
        let desk = Self.desk()
        let decisions = Guarded<[PauseDesk.Decision]>([])
        let id = try desk.put(Self.item(1)) { decision in decisions.withLock { $0.append(decision) } }
        #expect(desk.decide(id, .drop))
        #expect(!desk.decide(id, .pass))
        #expect(decisions.withLock { $0 } == [.drop])
        let other = try desk.put(Self.item(1)) { decision in decisions.withLock { $0.append(decision) } }
        desk.remove(other)
        #expect(!desk.decide(other, .pass))
        #expect(decisions.withLock { $0 }.count == 1)
    }

    @Test func theLongestWaitingIsFirst() throws {
        let desk = Self.desk()
        for second in [3, 1, 2] { _ = try desk.put(Self.item(second)) { _ in } }
        #expect(desk.items(at: .seconds(4)).map(\.paused) == [.seconds(1), .seconds(2), .seconds(3)])
    }

    @Test func aMessageWhoseClientHasLeftIsListedUntilItsTimeIsOver() throws {
        let desk = Self.desk()
        let id = try desk.put(Self.item(1)) { _ in }
        desk.clientLeft(id)
        #expect(!desk.decide(id, .pass))
        #expect(desk.items(at: .seconds(30)).map(\.clientHasLeft) == [true])
        #expect(desk.items(at: .seconds(31)).isEmpty)
    }

    @Test func numberAndSizeAreBounded() throws {
        let desk = Self.desk()
        _ = try desk.put(Self.item(1, size: PauseDesk.sizeLimit - 100)) { _ in }
        #expect(throws: PauseDesk.Refusal.full) { try desk.put(Self.item(1, size: 200)) { _ in } }
        for number in 1..<PauseDesk.countLimit { _ = try desk.put(Self.item(number, size: 0)) { _ in } }
        #expect(throws: PauseDesk.Refusal.full) { try desk.put(Self.item(1, size: 0)) { _ in } }
        #expect(desk.count == PauseDesk.countLimit)
    }

    @Test func roomThatIsReservedCounts() throws {
        let desk = Self.desk()
        try desk.reserve(PauseDesk.sizeLimit - 100)
        #expect(throws: PauseDesk.Refusal.full) { try desk.reserve(101) }
        #expect(throws: PauseDesk.Refusal.full) { try desk.put(Self.item(1, size: 200)) { _ in } }
        desk.release(PauseDesk.sizeLimit - 100)
        _ = try desk.put(Self.item(1, size: 200)) { _ in }
        desk.setWatched { false }
        #expect(throws: PauseDesk.Refusal.nobodyWatches) { try desk.reserve(0) }
    }
}
