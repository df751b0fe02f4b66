@testable import CassetteModel
import Foundation
import TapeTestSupport
import Testing
@testable import Wiretape

struct FormDataPartTests {
    private func header(_ name: String, _ fileName: String? = nil, _ mimeType: String? = nil) throws -> String {
        let part = try FormData.Part(name: name, fileName: fileName, mimeType: mimeType, source: .bytes([]))
        return String(decoding: part.headers.bytes, as: UTF8.self)
    }

    @Test func aFieldHasANameAlone() throws {
        #expect(try self.header("title") == "Content-Disposition: form-data; name=\"title\"\r\n")
    }

    @Test func aFileHasItsNameAndType() throws {
        #expect(
            try self.header("pet", "a.jpg", "image/jpeg")
                == "Content-Disposition: form-data; name=\"pet\"; filename=\"a.jpg\"\r\nContent-Type: image/jpeg\r\n")
    }

    @Test func namesAreEscapedAsBrowsersDo() throws {
        #expect(
            try self.header("a\"b\r\nX: y", "음식 🍲\\'%22.txt") == """
                Content-Disposition: form-data; name="a%22b%0D%0AX: y"; filename="음식 🍲\\'%22.txt"\r\n
                """)
        // CR LF is a single Character in Swift.
        #expect(FormData.Part.escaped("\r\n\n\r") == "%0D%0A%0A%0D")
    }

    @Test(arguments: ["image/jpeg\r\nX: y", "a\nb", "a\u{0}", "a\u{7f}"])
    func aTypeThatBreaksTheHeaderIsRefused(mimeType: String) {
        #expect { try self.header("a", nil, mimeType) } throws: { ($0 as? FormDataError)?.code == .invalidHeader }
    }

    @Test(arguments: ["no colon", ": x", "a b: c", "a\r\nb: c", "é: x", ""])
    func aLineThatIsNoFieldIsRefused(line: String) {
        #expect { try FormData.Part(headers: HeaderFields([line]), source: .bytes([])) } throws: {
            ($0 as? FormDataError)?.code == .invalidHeader
        }
    }

    @Test func headersMayBeAnything() throws {
        let headers = HeaderFields(["X-A:1", "X-A:\t2", "Content-Type: x"])
        #expect(try FormData.Part(headers: headers, source: .bytes([])).headers == headers)
    }

    @Test func noStreamHasLessThanNothing() {
        let stream = FormData.Stream(length: -1) { { _ in 0 } }
        #expect { try FormData.Part(name: "a", source: .stream(stream)) } throws: { ($0 as? FormDataError)?.code == .invalidLength }
    }
}

struct FormDataErrorTests {
    @Test func aCodeIsShownByItsName() {
        #expect(FormDataError.Code.notAFileURL.description == "notAFileURL")
        #expect(FormDataError.Code.noSize != .isFolder)
    }

    @Test func anErrorIsShownByItsMessage() {
        #expect("\(FormDataError(.unreachable, "there is none"))" == "there is none")
    }
}

struct FormDataSourceTests {
    @Test func eachKnowsItsLength() throws {
        let folder = try TemporaryFolder()
        let file = try FormData.File(path: folder.write([1, 2, 3], to: "a"))
        #expect(FormData.Source.bytes([1]).length == 1)
        #expect(FormData.Source.file(file).length == 3)
        #expect(FormData.Source.stream(FormData.Stream(length: 9) { { _ in 0 } }).length == 9)
    }
}

@Suite struct InputStreamReaderTests {
    private func read(_ stream: InputStream, by size: Int) throws -> [UInt8] {
        let read = try InputStreamReader(stream).open()
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: size)
        while case let count = try buffer.withUnsafeMutableBytes({ try read($0) }), count > 0 { bytes += buffer[..<count] }
        return bytes
    }

    @Test func allBytesComeInOrder() throws {
        let bytes = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 * 7) }
        for size in [1, 333, 100_000] { #expect(try self.read(InputStream(data: Data(bytes)), by: size) == bytes) }
        #expect(try self.read(InputStream(data: Data()), by: 10) == [])
    }

    @Test func aFileThatIsNotThereIsAnErrorAndNoCrash() throws {
        let stream = try #require(InputStream(fileAtPath: "/no/such/file"))
        #expect { try self.read(stream, by: 10) } throws: { ($0 as? FormDataError)?.code == .unreadable }
    }

    @Test func aStreamIsReadByOneOnly() throws {
        let reader = InputStreamReader(InputStream(data: Data([1])))
        _ = try reader.open()
        #expect(throws: FormDataError.self) { try reader.open() }
        let opened = InputStream(data: Data([1]))
        opened.open()
        #expect(throws: FormDataError.self) { try InputStreamReader(opened).open() }
    }
}
