internal import CassetteModel
internal import CassetteStore

/// Writes the bodies of exchanges and the parts of those that are multipart into a folder, a file each.
///
/// Files are named by exchange, message and part, so that no two of a cassette have one name, whatever the recorded names are.
struct BodyExtraction {
    var folder: ExtractFolder
    var reader: BodyReader

    /// - Parameter told: called behind each file.
    func extract(_ interaction: Interaction, number: Int, told: (ExtractedFile) throws -> Void) throws {
        if let body = interaction.request.body {
            try self.extract(body, interaction.request.headers, number, .request, told)
        }
        if let response = interaction.response, let body = response.body {
            try self.extract(body, response.headers, number, .response, told)
        }
    }

    private func extract(
        _ body: Body, _ headers: HeaderFields, _ number: Int, _ message: MessageChoice, _ told: (ExtractedFile) throws -> Void
    ) throws {
        let contents = try BodyContents(body, headers: headers, reader: self.reader, readsBroken: true)
        guard contents.size > 0 else { return }
        let stem = "\(number)-\(message.rawValue)"
        let name = "\(stem).\(try Self.fileExtension(contents, headers))"
        let coding = body.codings.isEmpty ? BodyWords.coding(headers).map(Self.codingExtension) ?? "" : ""
        let path = try self.folder.write(contents.inflated == nil ? name + coding : name, contents)
        let words = [try Self.words(contents, headers), contents.breaking.map { BodyWords.broken($0, of: body) }].compactMap { $0 }
        try told(
            ExtractedFile(
                path: path, exchange: number, message: message, size: contents.size,
                words: words.isEmpty ? nil : words.joined(separator: ", ")))
        if contents.breaking != nil {
            let coded = try BodyContents(body, headers: headers, reader: self.reader)
            let path = try self.folder.write(name + coding, coded)
            try told(ExtractedFile(path: path, exchange: number, message: message, size: coded.size, words: "as received"))
        }
        guard let parts = try BodyParts(contents, headers: headers) else { return }
        let whole = try contents.atHand()
        for part in parts.all where !part.isMultipart {
            let data = try part.contents(in: whole)
            let path = try self.folder.write("\(stem)-\(part.label)\(try Self.ending(part, data))", data)
            try told(
                ExtractedFile(
                    path: path, exchange: number, message: message, part: part.label, size: data.size,
                    words: try Self.words(data, part.fields)))
        }
    }

    // MARK: Names

    /// `-a.png`, or `-title.txt` for a field without a filename.
    private static func ending(_ part: BodyPart, _ data: BodyContents) throws -> String {
        let ending = self.plainEnding(part)
        let isNamed = part.filename.map { !SafeFileName.make($0).isEmpty } == true
        return try isNamed ? ending : "\(ending).\(self.fileExtension(data, part.fields))"
    }

    /// The name of the part's file or field; empty where none of it is fit for a file.
    static func plainEnding(_ part: BodyPart) -> String {
        for name in [part.filename, part.name] {
            if let safe = name.map(SafeFileName.make), !safe.isEmpty { return "-\(safe)" }
        }
        return ""
    }

    private static func fileExtension(_ contents: BodyContents, _ headers: HeaderFields) throws -> String {
        let type = MediaType(headers.firstIndex(of: "content-type").map { headers.valueBytes(at: $0) })
        if let known = type.fileExtension { return known }
        if type.essence.hasPrefix("multipart/") { return "multipart" }
        if let image = ImageInfo(try contents.prefix(ImageInfo.prefixSize)) {
            return image.format == .jpeg ? "jpg" : image.format.rawValue.lowercased()
        }
        return switch try BodyForm(contents, headers: headers) {
        case .json: "json"
        case .form, .lines, .markup, .text: "txt"
        case .image, .binary: "bin"
        }
    }

    /// For octets that keep their coding: `.gz`, or the coding's name.
    private static func codingExtension(_ names: String) -> String {
        let safe = SafeFileName.make(names.split(separator: ",").map { $0.filter { $0 != " " } }.joined(separator: "."))
        return safe == "gzip" ? ".gz" : safe.isEmpty ? "" : ".\(safe)"
    }

    private static func words(_ contents: BodyContents, _ headers: HeaderFields) throws -> String? {
        try ImageInfo(contents.prefix(ImageInfo.prefixSize))?.description ?? ExchangeRow.type(headers)
    }
}
