internal import CassetteFormat
internal import CassetteModel
internal import CassetteStore
internal import CassetteTools
internal import LocalHTTP
internal import TapeBytes

/// Answers a page's requests about one exchange: its description, and the bytes of its bodies.
struct ExchangeService {
    /// The most WebSocket messages in one answer.
    private static let messageLimit = 500
    /// The most bytes of a JSON value in an answer. The members of larger values are listed instead.
    private static let jsonLimit = 64 << 10
    private static let jsonChildren = 1000

    let cassette: InspectedCassette
    let moment: InspectedCassette.Moment
    /// Returns a row's number on the command line.
    let number: (Int) -> Int

    /// - Parameter parts: the parts of the path, beginning with the key.
    func answer(_ parts: [String], _ arguments: [String: String], range: String?) throws -> InspectorService.Answer {
        guard let key = Int(parts[0]), key >= 1, key <= self.moment.rows.count else {
            throw LocalAnswer(
                status: 404, reason: "Not Found", code: "not-found",
                message: "there is no exchange \(parts[0].prefix(20)): the cassette has \(self.moment.rows.count).")
        }
        let ordinal = key - 1
        if parts.count == 2, parts[1] == "text" {
            return .stream(
                try RecordedBytes.stream(BodyContents(try self.moment.epoch.bytes(self.moment.epoch.ranges[ordinal])), range: range))
        }
        let interaction = try self.moment.interaction(ordinal, of: self.cassette)
        let reader = BodyReader(cassettePath: self.cassette.path)
        if parts.count == 1 { return .whole(try self.describe(interaction, ordinal, reader)) }
        let bytes = RecordedBytes(interaction: interaction, reader: reader)
        let form = try arguments["as"].map { text throws(LocalAnswer) in
            guard let form = RecordedBytes.Form(rawValue: text) else { throw InspectorService.bad("as", "\"as\" takes raw or decoded") }
            return form
        }
        if parts[1] == "curl", parts.count == 2 { return .whole(try Self.curl(interaction, self.number(ordinal), reader)) }
        if parts[1] == "messages" {
            guard let messages = interaction.webSocket else { throw InspectorService.unknown }
            if parts.count == 3, let number = Int(parts[2]) {
                return .stream(try RecordedBytes.stream(bytes.socketMessage(number, raw: form == .raw), range: range))
            }
            guard parts.count == 2 else { throw InspectorService.unknown }
            let from = arguments["from"].flatMap { Int($0) } ?? 1
            let count = min(Self.messageLimit, max(0, arguments["count"].flatMap { Int($0) } ?? Self.messageLimit))
            return .whole(InspectorService.json(try BodyListJSON.socket(messages, reader: reader, from: from, count: count)))
        }
        guard parts.count == 3, let side = MessageChoice(rawValue: parts[1]) else { throw InspectorService.unknown }
        let (body, headers) = interaction.body(of: side)
        let whole = {
            try bytes.contents(side, as: form ?? .decoded, part: arguments["part"], message: arguments["message"].flatMap { Int($0) })
        }
        var list: [UInt8]?
        switch parts[2] {
        case "body": return .stream(try RecordedBytes.stream(whole(), range: range))
        case "json": return .whole(InspectorService.json(try Self.value(at: arguments["pointer"] ?? "", in: whole())))
        case "parts": list = try BodyListJSON.parts(whole(), headers)
        case "lint": list = try BodyListJSON.lint(whole(), headers, BodyLint.Context(side: side, body: body))
        case "messages": list = try body.flatMap { try BodyListJSON.messages($0, headers, reader: reader) }
        default: throw InspectorService.unknown
        }
        guard let list else { throw InspectorService.unknown }
        return .whole(InspectorService.json(list))
    }

    private func describe(
        _ interaction: Interaction, _ ordinal: Int, _ reader: BodyReader
    ) throws -> LocalAnswer {
        let range = self.moment.epoch.ranges[ordinal]
        let place = ExchangeJSON.Place(
            key: ordinal + 1, number: self.number(ordinal), file: range,
            opening: interaction.connection.flatMap { self.opening(of: $0, before: ordinal) })
        return InspectorService.json(
            ExchangeJSON(interaction, reader: reader).bytes(place, text: try self.moment.epoch.bytes(range)) + [10])
    }

    /// The most rows searched for the exchange that opened a connection. It is rarely farther away, and each row costs a read.
    private static let openingDistance = 2000

    /// The exchange that opened a reused connection, which has the certificates.
    private func opening(
        of connection: ConnectionInfo, before ordinal: Int
    ) -> (key: Int, tls: TLSDetails)? {
        guard connection.isReused, connection.tls != nil else { return nil }
        let remote = self.moment.rows[ordinal].remote
        for earlier in (max(0, ordinal - Self.openingDistance)..<ordinal).reversed() where self.moment.rows[earlier].remote == remote {
            guard let bytes = try? self.moment.epoch.bytes(self.moment.rows[earlier].range),
                bytes.withUnsafeBytes({ ByteSearch.contains("\"chain\"", in: $0) }),
                let found = try? InteractionDecoder.decode(bytes, at: .textAlone).connection, found.id == connection.id, !found.isReused,
                let tls = found.tls,
                !tls.chain.isEmpty
            else { continue }
            return (earlier + 1, tls)
        }
        return nil
    }

    private static func curl(_ interaction: Interaction, _ number: Int, _ reader: BodyReader) throws -> LocalAnswer {
        let command = try CurlCommand(interaction, number: number, folder: "wiretape-\(number)", reader: reader)
        return LocalAnswer(status: 200, reason: "OK", type: "text/plain; charset=utf-8", body: Array(command.text.utf8))
    }

    /// A JSON value, found by its pointer (RFC 6901): its text if that is short, otherwise its members.
    private static func value(at pointer: String, in contents: BodyContents) throws -> [UInt8] {
        guard let bytes = try contents.load(limit: ExchangeJSON.describedSize) else {
            throw LocalAnswer(
                status: 413, reason: "Content Too Large", code: "too-large", message: "the body is too large for a tree: see it as text.")
        }
        let document: JSONDocument
        do {
            document = try JSONDocument(bytes)
        } catch {
            throw InspectorService.bad("json", "the body is not JSON: line \(error.line): \(error.reason)")
        }
        var value = document.root
        for step in pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            let name = step.replacing("~1", with: "/").replacing("~0", with: "~")
            let next =
                value.kind == .array
                ? Int(name).flatMap { index in index < 0 ? nil : value.elements.dropFirst(index).first { _ in true } } : value[String(name)]
            guard let next else { throw InspectorService.bad("pointer", "there is nothing at that pointer") }
            value = next
        }
        var writer = JSONWriter()
        writer.beginObject(.inline)
        writer.member("size")
        writer.integer(value.range.count)
        if value.range.count <= Self.jsonLimit {
            writer.member("value")
            writer.raw(Array(value.raw))
        } else if value.kind == .string {
            writer.member("text")
            writer.string(String((value.string ?? "").prefix(Self.jsonLimit)))
        } else {
            writer.member("kind")
            writer.string(value.kind == .array ? "array" : "object")
            writer.member("children")
            writer.beginArray(.inline)
            var count = 0
            func child(_ name: String, _ inner: JSONValue) {
                count += 1
                guard count <= Self.jsonChildren else { return }
                writer.element()
                writer.beginArray(.inline)
                writer.element()
                writer.string(name)
                writer.element()
                writer.integer(inner.range.count)
                writer.element()
                if inner.range.count <= 256 { writer.raw(Array(inner.raw)) } else { writer.raw("null") }
                writer.endArray()
            }
            if value.kind == .array {
                for (index, element) in value.elements.enumerated() { child("\(index)", element) }
            } else {
                for (name, inner) in value.members { child(name.string ?? "?", inner) }
            }
            writer.endArray()
            writer.member("count")
            writer.integer(count)
        }
        writer.endObject()
        return writer.bytes + [10]
    }
}
