package import CassetteRedaction
internal import CassetteStore
package import TapeBytes
package import TapeExchange

/// One message of a conversation on its way to the recorder, in its protocol's form.
///
/// The recorder redacts and encodes it on its own thread through this protocol, without knowing its contents.
package protocol ConversationMessage: Sendable {
    /// An estimate of its size in memory, in bytes.
    var weight: Int { get }
    /// The side whose blocks (`RecorderItem.block`) begin the message, if it is too long for memory.
    var blocks: Tap.Side? { get }
    /// Whether it needs a copy of the blocks of the request, which remain where they are for the end of the exchange.
    var needsRequest: Bool { get }

    /// Whether searching it for secrets may delay others.
    var mayTakeLong: Bool { get }
    /// Removes its secrets ahead of `write`, which otherwise does so itself. May be called on another thread. If the redactor's budget is
    /// spent, the result must not be written.
    mutating func search(_ place: inout MessagePlace) throws

    /// Appends the message without its secrets, as stored in the interaction: a JSON object on one line, without a line end.
    ///
    /// If it throws, neither this message nor any later one is kept.
    func write(_ place: MessagePlace, into writer: inout JSONWriter) throws

    /// The same for a message that may take several lines. `take` is called with each of them, and empties the writer.
    func writeLines(_ place: MessagePlace, into writer: inout JSONWriter, take: (inout JSONWriter) throws -> Void) throws
}

extension ConversationMessage {
    package var blocks: Tap.Side? { nil }
    package var needsRequest: Bool { false }
    package var mayTakeLong: Bool { false }
    package mutating func search(_ place: inout MessagePlace) throws {}

    package func writeLines(_ place: MessagePlace, into writer: inout JSONWriter, take: (inout JSONWriter) throws -> Void) throws {
        try self.write(place, into: &writer)
        try take(&writer)
    }
}

/// Where a message is written: the redactor, and the store for bodies that are too long for a line.
package struct MessagePlace {
    /// nil if secrets are kept.
    package internal(set) var redactor: Redactor?
    let store: BodyStore
    let digest: @Sendable () -> any ContentDigest
    /// The beginning of a message that is too long for memory.
    var spool: OpenSpool?
}
