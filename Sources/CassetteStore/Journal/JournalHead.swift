internal import CassetteFormat
public import CassetteModel
public import TapeBytes

/// The kind of a conversation's messages, which determines where an interaction contains them.
public enum ConversationForm: String, Sendable, Hashable, CaseIterable {
    /// The interaction's member `webSocket`.
    case webSocket
    /// Pieces of its bodies: events, or gRPC messages. When the exchange has ended, it is recorded like any other, and the pieces are no
    /// longer needed.
    case body
}

/// The head of a journal: the conversation's interaction without its messages, and the cassette it belongs to.
///
/// Works on text only; does not access the disk.
struct JournalHead {
    /// The only version so far.
    private static let version = 1
    /// In bytes. The heads of two messages as JSON, each at most 64 KiB, some of it escaped to six times its length.
    static let sizeLimit = 4 << 20

    /// The cassette's filename: recordings next to a cassette share its folder of bodies.
    var cassette: String
    var form: ConversationForm
    var interaction: Interaction

    /// - Parameter interaction: its encoded text, without messages.
    static func encode(_ interaction: some Sequence<UInt8>, form: ConversationForm, cassette: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject(.lines)
        writer.member("journal")
        writer.integer(self.version)
        writer.member("cassette")
        writer.string(cassette)
        writer.member("messages")
        writer.string(form.rawValue)
        writer.member("interaction")
        writer.raw(Array(interaction.drop { $0 == 0x20 }))
        writer.endObject()
        return writer.bytes + [0x0a]
    }

    /// - Parameter path: used in error messages.
    init(_ text: [UInt8], path: String) throws(CassetteError) {
        let root: JSONValue
        do {
            root = try JSONDocument(text).root
        } catch {
            throw CassetteError(
                .damaged, "\"\(path)\" is torn, so its conversation is lost: remove it, and the \".jsonl\" file with the same name",
                cause: error)
        }
        if let version = root["journal"]?.int, version != Self.version {
            throw CassetteError(
                .unsupportedVersion,
                "\"\(path)\" is a journal of version \(version), but this wiretape supports only version \(Self.version): "
                    + "record or decode with the version that wrote it")
        }
        guard root["journal"]?.int == Self.version, let cassette = root["cassette"]?.string, let form = root["messages"]?.string,
            let interaction = root["interaction"]
        else {
            throw CassetteError(.damaged, "\"\(path)\" is not the head of a conversation: remove it, or move it elsewhere")
        }
        guard let form = ConversationForm(rawValue: form) else {
            throw CassetteError(
                .unsupportedVersion,
                "\"\(path)\" holds a conversation in the form \"\(form)\", which this wiretape does not support: "
                    + "record or decode with the version that wrote it")
        }
        self.cassette = cassette
        self.form = form
        self.interaction = try InteractionDecoder.decode(
            Array(interaction.raw), at: InteractionPlace(file: path, line: interaction.line))
        guard self.interaction.webSocket == nil else {
            throw CassetteError(
                .damaged, "\"\(path)\" contains messages, which belong in the \".jsonl\" file with the same name: remove it")
        }
    }
}

/// The messages of a conversation in the form in which its interaction contains them.
public enum ConversationMessages: Sendable, Hashable {
    /// JSON objects, each followed by a line feed.
    case inline([UInt8])
    /// The same in a file next to the cassette.
    case file(Sidecar, count: Int)

    /// The most bytes of messages kept in the cassette: as much as a multipart body may have there. More would make the cassette slow to
    /// review, and costs memory each time the exchange is decoded.
    public static let inlineLimit = 1 << 20

    /// The longest message including its line feed, in bytes. The text of a message is at most 64 KiB, and in JSON at most six times as
    /// long; longer ones are in a file of their own.
    public static let lineLimit = 1 << 20

    /// The messages in the form that an interaction has.
    ///
    /// Throws `damaged` if a line is not a message.
    public func webSocket() throws(CassetteError) -> WebSocketMessages {
        switch self {
        case .file(let sidecar, let count): return .file(sidecar, count: count)
        case .inline(let lines):
            var messages: [WebSocketMessage] = []
            for line in lines.split(separator: 0x0a) { messages.append(try WebSocketMessageCoder.decode(Array(line), .textAlone)) }
            return .inline(messages)
        }
    }
}
