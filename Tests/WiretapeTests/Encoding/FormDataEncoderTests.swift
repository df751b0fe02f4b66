import Foundation
import TapeTestSupport
import Testing
@testable import Wiretape

struct FormDataEncoderTests {
    private struct Broken: Error {}

    private func form() throws -> FormData { FormData(boundary: try FormData.Boundary("B")) }

    private func read(_ form: FormData, _ size: Int) throws -> [UInt8] {
        var encoder = form.encoder()
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: size)
        while case let count = try buffer.withUnsafeMutableBytes({ try encoder.read(into: $0) }), count > 0 {
            bytes += buffer.prefix(count)
        }
        return bytes
    }

    private func code(_ form: FormData) -> FormDataError.Code? {
        do {
            _ = try self.read(form, 16)
            return nil
        } catch {
            return (error as? FormDataError)?.code
        }
    }

    /// A stream that gives `bytes` in pieces of up to `piece`, regardless of the length it declares.
    private func stream(_ bytes: [UInt8], length: Int? = nil, inPiecesOf piece: Int = .max) -> FormData.Stream {
        FormData.Stream(length: length ?? bytes.count) {
            var rest = bytes[...]
            return { buffer in
                let count = min(piece, buffer.count, rest.count)
                buffer.copyBytes(from: rest.prefix(count))
                rest = rest.dropFirst(count)
                return count
            }
        }
    }

    @Test func buffersOfAnySizeGiveTheSameBytes() throws {
        let folder = try TemporaryFolder()
        var form = try self.form()
        try form.append("", name: "empty")
        try form.append("값", name: "이름")
        try form.append(FormData.File(path: folder.write([7, 8, 9], to: "f.bin")), name: "file")
        try form.append(self.stream(Array("stream".utf8), inPiecesOf: 2), name: "s")
        try form.append(FormData.File(path: folder.write([], to: "none.txt")), name: "last")
        let expected = Array(
            """
            --B\r
            Content-Disposition: form-data; name="empty"\r
            \r
            \r
            --B\r
            Content-Disposition: form-data; name="이름"\r
            \r
            값\r
            --B\r
            Content-Disposition: form-data; name="file"; filename="f.bin"\r
            Content-Type: application/octet-stream\r
            \r
            \u{7}\u{8}\u{9}\r
            --B\r
            Content-Disposition: form-data; name="s"\r
            \r
            stream\r
            --B\r
            Content-Disposition: form-data; name="last"; filename="none.txt"\r
            Content-Type: text/plain\r
            \r
            \r
            --B--\r\n
            """.utf8)
        #expect(form.contentLength == expected.count)
        for size in 1...expected.count + 1 { #expect(try self.read(form, size) == expected) }
    }

    @Test func aStreamOfAnotherLengthIsAnError() throws {
        for (length, piece) in [(2, 1), (2, 9), (4, 1), (4, 9), (0, 9)] {
            var form = try self.form()
            try form.append(self.stream([1, 2, 3], length: length, inPiecesOf: piece), name: "s")
            #expect(self.code(form) == .changed)
        }
    }

    @Test func aStreamThatClaimsMoreThanFitsIsAnError() throws {
        var form = try self.form()
        try form.append(FormData.Stream(length: 5) { { $0.count + 1 } }, name: "s")
        #expect(self.code(form) == .changed)
        form = try self.form()
        try form.append(FormData.Stream(length: 5) { { _ in -1 } }, name: "s")
        #expect(self.code(form) == .changed)
    }

    @Test func aFileThatWasChangedSinceIsAnError() throws {
        let folder = try TemporaryFolder()
        for bytes in [[1, 2], [1, 2, 3, 4]] as [[UInt8]] {
            var form = try self.form()
            try form.append(FormData.File(path: folder.write([1, 2, 3], to: "f")), name: "f")
            try folder.write(bytes, to: "f")
            #expect(self.code(form) == .changed)
        }
        var form = try self.form()
        try form.append(FormData.File(path: folder.write([1, 2, 3], to: "gone")), name: "f")
        #expect(unlink(folder.file("gone")) == 0)
        #expect(self.code(form) == .unopenable)
    }

    @Test func errorsOfAStreamPassThrough() throws {
        var form = try self.form()
        try form.append(FormData.Stream(length: 1) { throw Broken() }, name: "s")
        #expect(throws: Broken.self) { try self.read(form, 4096) }
        form = try self.form()
        try form.append(FormData.Stream(length: 1) { { _ in throw Broken() } }, name: "s")
        #expect(throws: Broken.self) { try self.read(form, 4096) }
    }
}
