import NIOCore
import TapeHTTP2
import Testing

@Suite struct StreamWindowTests {
    @Test func itDoublesWithEachWindowThatIsTakenAndEndsAtAMebibyte() {
        var window = StreamWindow()
        #expect(window.took(65_534) == nil)
        #expect(window.took(1) == 131_070)
        #expect(window.took(131_069) == nil)
        #expect(window.took(1) == 262_140)
        #expect(window.took(262_140) == 524_280)
        #expect(window.took(524_280) == 1_048_560)
        #expect(window.took(10 << 20) == nil)
    }

    @Test func theWindowOfAStalledReaderStartsOver() {
        var window = StreamWindow()
        _ = window.took(65_000)
        window.stalled()
        #expect(window.took(65_000) == nil)
        #expect(window.took(535) == 131_070)
    }
}
