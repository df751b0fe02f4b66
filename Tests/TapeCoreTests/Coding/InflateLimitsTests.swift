import TapeCore
import Testing

@Suite struct InflateLimitsTests {
    @Test func memoryGetsTheDefaults() {
        let limits = InflateLimits()
        #expect(limits.output == 64 << 20)
        #expect(limits.ratio == 1000)
    }

    @Test(arguments: [(0, 64 << 20), (1, 64 << 20), (671_088, 64 << 20), (671_089, 67_108_900), (1 << 20, 100 << 20)])
    func aFileMayBeAHundredTimesItsCodedSizeAndAlways64MiB(codedSize: Int, output: Int) {
        #expect(InflateLimits.file(codedSize: codedSize) == InflateLimits(output: output, ratio: 1000))
    }

    @Test(arguments: [Int.max, .max / 100 + 1])
    func aSizePastAllReasonDoesNotOverflow(codedSize: Int) {
        #expect(InflateLimits.file(codedSize: codedSize).output == .max)
    }

    @Test func theLargestSizeThatCanBeMultipliedIs() {
        #expect(InflateLimits.file(codedSize: .max / 100).output == .max / 100 * 100)
    }
}
