/// What zlib needs to produce the same deflate stream again.
public struct DeflateParameters: Sendable, Hashable {
    /// 0…9
    public var level: Int
    /// 1…9; 8 is zlib's default.
    public var memoryLevel: Int
    /// Base two logarithm of the window, 9…15.
    public var windowBits: Int
    /// zlib's strategy constant; 0 is the default strategy.
    public var strategy: Int
    /// Where the producer flushed its compressor (Z_SYNC_FLUSH), as content octets since the flush before, or the beginning.
    public var flushes: [Int]

    /// Most flushes. A stream with more carries five octets for each of them, and is sooner kept as it came than told of.
    public static let flushLimit = 1024

    public init(level: Int, memoryLevel: Int = 8, windowBits: Int = 15, strategy: Int = 0, flushes: [Int] = []) {
        self.level = level
        self.memoryLevel = memoryLevel
        self.windowBits = windowBits
        self.strategy = strategy
        self.flushes = flushes
    }
}
