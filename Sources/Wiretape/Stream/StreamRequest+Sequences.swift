public import Foundation

extension StreamRequest {
    /// The chunks of the answer as they come. The request goes out when they are first asked for.
    public var bytes: StreamChunks { StreamChunks(request: self) }

    /// The lines of the answer.
    public var lines: StreamLines { StreamLines(request: self) }

    /// The server-sent events of the answer.
    public var events: ServerSentEvents { ServerSentEvents(request: self) }

    /// A value for each line that is not blank.
    public func decoding<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, decoder: any DataDecoder = JSONDecoder()
    ) -> DecodedLines<Value> {
        DecodedLines(request: self, decoder: decoder)
    }
}
