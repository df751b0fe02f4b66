public import CassetteStore

/// What a session is to be: which cassette, and how it is replayed and recorded.
public struct SessionOrder: Sendable, Hashable {
    /// Nil takes a free name.
    public var name: SessionName?
    /// The cassette's name in the server's folder.
    public var cassette: String
    public var mode: RecordMode
    /// Laid over those that hold for all sessions, and over the cassette's own.
    public var settings: RunSettings
    /// Whether the session gets a port of its own, for clients that know no proxy credentials.
    public var wantsPort: Bool

    public init(
        name: SessionName? = nil, cassette: String, mode: RecordMode = .once, settings: RunSettings = RunSettings(),
        wantsPort: Bool = false
    ) {
        self.name = name
        self.cassette = cassette
        self.mode = mode
        self.settings = settings
        self.wantsPort = wantsPort
    }
}
