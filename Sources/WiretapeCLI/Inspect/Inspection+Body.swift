internal import CassetteFormat
internal import CassetteModel
internal import CassetteStore
internal import TapeBytes

/// One body, or one part of it, for programs: octets and nothing else, or a description as JSON.
extension Inspection {
    /// A body's octets without codings; `raw` as they crossed the wire.
    func body(_ message: MessageChoice, of number: Int, raw: Bool = false) throws {
        let (body, headers) = try self.body(message, number)
        let what = "the \(message.rawValue) body of exchange \(number)"
        let contents = try BodyContents(body, headers: headers, reader: self.reader, readsBroken: true)
        if raw {
            try self.writeWire(body, contents, what)
        } else {
            try self.writeOctets(contents, what)
            if let breaking = contents.breaking {
                self.warn("of \(what) these are the octets that could be read, \(BodyWords.broken(breaking, of: body)); --raw has all.")
            }
            if body.codings.isEmpty, contents.inflated == nil, body.size > 0, let coding = BodyWords.coding(headers) {
                self.warn("\(what) is still coded as \(coding), as it was received.")
            }
        }
        if !body.isComplete { self.warn("\(what) was cut short: these are the octets that came.") }
    }

    /// A part's data; `raw` with its Content-Transfer-Encoding on.
    ///
    /// - Parameter message: nil for the first message whose body has parts.
    func part(_ wanted: String, in message: MessageChoice?, of number: Int, raw: Bool = false) throws {
        let found = try self.findPart(wanted, in: message, of: number)
        let what = "part \(found.part.label) of the \(found.message.rawValue) body of exchange \(number)"
        try self.writeOctets(try found.part.contents(in: found.contents, raw: raw), what)
    }

    // MARK: JSON

    func bodyJSON(_ message: MessageChoice, of number: Int) throws {
        let (body, headers) = try self.body(message, number)
        let contents = try BodyContents(body, headers: headers, reader: self.reader, readsBroken: true)
        var json = BodyJSON(exchange: number, message: message)
        try json.describe(body, headers, contents)
        try self.writeJSON(json.finish())
    }

    func partJSON(_ wanted: String, in message: MessageChoice?, of number: Int) throws {
        let found = try self.findPart(wanted, in: message, of: number)
        var json = BodyJSON(exchange: number, message: found.message)
        try json.describe(found.part, in: found.contents)
        try self.writeJSON(json.finish())
    }

    func writeJSON(_ octets: [UInt8]) throws {
        try self.write((self.screen.isTerminal ? VisibleText.whole(octets, .json) : String(decoding: octets, as: UTF8.self)) + "\n")
    }

    // MARK: Finding

    private func body(_ message: MessageChoice, _ number: Int) throws -> (Body, HeaderFields) {
        let interaction = try self.interaction(number)
        let (found, headers) = interaction.body(of: message)
        guard let body = found else {
            let what = message == .response && interaction.response == nil ? "no response" : "no \(message.rawValue) body"
            throw InspectError(.noBody, "exchange \(number) of \"\(self.file)\" has \(what): see it with \"wiretape inspect\".")
        }
        return (body, headers)
    }

    private func findPart(
        _ wanted: String, in message: MessageChoice?, of number: Int
    ) throws -> (part: BodyPart, contents: BodyContents, message: MessageChoice) {
        let interaction = try self.interaction(number)
        for message in message.map({ [$0] }) ?? MessageChoice.allCases {
            let (body, headers) = interaction.body(of: message)
            guard let body, MultipartType(headers) != nil else { continue }
            let contents = try BodyContents(body, headers: headers, reader: self.reader, readsBroken: true)
            guard let parts = try BodyParts(contents, headers: headers) else { continue }
            if let part = parts[wanted] { return (part, contents, message) }
            let names = parts.all.prefix(20).map { part in part.name.map { "\(part.label) \"\($0)\"" } ?? part.label }
            let list = names.joined(separator: ", ") + (parts.all.count > names.count ? ", …" : "")
            throw InspectError(
                .noPart,
                "there is no part \"\(wanted)\" in the \(message.rawValue) body of exchange \(number): it has \(names.isEmpty ? "none" : list)."
            )
        }
        let what = message.map { "the \($0.rawValue) body of exchange \(number)" } ?? "exchange \(number)"
        throw InspectError(.noPart, "\(what) has no parts: see it with \"wiretape inspect \(ShellWord.quoted(self.file)) \(number)\".")
    }

    // MARK: Octets

    private func writeOctets(_ contents: BodyContents, _ what: String) throws {
        if self.screen.isTerminal, try !Self.isFitForTerminal(contents) {
            guard try !self.showImage(contents) else { return }
            throw InspectError(
                .unfitForTerminal, "\(what) holds octets that are not text: send it to a file or a program, as \"| less\".")
        }
        try contents.forEachPiece { try self.write($0) }
    }

    private func writeWire(_ body: Body, _ contents: BodyContents, _ what: String) throws {
        if self.screen.isTerminal, try !body.codings.isEmpty || contents.inflated != nil || !Self.isFitForTerminal(contents) {
            throw InspectError(
                .unfitForTerminal, "\(what) holds octets that are not text: send it to a file or a program, as \"| less\".")
        }
        let reader = self.reader
        let isEdited = try BodyRestorer.streamWire(
            of: body, file: { try reader.source($0, digest: PortableSHA256()) }, raw: { OctetSource(try reader.read($0)) },
            digest: PortableSHA256(), deliver: self.write)
        if isEdited { self.warn("\(what) was edited since: these are not the octets that were received.") }
    }

    /// - Returns: whether it is an image that the terminal could show.
    private func showImage(_ contents: BodyContents) throws -> Bool {
        guard let width = self.screen.width, let kind = self.screen.images,
            let image = ImageInfo(try contents.prefix(ImageInfo.prefixSize)),
            let octets = try contents.load(limit: InlineImage.limit), let shown = InlineImage(image, octets, columns: width, kind)
        else { return false }
        try self.write(shown.sequence + "\n")
        return true
    }

    private static func isFitForTerminal(_ contents: BodyContents) throws -> Bool {
        guard try BodyForm.isText(contents) else { return false }
        var text = VisibleText(.lines)
        try contents.forEachPiece(while: { piece in
            _ = text.push(piece)
            return !text.hasEscaped
        })
        _ = text.push(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true)
        return !text.hasEscaped
    }
}
