/// How a recording is doing; read from any thread.
public struct RecorderStatus: Sendable, Hashable {
    /// Exchanges in the file.
    public var recorded = 0
    /// Exchanges that could not be written and are lost.
    public var lost = 0
    /// Exchanges in memory that wait for room on the disk.
    public var held = 0
    /// The last write failed: nothing is recorded until there is room.
    public var isDiskFull = false
    /// The first failed write, in words for people.
    public var firstProblem: String?
    /// Exchanges whose bodies wait to be developed.
    public var undeveloped = 0
    /// Secrets that are in the closed recording though they were to be taken out.
    public var leaks: [CassetteLeak] = []

    public init() {}
}
