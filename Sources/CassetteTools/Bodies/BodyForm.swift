package import CassetteModel
internal import TapeBytes

/// How a body is shown: by its type, or by its bytes if the type is missing, unknown or wrong.
package enum BodyForm: Equatable {
    case json
    /// JSON texts, one per line.
    case lines
    /// `application/x-www-form-urlencoded`
    case form
    /// XML and HTML.
    case markup
    case text
    case image(ImageInfo)
    case binary

    /// - Parameter isText: whether the body is known to be text, whatever its bytes look like.
    package init(_ contents: BodyContents, headers: HeaderFields, isText: Bool = false) throws {
        let type = MediaType(headers.firstIndex(of: "content-type").map { headers.valueBytes(at: $0) })
        if let image = ImageInfo(try contents.prefix(ImageInfo.prefixSize)) {
            self = .image(image)
        } else if try !isText && (type.kind == .binary || !Self.isText(contents)) {
            self = .binary
        } else if ["application/x-ndjson", "application/ndjson", "application/jsonl"].contains(type.essence) {
            self = .lines
        } else if type.kind == .json || type.kind == .unknown, try Self.begins(contents, with: ["{", "["]) {
            self = .json
        } else if type.essence == "application/x-www-form-urlencoded" {
            self = .form
        } else if try Self.isMarkup(type.essence) || type.kind == .unknown && Self.begins(contents, with: ["<"]) {
            self = .markup
        } else {
            self = type.kind == .json ? .json : .text
        }
    }

    /// UTF-8 without control characters except tabs and line ends.
    package static func isText(_ contents: BodyContents) throws -> Bool {
        var validator = UTF8Validator()
        var isText = true
        try contents.forEachPiece(while: { piece in
            isText =
                validator.firstInvalid(in: piece) == nil
                && !piece.contains { $0 < 0x20 && $0 != 9 && $0 != 10 && $0 != 13 || $0 == 0x7F }
            return isText
        })
        return isText && (validator.isAtCharacterEnd || contents.breaking != nil)
    }

    private static func isMarkup(_ essence: String) -> Bool {
        essence == "text/html" || essence.hasSuffix("/xml") || essence.hasSuffix("+xml")
    }

    /// Checks the first character that is not white space.
    private static func begins(_ contents: BodyContents, with characters: [Unicode.Scalar]) throws -> Bool {
        guard let first = try contents.prefix(64).first(where: { $0 > 32 }) else { return false }
        return characters.contains(Unicode.Scalar(first))
    }
}

/// Text in a charset other than UTF-8, decoded for display.
package enum DecodedText {
    /// The bytes of longer text are shown undecoded.
    private static let limit = 4 << 20

    /// The same text in UTF-8; nil if it is not text, or its charset is unknown on this system.
    package static func read(_ contents: BodyContents, headers: HeaderFields) throws -> BodyContents? {
        let field = headers.firstIndex(of: "content-type").map { MIMEParameters(headers.valueBytes(at: $0)) }
        let label = field?["charset"].map { String(decoding: $0.value, as: UTF8.self).lowercased() } ?? ""
        let beginning = try contents.prefix(4096)
        let charsets = beginning.withUnsafeBytes { Charset.candidates(label: label, beginning: $0) }
        guard !charsets.isEmpty, let bytes = try contents.load(limit: self.limit) else { return nil }
        for charset in charsets {
            guard let decoded = charset.decode(bytes) else { continue }
            let text = BodyContents(decoded.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(decoded.dropFirst(3)) : decoded)
            if try text.size > 0 && BodyForm.isText(text) { return text }
        }
        return nil
    }
}

/// The fields of an `application/x-www-form-urlencoded` body, decoded for display.
///
/// Not exact: the cassette keeps the recorded spelling.
package enum FormFields {
    package struct Field: Equatable {
        package var name: [UInt8]
        package var value: [UInt8]
    }

    package static func decode(_ bytes: [UInt8]) -> [Field] {
        bytes.split(separator: UInt8(ascii: "&")).map { part in
            let equals = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            return Field(name: self.plain(part[..<equals]), value: self.plain(part[equals...].dropFirst()))
        }
    }

    /// Decodes `+` and percent escapes (WHATWG URL, 5.1).
    private static func plain(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var index = text.startIndex
        while index < text.endIndex {
            if text[index] == UInt8(ascii: "%"), text.endIndex - index > 2, let high = self.digit(text[index + 1]),
                let low = self.digit(text[index + 2])
            {
                bytes.append(high << 4 | low)
                index += 3
            } else {
                bytes.append(text[index] == UInt8(ascii: "+") ? 32 : text[index])
                index += 1
            }
        }
        return bytes
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.flatMap { byte < 0x80 ? UInt8($0) : nil }
    }
}
