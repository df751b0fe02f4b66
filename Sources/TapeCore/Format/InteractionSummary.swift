/// What an index of a cassette holds of each interaction.
public struct InteractionSummary: Sendable, Hashable {
    public var id: Int
    public var started: Timestamp
    public var method: String
    public var url: String

    public init(id: Int, started: Timestamp, method: String, url: String) {
        self.id = id
        self.started = started
        self.method = method
        self.url = url
    }
}
