public import TapeCore

/// A cassette in use: what is replayed from it, what is recorded into it, and what was asked of it.
///
/// One for each test or run; it shares nothing with others. The file is the one that the proxy reads and writes.
public final class Cassette: Sendable {
    /// The cassette of the task: sessions without a transport of their own take it, live where there is none.
    @TaskLocal public static var current: Cassette?

    public let path: String
    public let mode: RecordMode

    init(path: String, mode: RecordMode) {
        self.path = path
        self.mode = mode
    }
}
