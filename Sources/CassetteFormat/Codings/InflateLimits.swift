/// Where inflating stops, so that a small body cannot become a huge one.
public struct InflateLimits: Sendable, Hashable {
    /// Most decoded octets when they are collected in memory. A quarter of the 256 MiB that the proxy may use at its peak.
    public static let memoryOutput = 64 << 20
    /// Most decoded octets per coded octet. Deflate cannot pass 1032 (258 octets for two bits); text stays below 100.
    public static let ratio = 1000
    /// Decoded octets up to which the ratio is not looked at: a small page of blanks is no bomb.
    public static let ratioFloor = 1 << 20

    public var output: Int
    public var ratio: Int

    public init(output: Int = Self.memoryOutput, ratio: Int = Self.ratio) {
        self.output = output
        self.ratio = ratio
    }

    /// For decoded octets that go to a file: 64 MiB or 100 times the coded size, the most that anything may cost over what was sent.
    public static func file(codedSize: Int) -> InflateLimits {
        let (product, overflow) = codedSize.multipliedReportingOverflow(by: 100)
        return InflateLimits(output: overflow ? .max : max(Self.memoryOutput, product))
    }

    /// For decoded octets that are only looked at: a gibibyte, a few seconds' work, or 100 times the coded size. Denser than any text is no
    /// reason not to look.
    package static func search(codedSize: Int) -> InflateLimits {
        InflateLimits(output: max(1 << 30, self.file(codedSize: codedSize).output), ratio: .max)
    }

    /// What is wrong with `produced` octets out of `consumed`, if anything is.
    func problem(produced: Int, consumed: Int) -> InflateProblem? {
        guard produced <= self.output else {
            return InflateProblem(.tooLong, offset: consumed, reason: "decoded body longer than \(self.output) octets")
        }
        guard produced <= Self.ratioFloor || produced / max(consumed, 1) <= self.ratio else {
            return InflateProblem(
                .tooDense, offset: consumed, reason: "decoded body more than \(self.ratio) times as long as the coded one")
        }
        return nil
    }
}
