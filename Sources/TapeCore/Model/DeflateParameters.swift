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

    public init(level: Int, memoryLevel: Int = 8, windowBits: Int = 15, strategy: Int = 0) {
        self.level = level
        self.memoryLevel = memoryLevel
        self.windowBits = windowBits
        self.strategy = strategy
    }
}
