import Testing

@testable import Wiretape

@Suite struct JitterGeneratorTests {
    /// The first numbers of the published algorithm for the seed 1234567.
    @Test func theNumbersAreThoseOfSplitMix64() {
        var generator = JitterGenerator(seed: 1_234_567)
        #expect((0..<3).map { _ in generator.next() } == [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423])
    }
}
