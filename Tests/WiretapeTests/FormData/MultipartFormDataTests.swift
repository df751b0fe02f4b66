import TapeTestSupport
import Testing

@testable import CassetteModel
@testable import Wiretape

struct MultipartFormDataTests {
    private func form() throws -> MultipartFormData { MultipartFormData(boundary: try FormDataBoundary("B")) }

    /// `curl -F title=hello -F 'pet=@a.txt'`, but for the boundary.
    @Test func theBytesAreThoseOfCurl() throws {
        let folder = try TemporaryFolder()
        var form = try self.form()
        try form.append("hello", name: "title")
        try form.append(FormDataFile(path: folder.write(Array("data\n".utf8), to: "a.txt")), name: "pet")
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
            var form = MultipartFormData(boundary: FormDataBoundary(using: &generator))
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

    @Test func whatIsAboveTheThresholdGoesToAFileThatIsRemoved() throws {
        let folder = try TemporaryFolder()
        var form = try self.form()
        try form.append([UInt8](repeating: 7, count: 100_000), name: "x")
        var encoded: EncodedFormData? = try form.encode(threshold: form.contentLength, folder: folder.path)
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
        try form.append(FormDataStream(length: 1 << 40) { { _ in throw Broken() } }, name: "s")
        #expect(throws: Broken.self) { try form.encode(folder: folder.path) }
        #expect(try folder.names() == [])
    }

    @Test func lengthsPastAllReasonAreRefused() throws {
        var form = try self.form()
        try form.append(FormDataStream(length: .max - 200) { { _ in 0 } }, name: "s")
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
