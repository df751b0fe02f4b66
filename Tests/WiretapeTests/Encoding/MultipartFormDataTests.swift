@testable import CassetteModel
@testable import CassetteStore
import Foundation
import TapeTestSupport
import Testing
@testable import Wiretape

struct FormDataTests {
    private func form() throws -> FormData { FormData(boundary: try FormData.Boundary("B")) }

    /// `curl -F title=hello -F 'pet=@a.txt'`, except for the boundary.
    @Test func theBytesAreThoseOfCurl() throws {
        let folder = try TemporaryFolder()
        var form = try self.form()
        try form.append("hello", name: "title")
        try form.append(FormData.File(path: folder.write(Array("data\n".utf8), to: "a.txt")), name: "pet")
        #expect(
            try form.encode().source.load()
                == Array(
                    """
                    --B\r
                    Content-Disposition: form-data; name="title"\r
                    \r
                    hello\r
                    --B\r
                    Content-Disposition: form-data; name="pet"; filename="a.txt"\r
                    Content-Type: text/plain\r
                    \r
                    data
                    \r
                    --B--\r\n
                    """.utf8))
        #expect(form.contentType == "multipart/form-data; boundary=B")
    }

    @Test func aFormWithoutPartsIsAClosingDelimiter() throws {
        let form = try self.form()
        #expect(try form.encode().source.load() == Array("--B--\r\n".utf8))
        #expect(form.contentLength == 7)
    }

    @Test func theLengthIsKnownBeforeEncoding() throws {
        var generator = SeededGenerator(seed: 71)
        for _ in 0..<50 {
            var form = FormData(boundary: FormData.Boundary(using: &generator))
            for _ in 0..<Int.random(in: 0...5, using: &generator) {
                let bytes = (0..<Int.random(in: 0...300, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator) }
                let fileName = Bool.random(using: &generator) ? "이름 \"x\"\r\n" : nil
                try form.append(bytes, name: "n\(bytes.count)", fileName: fileName, mimeType: fileName.map { _ in "a/b" })
            }
            #expect(try form.encode().source.load().count == form.contentLength)
        }
    }

    @Test func namesMayComeTwiceAndTheOrderStays() throws {
        var form = try self.form()
        for value in ["b", "a", "b"] { try form.append(value, name: "x") }
        #expect(form.parts.count == 3)
        let text = String(decoding: try form.encode().source.load(), as: UTF8.self)
        #expect(text.split(separator: "\r\n").filter { $0.utf8.count == 1 } == ["b", "a", "b"])
    }

    @Test func formAboveTheThresholdGoesToATemporaryFile() throws {
        let folder = try TemporaryFolder()
        var form = try self.form()
        try form.append([UInt8](repeating: 7, count: 100_000), name: "x")
        var encoded: FormData.Encoded? = try form.encode(threshold: form.contentLength, folder: folder.path)
        guard case .memory(let bytes) = encoded else { return #expect(Bool(false)) }
        #expect(try folder.names() == [])
        encoded = try form.encode(threshold: form.contentLength - 1, folder: folder.path)
        guard case .file = encoded else { return #expect(Bool(false)) }
        #expect(try folder.names().count == 1)
        #expect(try encoded?.source.load() == bytes)
        encoded = nil
        #expect(try folder.names() == [])
    }

    @Test func anErrorLeavesNoFile() throws {
        struct Broken: Error {}
        let folder = try TemporaryFolder()
        var form = try self.form()
        try form.append(FormData.Stream(length: 1 << 40) { { _ in throw Broken() } }, name: "s")
        #expect(throws: Broken.self) { try form.encode(folder: folder.path) }
        #expect(try folder.names() == [])
    }

    @Test func lengthsPastAllReasonAreRefused() throws {
        var form = try self.form()
        try form.append(FormData.Stream(length: .max - 200) { { _ in 0 } }, name: "s")
        let length = form.contentLength
        #expect { try form.append("x", name: String(repeating: "n", count: 200)) } throws: {
            ($0 as? FormDataError)?.code == .invalidLength
        }
        #expect(form.contentLength == length && form.parts.count == 1)
    }

    @Test func aFileIsAppendedByItsURLUnderAnyName() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write([1], to: "a.png")
        var form = try self.form()
        try form.append(fileURL: "file://\(path)", name: "x", fileName: "b.jpg")
        try form.append(fileURL: "file://\(path)", name: "x", mimeType: "a/b")
        let headers = form.parts.map { $0.headers.values("content-disposition") + $0.headers.values("content-type") }
        #expect(
            headers == [
                ["form-data; name=\"x\"; filename=\"b.jpg\"", "image/jpeg"], ["form-data; name=\"x\"; filename=\"a.png\"", "a/b"],
            ])
        #expect { try form.append(fileURL: "https://a/b", name: "x") } throws: { ($0 as? FormDataError)?.code == .notAFileURL }
        #expect { try form.append(fileURL: "file://\(folder.path)", name: "x") } throws: { ($0 as? FormDataError)?.code == .isFolder }
    }
}

struct EncodedFormDataTests {
    @Test func bothFormsCanBeReadAgainAndAgain() throws {
        let bytes = Array(0..<200).map { UInt8($0) }
        let file = try TemporaryFile { write in try bytes.withUnsafeBytes(write) }
        for encoded in [FormData.Encoded.memory(bytes), .file(file)] {
            #expect(encoded.size == 200)
            for _ in 0..<2 { #expect(try encoded.source.load() == bytes) }
        }
    }
}

struct FormDataBoundaryTests {
    @Test(arguments: ["a", "----WebKitFormBoundaryABC", "a b", "'()+_,-./:=?", String(repeating: "x", count: 70)])
    func validBoundaryIsAccepted(text: String) throws {
        #expect(try FormData.Boundary(text).text == text)
    }

    @Test(arguments: ["", "a ", "a\"b", "a\r\nb", "café", "a@b", "a\u{0}", String(repeating: "x", count: 71)])
    func invalidBoundaryIsRefused(text: String) {
        #expect { try FormData.Boundary(text) } throws: { ($0 as? FormDataError)?.code == .invalidBoundary }
    }

    @Test func theSameSeedGivesTheSameBoundary() {
        #expect(FormData.Boundary.seeded(7).text == "wiretape-63cbe1e459320dd7044c3cd7f43c661c")
        #expect(FormData.Boundary.seeded(7) == FormData.Boundary.seeded(7))
        #expect(FormData.Boundary.seeded(7) != FormData.Boundary.seeded(8))
    }

    @Test func aRandomOneIsAllowedAndNew() throws {
        let boundary = FormData.Boundary.random()
        #expect(try FormData.Boundary(boundary.text) == boundary)
        #expect(boundary.text.utf8.count == 41 && boundary != .random())
    }

    @Test func theParameterIsQuotedWhereItHasToBe() throws {
        #expect(try FormData.Boundary("a-B_1.+'").parameter == "boundary=a-B_1.+'")
        for text in ["a b", "a:b", "a/b", "(a", "a=b", "a?b", "a,b"] {
            #expect(try FormData.Boundary(text).parameter == "boundary=\"\(text)\"")
        }
    }
}

@Suite struct MultipartFormDataFieldsTests {
    private struct Pet: Encodable {
        var name = "초코"
        var tags = ["b", "a"]
        var owner = ["zip": 1, "city": 2]
        var photo = Data([0, 255])
        var isGood = true
        var chip: Int?
    }

    private func parts(_ form: FormData) -> [String] {
        form.parts.map { part in
            guard case .bytes(let bytes) = part.source else { return "" }
            return part.headers.lines.joined(separator: "|").replacing("Content-Disposition: form-data; name=", with: "") + " \(bytes)"
        }
    }

    @Test func everyValueIsAPartInAStableOrder() throws {
        var form = FormData()
        try form.append(fieldsOf: Pet())
        #expect(
            self.parts(form) == [
                "\"isGood\" [49]", "\"name\" \(Array("초코".utf8))", "\"owner[city]\" [50]", "\"owner[zip]\" [49]", "\"photo\" [0, 255]",
                "\"tags[]\" [98]", "\"tags[]\" [97]",
            ])
    }

    @Test func theEncoderNamesAndWrites() throws {
        var form = FormData()
        let encoder = HTTPSession.URLEncodedFormEncoder(
            arrayEncoding: .indexInBrackets, boolEncoding: .literal, keyEncoding: .convertToSnakeCase, keyPathEncoding: .dots,
            nilEncoding: .null)
        try form.append(fieldsOf: Pet(), encoder: encoder)
        let names = form.parts.compactMap { ContentDisposition($0.headers)?.name }
        // The synthesized code calls `encodeIfPresent`, which encodes a nil too with this option.
        #expect(names == ["chip", "is_good", "name", "owner.city", "owner.zip", "photo", "tags[0]", "tags[1]"])
    }

    @Test func anErrorAppendsNothing() throws {
        var form = FormData()
        #expect(throws: FormDataError.self) { try form.append(fieldsOf: ["a": "1", "b\0": "2"]) }
        #expect(throws: ParameterEncodingError.self) { try form.append(fieldsOf: [1]) }
        #expect(form.parts.isEmpty)
    }
}

@Suite struct MultipartFormDataFoundationTests {
    private func text(_ form: FormData) throws -> String { String(decoding: try form.encode().source.load(), as: UTF8.self) }

    @Test func dataIsAFieldOrAFile() throws {
        var form = FormData(boundary: try FormData.Boundary("B"))
        form.append(Data("1".utf8), withName: "a")
        form.append(Data("2".utf8), withName: "b", fileName: "c.png", mimeType: "image/png")
        #expect(
            try self.text(form)
                == """
                --B\r
                Content-Disposition: form-data; name="a"\r
                \r
                1\r
                --B\r
                Content-Disposition: form-data; name="b"; filename="c.png"\r
                Content-Type: image/png\r
                \r
                2\r
                --B--\r\n
                """)
    }

    @Test func aFileIsReadUnderItsOwnNameOrAnother() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("wiretape 한 \(UUID().uuidString).json")
        try Data("{}".utf8).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        var form = FormData()
        try form.append(url, withName: "a")
        try form.append(url, withName: "a", fileName: "x.bin", mimeType: "a/b")
        #expect(form.parts.map { ContentDisposition($0.headers)?.filename } == [url.lastPathComponent, "x.bin"])
        #expect(form.parts.map { $0.headers.first("content-type") } == ["application/json", "a/b"])
        #expect(try self.text(form).contains("\r\n\r\n{}\r\n"))
        #expect { try form.append(try "https://h/a".asURL(), withName: "a") } throws: { ($0 as? FormDataError)?.code == .notAFileURL }
        #expect { try form.append(url.appendingPathComponent("no"), withName: "a") } throws: {
            ($0 as? FormDataError)?.code == .unreachable
        }
    }

    @Test func aStreamIsReadOnce() throws {
        var form = FormData()
        try form.append(InputStream(data: Data("abc".utf8)), withLength: 3, name: "s", fileName: "s.txt", mimeType: "text/plain")
        try form.append(InputStream(data: Data("def".utf8)), withLength: 3, headers: ["X-A": "1"])
        let text = try self.text(form)
        #expect(text.contains("Content-Type: text/plain\r\n\r\nabc\r\n") && text.contains("X-A: 1\r\n\r\ndef\r\n"))
        #expect { try form.encode() } throws: { ($0 as? FormDataError)?.code == .unreadable }
    }

    @Test func aStreamHasAsManyBytesAsItSays() throws {
        for length in [2, 4] as [UInt64] {
            var form = FormData()
            try form.append(InputStream(data: Data("abc".utf8)), withLength: length, headers: ["X-A": "1"])
            #expect { try form.encode() } throws: { ($0 as? FormDataError)?.code == .changed }
        }
        var form = FormData()
        #expect { try form.append(InputStream(data: Data()), withLength: .max, headers: [:]) } throws: {
            ($0 as? FormDataError)?.code == .invalidLength
        }
    }
}
