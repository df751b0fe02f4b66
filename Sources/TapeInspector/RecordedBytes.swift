internal import CassetteFormat
internal import CassetteModel
internal import CassetteStore
internal import CassetteTools
internal import LocalHTTP
internal import TapeBytes

/// The bytes of a body, a part or a message, as requested by a page.
struct RecordedBytes {
    enum Form: String { case raw, decoded }

    /// Larger coded bodies are not held in memory.
    private static let kept = 64 << 20
    /// The size of one piece of an answer, in bytes.
    private static let piece = 256 << 10

    let interaction: Interaction
    let reader: BodyReader

    /// - Parameters:
    ///   - part: the label of a part in a multipart body.
    ///   - message: the number of a gRPC message or of an event.
    func contents(_ side: MessageChoice, as form: Form, part: String?, message: Int?) throws -> BodyContents {
        let (found, headers) = self.interaction.body(of: side)
        guard let body = found else { throw Self.missing("the \(side.rawValue) has no body") }
        if let message { return try self.message(message, of: body, headers, side, raw: form == .raw) }
        if let part {
            let whole = try self.decoded(body, headers).forRandomAccess()
            guard let found = try BodyParts(whole, headers: headers)?[part] else {
                throw Self.missing("the \(side.rawValue) body has no part \"\(part)\"")
            }
            return try found.contents(in: whole, raw: form == .raw)
        }
        return try form == .raw ? self.wire(body) : self.decoded(body, headers)
    }

    private func decoded(_ body: Body, _ headers: HeaderFields) throws -> BodyContents {
        // The beginning of a large file without codings is shown without first reading all of it.
        if case .file(let sidecar) = body.content, sidecar.size > ByteSource.pieceSize, !body.hasCodingsLeft(headers), body.note == nil {
            return BodyContents(try self.reader.uncheckedSource(sidecar))
        }
        return try BodyContents(body, headers: headers, reader: self.reader, readsBroken: true).forRandomAccess()
    }

    private func wire(_ body: Body) throws -> BodyContents {
        if let sidecar = body.original { return BodyContents(try self.reader.uncheckedSource(sidecar)) }
        if case .file(let sidecar) = body.content, body.codings.isEmpty { return BodyContents(try self.reader.uncheckedSource(sidecar)) }
        guard body.size <= Self.kept else {
            throw LocalAnswer(
                status: 413, reason: "Content Too Large", code: "too-large",
                message: "a coded body of \(body.size) bytes is not restored for the page: use wiretape inspect with --body and --raw.")
        }
        return BodyContents(try self.reader.wireBytes(of: body) { PortableSHA256() }.bytes)
    }

    private func message(
        _ number: Int, of body: Body, _ headers: HeaderFields, _ side: MessageChoice, raw: Bool
    ) throws -> BodyContents {
        if let message = BodyMessages(body, reader: self.reader)?["\(number)"] { return try message.contents(raw: raw) }
        let contents = try BodyContents(body, headers: headers, reader: self.reader, readsBroken: true)
        if let event = try BodyEvents(body, headers: headers, contents: contents)?.event(number) { return event.contents }
        throw Self.missing("the \(side.rawValue) body has no message \(number)")
    }

    /// A WebSocket message.
    func socketMessage(_ number: Int, raw: Bool) throws -> BodyContents {
        var found: BodyContents?
        if let messages = self.interaction.webSocket {
            try self.reader.forEachSocketMessage(of: messages) { message in
                if message.number == number { found = try message.contents(raw: raw) }
                return found == nil
            }
        }
        guard let found else { throw Self.missing("there is no message \(number)") }
        return found
    }

    /// The bytes of a range, in pieces.
    static func stream(_ contents: BodyContents, range field: String?) throws(LocalAnswer) -> LocalStream {
        let (answer, range) = try ByteRange.resolve(field, of: contents.size)
        var offset = range.lowerBound
        return LocalStream(head: answer, framing: .length(range.count)) {
            guard offset < range.upperBound else { return nil }
            let end = min(range.upperBound, offset + Self.piece)
            let piece = try contents.part(offset..<end).prefix(end - offset)
            guard piece.count == end - offset else {
                throw CassetteError(.unreadable, "a body ends after \(offset + piece.count) of its \(contents.size) bytes")
            }
            offset = end
            return piece
        }
    }

    private static func missing(_ what: String) -> LocalAnswer {
        LocalAnswer(status: 404, reason: "Not Found", code: "not-found", message: "\(what): choose another.")
    }
}
