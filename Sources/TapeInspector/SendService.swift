package import CassetteModel
internal import CassetteStore
package import CassetteTools
internal import LocalHTTP
internal import TapeBytes

/// Sends a recorded request again, possibly edited, and shows the answer next to the recorded one.
package struct SendService {
    /// A request to be sent again.
    package struct Order: Sendable {
        /// The request to send.
        package var interaction: Interaction
        /// The exchange whose answer is compared.
        package var recorded: Interaction
        /// The cassette's path.
        package var path: String
        /// Whether methods that may change something are allowed.
        package var allowsUnsafe: Bool

        package init(interaction: Interaction, recorded: Interaction, path: String, allowsUnsafe: Bool) {
            self.interaction = interaction
            self.recorded = recorded
            self.path = path
            self.allowsUnsafe = allowsUnsafe
        }
    }

    /// The result of sending.
    package struct Answer {
        /// nil if there was no answer.
        package var interaction: Interaction?
        /// Differences from the recorded answer.
        package var changes: [FieldChange]
        /// Problems, for people.
        package var notes: [String]
        /// The path of the cassette that contains the answer. It exists until the call returns.
        package var path: String

        package init(interaction: Interaction?, changes: [FieldChange], notes: [String], path: String) {
            self.interaction = interaction
            self.changes = changes
            self.notes = notes
            self.path = path
        }
    }

    /// Why a request is not sent.
    package struct NotSent: Error {
        package var reason: String
        /// Whether it would be sent if unsafe methods were allowed.
        package var isUnsafe: Bool

        package init(reason: String, isUnsafe: Bool) {
            self.reason = reason
            self.isUnsafe = isUnsafe
        }
    }

    /// The most bytes of the answer's body that are shown.
    private static let shown = 64 << 10

    let send: @Sendable (Order, (Answer) throws -> Void) throws -> Void

    func answer(_ order: Order) throws -> LocalAnswer {
        var bytes: [UInt8] = []
        do {
            try self.send(order) { bytes = try Self.bytes($0, to: order.interaction) }
        } catch let error as NotSent {
            throw LocalAnswer(
                status: error.isUnsafe ? 403 : 422, reason: error.isUnsafe ? "Forbidden" : "Unprocessable Content",
                code: error.isUnsafe ? "unsafe-method" : "not-sent", message: "not sent: \(error.reason).")
        }
        return InspectorService.json(bytes)
    }

    private static func bytes(_ sent: Answer, to interaction: Interaction) throws -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject(.inline)
        writer.member("request")
        writer.string("\(interaction.request.method) \(interaction.request.url)")
        writer.member("notes")
        writer.beginArray(.inline)
        for note in sent.notes {
            writer.element()
            writer.string(note)
        }
        writer.endArray()
        DiffService.write(sent.changes, &writer)
        if let answer = sent.interaction, let response = answer.response {
            writer.member("status")
            writer.integer(response.status)
            writer.member("reason")
            writer.string(String(decoding: response.reason, as: UTF8.self))
            writer.member("version")
            writer.string(response.version.description)
            writer.member("headers")
            writer.beginArray(.inline)
            for line in FieldLines.texts(response.headers) {
                writer.element()
                writer.string(line)
            }
            writer.endArray()
            if response.body != nil {
                let contents = try RecordedBytes(interaction: answer, reader: BodyReader(cassettePath: sent.path))
                    .contents(.response, as: .decoded, part: nil, message: nil)
                writer.member("body")
                writer.string(String(decoding: try contents.prefix(Self.shown), as: UTF8.self))
                writer.member("size")
                writer.integer(contents.size)
                writer.member("whole")
                writer.bool(contents.size <= Self.shown)
            }
        }
        writer.endObject()
        return writer.bytes + [10]
    }
}
