package import CassetteRedaction
internal import CassetteStore
package import TapeBytes
package import TapeExchange

/// One message of a conversation on its way to the recorder, as its protocol has it.
///
/// The recorder has it redacted and encoded on its thread, and never looks into it.
package protocol ConversationMessage: Sendable {
    /// An estimate of the memory it holds, in bytes.
    var weight: Int { get }
    /// Whose blocks (`RecorderItem.block`) are its beginning, if it is too long for memory.
    var blocks: Tap.Side? { get }

    /// Whether its search for secrets may keep others waiting.
    var mayTakeLong: Bool { get }
    /// Takes its secrets out, before `write`, which does it otherwise. May be called on another thread. If the redactor's budget is spent,
    /// the result must not be written.
    mutating func search(_ place: inout MessagePlace) throws

    /// Appends the message, without its secrets, as the interaction has it: a JSON object on one line, without a line end.
    ///
    /// When it throws, neither the message is kept nor any after it.
    func write(_ place: MessagePlace, into writer: inout JSONWriter) throws
}

extension ConversationMessage {
    package var blocks: Tap.Side? { nil }
    package var mayTakeLong: Bool { false }
    package mutating func search(_ place: inout MessagePlace) throws {}
}

/// Where a message is written: what takes its secrets out, and the files for what is too long for a line.
package struct MessagePlace {
    /// Nil if secrets are kept.
    package internal(set) var redactor: Redactor?
    let store: BodyStore
    let digest: @Sendable () -> any ContentDigest
    /// The beginning of a message that is too long for memory.
    var spool: OpenSpool?
}
