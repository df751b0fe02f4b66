import Testing

@testable import CassetteFormat

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

    @Test func theOutputIsLookedAtAlwaysAndTheRatioAboveItsFloor() {
        let limits = InflateLimits(output: 3 << 20, ratio: 10)
        #expect(limits.problem(produced: 1 << 20, consumed: 1) == nil)
        #expect(limits.problem(produced: 1 << 20 + 1, consumed: 1)?.kind == .tooDense)
        #expect(limits.problem(produced: 3 << 20, consumed: 1 << 20) == nil)
        #expect(
            limits.problem(produced: 3 << 20 + 1, consumed: 1 << 20)
                == InflateProblem(.tooLong, offset: 1 << 20, reason: "decoded body longer than 3145728 bytes"))
    }
}
