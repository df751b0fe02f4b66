public import TapeBytes

/// How a recording is doing; read from any thread.
public struct RecorderStatus: Sendable, Hashable {
    /// Exchanges in the file.
    public var recorded = 0
    /// Exchanges that could not be written and are lost.
    public var lost = 0
    /// Exchanges in memory that wait until they can be written.
    public var held = 0
    /// What keeps the recorder from writing, by its last attempt; nil if nothing does.
    public var obstacle: RecorderProblem?
    /// The first thing that went wrong, with its cause.
    public var firstProblem: RecorderProblem?
    /// Exchanges whose bodies wait to be decoded.
    public var undeveloped = 0
    /// How often a secret came that there was no room for (`SecretVault.limit`): it is taken out at its own place only. Known once all is
    /// written.
    public var unsearched = 0
    /// Secrets that are in the closed recording though they were to be taken out.
    public var leaks: [CassetteLeak] = []

    public init() {}

    /// Whether the last attempt to write found no room.
    public var isDiskFull: Bool { self.obstacle?.code == .diskFull }
}
