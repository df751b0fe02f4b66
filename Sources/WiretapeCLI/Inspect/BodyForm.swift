internal import CassetteModel
internal import TapeBytes

/// How a body is shown: by its type, and by its octets where the type is missing, unknown or wrong.
enum BodyForm: Equatable {
    case json
    /// JSON texts, one a line.
    case lines
    /// `application/x-www-form-urlencoded`
    case form
    /// XML and HTML.
    case markup
    case text
    case image(ImageInfo)
    case binary

    /// - Parameter isText: whether that is known, whatever the octets look like.
    init(_ contents: BodyContents, headers: HeaderFields, isText: Bool = false) throws {
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

    /// UTF-8 without control characters but tabs and line ends.
    static func isText(_ contents: BodyContents) throws -> Bool {
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

    /// The first character that is no white space.
    private static func begins(_ contents: BodyContents, with characters: [Unicode.Scalar]) throws -> Bool {
        guard let first = try contents.prefix(64).first(where: { $0 > 32 }) else { return false }
        return characters.contains(Unicode.Scalar(first))
    }
}
