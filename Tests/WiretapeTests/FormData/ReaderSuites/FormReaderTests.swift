import Foundation
import TapeTestSupport
import Testing

@testable import CassetteModel
@testable import TapeBytes
@testable import Wiretape

/// Other parsers read our encoding.
struct FormReaderTests {
    private struct Part: Equatable, Decodable {
        var name: String
        var fileName: String?
        var type: String?
        var hex: String

        init(_ name: String, _ fileName: String?, _ type: String?, _ bytes: [UInt8]) {
            (self.name, self.fileName, self.type, self.hex) = (name, fileName, type, Hex.encode(bytes))
        }

        init(from decoder: any Decoder) throws {
            var list = try decoder.unkeyedContainer()
            self.name = try list.decode(String.self)
            self.fileName = try list.decode(String?.self)
            self.type = try list.decode(String?.self)
            self.hex = try list.decode(String.self)
        }
    }

    private struct Answer: Decodable {
        var parser: String
        var parts: [Part]

        init(from decoder: any Decoder) throws {
            var list = try decoder.unkeyedContainer()
            self.parser = try list.decode(String.self)
            self.parts = try list.decode([Part].self)
        }
    }

    @Test(.enabled(if: FormReaders.python != nil, "the parsers could not be fetched"))
    func pythonReadsTheAppendedParts() throws {
        let python = try #require(FormReaders.python)
        let folder = try TemporaryFolder()
        var generator = SeededGenerator(seed: 81)
        let boundary = FormData.Boundary(using: &generator)
        var form = FormData(boundary: boundary)
        let random = (0..<100_000).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let tricky = Array("\r\n--\r\n--\(boundary.text.dropLast())\r\n\r\n--\n\(boundary.text)--\r\n".utf8)
        try form.append("값", name: "제목")
        try form.append("", name: "")
        try form.append(random, name: "file", fileName: "음식 🍲.jpg", mimeType: "image/jpeg")
        try form.append(tricky, name: "tricky", fileName: "a\"b.txt", mimeType: "text/plain")
        try form.append("two\r\nlines\n", name: "a\"b\r\nc")
        try form.append("again", name: "file")
        try form.append(FormData.File(path: folder.write([0, 13, 10], to: "zero.png")), name: "path")
        let bytes = try form.encode().source.load()
        let expected = [
            Part("제목", nil, nil, Array("값".utf8)), Part("", nil, nil, []), Part("file", "음식 🍲.jpg", "image/jpeg", random),
            Part("tricky", "a\"b.txt", "text/plain", tricky), Part("a\"b\r\nc", nil, nil, Array("two\r\nlines\n".utf8)),
            Part("file", nil, nil, Array("again".utf8)), Part("path", "zero.png", "image/png", [0, 13, 10]),
        ]
        let output = try FormReaders.run([python, "-c", FormReaders.script, form.contentType], input: bytes)
        let answers = try output.split(separator: 10).map { try JSONDecoder().decode(Answer.self, from: $0) }
        #expect(answers.map(\.parser) == ["werkzeug", "defnull", "kludex"])
        for answer in answers { #expect(answer.parts == expected, "\(answer.parser)") }
    }
}
