import TapeTestSupport
import Testing

@testable import CassetteModel

/// Generates valid multipart bodies with difficult names from a seed.
enum RandomMultipart {
    static let names = [
        "a", "음식", "반려동물.jpg", "it's \"quoted\"", "back\\slash", "line\r\nend", "🐶.png", "", " spaces ", "semi;colon", "a=b", "100%", "é",
        "--X",
    ]

    static func body(using generator: inout SeededGenerator, depth: Int = 2) throws -> MultipartBody<[UInt8]> {
        let text = "b" + (0..<16).map { _ in String(Int.random(in: 0...15, using: &generator), radix: 16) }.joined()
        let boundary = try #require(MultipartBoundary(text))
        let count = Int.random(in: 0...5, using: &generator)
        var parts: [MultipartPart<[UInt8]>] = []
        for index in 0..<count {
            let delimiter = MultipartBody<[UInt8]>.usualDelimiter(isFirst: index == 0)
            if depth > 1, Int.random(in: 0..<6, using: &generator) == 0 {
                let inner = try self.body(using: &generator, depth: depth - 1)
                let type = "Content-Type: multipart/mixed; boundary=\"" + String(decoding: inner.boundary.bytes, as: UTF8.self) + "\""
                parts.append(
                    MultipartPart(delimiter: delimiter, headers: PartHeaderSection(lines: [Array(type.utf8)]), content: .multipart(inner)))
            } else {
                parts.append(
                    MultipartPart(
                        delimiter: delimiter, headers: PartHeaderSection(lines: [self.disposition(using: &generator)]),
                        content: .data(self.data(using: &generator))))
            }
        }
        return MultipartBody(
            boundary: boundary, parts: parts, closing: MultipartBody<[UInt8]>.usualDelimiter(isFirst: count == 0, isClosing: true))
    }

    /// In the form of browsers.
    static func disposition(using generator: inout SeededGenerator) -> [UInt8] {
        let name = self.escaped(self.names.randomElement(using: &generator) ?? "")
        let filename =
            Bool.random(using: &generator) ? "; filename=\"\(self.escaped(self.names.randomElement(using: &generator) ?? ""))\"" : ""
        return Array("Content-Disposition: form-data; name=\"\(name)\"\(filename)".utf8)
    }

    static func escaped(_ name: String) -> String {
        var text = ""
        for scalar in name.unicodeScalars {
            switch scalar {
            case "\"": text += "%22"
            case "\r": text += "%0D"
            case "\n": text += "%0A"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    /// Never contains the boundary, which has lower-case letters, but many line ends and hyphens.
    private static func data(using generator: inout SeededGenerator) -> [UInt8] {
        let alphabet: [UInt8] = [13, 10, 45, 45, 0, 65, 0xEC, 58]
        return (0..<Int.random(in: 0...200, using: &generator)).map { _ in alphabet.randomElement(using: &generator) ?? 0 }
    }
}
