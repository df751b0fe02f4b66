package import CassetteRedaction
package import TapeBytes

/// One message of a conversation on its way to the recorder, as its protocol has it.
///
/// The recorder redacts and encodes it on its thread, and never looks into it.
package protocol ConversationMessage: Sendable {
    /// An estimate of the memory it holds, in bytes.
    var weight: Int { get }

    /// Takes the secrets out. When it throws, neither the message is kept nor any after it.
    mutating func redact(with redactor: Redactor) throws

    /// Appends the message as the interaction has it: a JSON object on one line, without a line end.
    func encode(into writer: inout JSONWriter)
}
