import Testing
@testable import CassettePlayback

@Suite struct LatencyErrorTests {
    @Test func aTextFromElsewhereIsShownPlainly() {
        let error = #expect(throws: LatencyError.self) { try Latency("\u{1B}[31mred") }
        #expect(error?.message.utf8.contains(0x1B) == false)
    }
}
