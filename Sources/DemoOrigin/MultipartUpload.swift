internal import CZlib

/// The parts of a multipart/form-data body (RFC 7578), as the origin reports them back.
/// Keeps sizes and checksums, and the text of plain fields. Does not keep file content.
struct MultipartUpload: Sendable, Equatable {
    struct Part: Sendable, Equatable {
        var name: String
        var filename: String?
        var type: String?
        var size: Int
        var crc32: UInt32
        /// The content of a field that is not a file; nil if it is not UTF-8.
        var text: String?
    }

    struct Refusal: Error, Equatable {
        var message: String
    }

    /// The demo's form has three parts. The limit keeps the answer short.
    static let partLimit = 100

    private(set) var parts: [Part] = []

    init(contentType: String, body: [UInt8]) throws(Refusal) {
        guard let boundary = Self.boundary(of: contentType) else {
            throw Refusal(message: "want multipart/form-data with a boundary, not \"\(contentType)\"")
        }
        let delimiter = Array("\r\n--\(boundary)".utf8)
        // The first delimiter may be at the very beginning, without a line end before it.
        let bytes = [13, 10] + body
        guard var open = Self.find(delimiter, in: bytes, from: 0) else {
            throw Refusal(message: "the body has no part that starts with --\(boundary)")
        }
        while true {
            let start = open + delimiter.count
            if bytes[start...].starts(with: Array("--".utf8)) { return }
            guard let next = Self.find(delimiter, in: bytes, from: start) else {
                throw Refusal(message: "the body ends before its last part is closed")
            }
            guard self.parts.count < Self.partLimit else {
                throw Refusal(message: "more than \(Self.partLimit) parts")
            }
            self.parts.append(try Self.part(bytes[start..<next]))
            open = next
        }
    }

    /// A JSON document with every part.
    var json: String {
        let parts = self.parts.map { part in
            var members = ["\"name\": \(Self.quoted(part.name))"]
            if let filename = part.filename { members.append("\"filename\": \(Self.quoted(filename))") }
            if let type = part.type { members.append("\"type\": \(Self.quoted(type))") }
            members.append("\"size\": \(part.size)")
            members.append("\"crc32\": \(part.crc32)")
            if let text = part.text { members.append("\"text\": \(Self.quoted(text))") }
            return "{" + members.joined(separator: ", ") + "}"
        }
        return "{\"parts\": [" + parts.joined(separator: ", ") + "]}\n"
    }

    /// RFC 2046, 5.1.1: a boundary has 1 to 70 characters.
    private static func boundary(of contentType: String) -> String? {
        let pieces = contentType.split(separator: ";")
        guard pieces.first?.lowercased() == "multipart/form-data" else { return nil }
        guard let value = self.parameter("boundary", in: pieces.dropFirst()), (1...70).contains(value.utf8.count) else { return nil }
        return value
    }

    private static func parameter(_ name: String, in pieces: some Sequence<Substring>) -> String? {
        for piece in pieces {
            let pair = piece.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2, pair[0].trimmed.lowercased() == name else { continue }
            let value = pair[1].trimmed
            return value.count >= 2 && value.hasPrefix("\"") && value.hasSuffix("\"") ? String(value.dropFirst().dropLast()) : String(value)
        }
        return nil
    }

    /// Parses the bytes between two delimiters: the rest of the delimiter's line, a header section, an empty line, and the content.
    private static func part(_ bytes: ArraySlice<UInt8>) throws(Refusal) -> Part {
        let all = Array(bytes)
        guard let end = self.find(Array("\r\n\r\n".utf8), in: all, from: 0) else {
            throw Refusal(message: "a part has no empty line after its header fields")
        }
        var part = Part(name: "", size: 0, crc32: 0)
        for line in String(decoding: all[..<end], as: UTF8.self).split(whereSeparator: \.isNewline) {
            let pair = line.split(separator: ":", maxSplits: 1)
            guard pair.count == 2 else { continue }
            let pieces = pair[1].split(separator: ";")
            switch pair[0].lowercased() {
            case "content-disposition":
                part.name = self.parameter("name", in: pieces) ?? ""
                part.filename = self.parameter("filename", in: pieces)
            case "content-type":
                part.type = String(pair[1].trimmed)
            default:
                continue
            }
        }
        let content = Array(all[(end + 4)...])
        part.size = content.count
        part.crc32 = UInt32(truncatingIfNeeded: CZlib.crc32(0, content, uInt(content.count)))
        let text = String(decoding: content, as: UTF8.self)
        if part.filename == nil, text.utf8.elementsEqual(content) { part.text = text }
        return part
    }

    private static func find(_ pattern: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
        var index = start
        while index <= bytes.count - pattern.count {
            if bytes[index] == pattern[0], bytes[index..<index + pattern.count].elementsEqual(pattern) { return index }
            index += 1
        }
        return nil
    }

    private static func quoted(_ text: String) -> String {
        var out = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\":
                out += "\\"
                out.unicodeScalars.append(scalar)
            case _ where scalar.value < 0x20:
                let hex = String(scalar.value, radix: 16)
                out += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default:
                out.unicodeScalars.append(scalar)
            }
        }
        return out + "\""
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        let start = self.drop { $0 == " " || $0 == "\t" }
        guard let last = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return start }
        return start[...last]
    }
}
