import Testing
@testable import TapeRecorder

@Suite struct BackgroundSyncTests {
    @Test func waitingGivesTheEndAsOftenAsItIsAskedFor() throws {
        let sync = BackgroundSync([])
        for _ in 0..<2 {
            guard case .success? = sync.result(waits: true) else { return #expect(Bool(false), "it did not end well") }
        }
        guard case .success? = sync.result(waits: false) else { return #expect(Bool(false), "it did not end well") }
    }
}
