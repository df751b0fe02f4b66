public import TapeBytes
internal import CassetteModel

/// What an index of a cassette holds of each interaction.
public struct InteractionSummary: Sendable, Hashable {
    public var id: Int
    public var started: Timestamp
    public var method: String
    public var url: String
    /// False where it is certain that the request has no body.
    public var mayHaveRequestBody: Bool

    public init(id: Int, started: Timestamp, method: String, url: String, mayHaveRequestBody: Bool = false) {
        self.id = id
        self.started = started
        self.method = method
        self.url = url
        self.mayHaveRequestBody = mayHaveRequestBody
    }
}
