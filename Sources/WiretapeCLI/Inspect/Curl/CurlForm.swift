internal import CassetteModel
internal import TapeBytes

/// The arguments of curl's `-F` that send the parts of a recorded form again.
///
/// Curl makes a boundary of its own. Knows what curl makes of the rest, so that it can say whether the parts come out as recorded.
struct CurlForm {
    /// Octets of a value that stands in the command line; anything longer comes from a file.
    static let inlineLimit = 4096

    var arguments: [String] = []
    /// Parts whose data come from files, by the names that the arguments have.
    var files: [(name: String, part: BodyPart)] = []
    /// Whether the octets are the recorded ones but for the boundary.
    var isExact = true

    /// Nil where curl could not send such parts: parts within parts, or without a name that it takes.
    ///
    /// - Parameters:
    ///   - stem: how files' names begin.
    ///   - folder: where the files are.
    init?(_ parts: BodyParts, in body: BodyContents, stem: String, folder: String) throws {
        guard !parts.all.isEmpty, !parts.isOfOtherBoundary else { return nil }
        for part in parts.all {
            guard let disposition = part.disposition, disposition.type == "form-data", !part.isMultipart, let name = disposition.name,
                !name.isEmpty, !name.utf8.contains(UInt8(ascii: "=")), Self.isPlain(name), disposition.filename.map(Self.isPlain) != false
            else { return nil }
            let data = body.part(part.data)
            var argument = "\(name)="
            let text = try Self.inline(data)
            if let text {
                argument += Self.quoted(text)
            } else {
                let file = "\(stem)-\(part.label)\(BodyExtraction.plainEnding(part))"
                self.files.append((file, part))
                // Behind `<` the file is a value, behind `@` an upload, which always has a filename.
                argument += "\(disposition.filename == nil ? "<" : "@")\(Self.quoted("\(folder)/\(file)"))"
            }
            if let filename = disposition.filename { argument += ";filename=\(Self.quoted(filename))" }
            guard let options = self.options(part) else { return nil }
            self.arguments.append(argument + options)
            self.isExact = self.isExact && Self.isAsCurlWrites(part, name, disposition.filename)
        }
    }

    /// The type, and other header lines; nil where one could not be handed over.
    private func options(_ part: BodyPart) -> String? {
        var options = ""
        for index in 0..<part.fields.count where !part.fields.isNamed("content-disposition", at: index) {
            let line = String(decoding: part.fields.line(at: index), as: UTF8.self)
            guard Self.isPlain(line) else { return nil }
            let value = part.fields.value(at: index)
            if part.fields.isNamed("content-type", at: index), !options.contains(";type="), Self.isSimpleType(value) {
                options += ";type=\(value)"
            } else {
                options += ";headers=\(Self.quoted(line))"
            }
        }
        return options
    }

    // MARK: Words

    /// Text that fits into a command line and into a terminal: line feeds and tabs, but no other control character.
    private static func inline(_ data: BodyContents) throws -> String? {
        guard let octets = try data.load(limit: self.inlineLimit), UTF8Validator.isValid(octets), !octets.contains(13) else { return nil }
        let text = String(decoding: octets, as: UTF8.self)
        return VisibleText.whole(octets, .lines) == text ? text : nil
    }

    private static func isPlain(_ text: String) -> Bool { VisibleText.line(text) == text }

    /// A word of curl's own form syntax, where quotes make `;`, `,`, `@` and `<` ordinary.
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for character in text.unicodeScalars {
            if character == "\"" || character == "\\" { quoted += "\\" }
            quoted.unicodeScalars.append(character)
        }
        return quoted + "\""
    }

    /// `text/plain; charset=utf-8` and the like, without what curl would take for the next word.
    private static func isSimpleType(_ value: String) -> Bool {
        let words = value.split(separator: ";", omittingEmptySubsequences: false).map { $0.drop { $0 == " " } }
        func isToken(_ text: Substring) -> Bool {
            !text.isEmpty && text.utf8.allSatisfy { $0 > 32 && $0 < 127 && !"\"',;\\()<>@[]{}".utf8.contains($0) }
        }
        guard let first = words.first, isToken(first), first.split(separator: "/", omittingEmptySubsequences: false).count == 2 else {
            return false
        }
        return words.dropFirst().allSatisfy {
            isToken($0) && $0.contains("=") && !["type=", "filename=", "headers=", "encoder="].contains(where: $0.hasPrefix)
        }
    }

    // MARK: Exactness

    /// What curl 7.88 writes: name, filename, type, other lines, in this order, with quotes in names as `%22`.
    private static func isAsCurlWrites(_ part: BodyPart, _ name: String, _ filename: String?) -> Bool {
        func escaped(_ text: String) -> String {
            String(decoding: text.utf8.flatMap { $0 == UInt8(ascii: "\"") ? Array("%22".utf8) : [$0] }, as: UTF8.self)
        }
        var first = "Content-Disposition: form-data; name=\"\(escaped(name))\""
        if let filename { first += "; filename=\"\(escaped(filename))\"" }
        guard part.fields.count > 0, Array(part.fields.line(at: 0)) == Array(first.utf8) else { return false }
        let type = part.fields.firstIndex(of: "content-type")
        // To a file without a type curl gives one by its name.
        guard type != nil || filename == nil else { return false }
        guard let type else { return true }
        return type == 1 && Array(part.fields.line(at: 1)) == Array("Content-Type: \(part.fields.value(at: 1))".utf8)
    }
}
