@testable import CassetteModel
import TapeTestSupport
import Testing

struct MultipartBodyTests {
    @Test func aFormIsItsPartsAndNothingElse() throws {
        let bytes = Array(MultipartFixture.form.utf8)
        let body = try #require(try MultipartFixture.body(bytes)).mapData { Array(bytes[$0]) }
        #expect(body.parts.map(\.content) == [.data(Array("음식".utf8)), .data([1, 13, 10, 2])])
        #expect(body.parts.map(\.delimiter) == [MultipartBody<[UInt8]>.usualDelimiter(isFirst: true), MultipartDelimiter()])
        #expect(body.closing == MultipartBody<[UInt8]>.usualDelimiter(isFirst: false, isClosing: true))
        let again = MultipartBody(
            boundary: body.boundary,
            parts: body.parts.map { MultipartPart(delimiter: $0.delimiter, headers: $0.headers, content: $0.content) })
        #expect(again == body)
    }

    @Test(arguments: ["", "a", "a=b&c=d", "--Y\r\n\r\n--Y--"]) func withoutADelimiterThereAreNoParts(_ text: String) throws {
        #expect(try MultipartFixture.body(Array(text.utf8)) == nil)
    }

    @Test func aFormWithoutFieldsHasNoParts() throws {
        let body = try #require(try MultipartFixture.body(Array("--X--\r\n".utf8)))
        #expect(body.parts.isEmpty)
        #expect(body.closing == MultipartBody<Range<Int>>.usualDelimiter(isFirst: true, isClosing: true))
    }

    @Test func dataOfPartsWithinPartsIsMappedInOrder() throws {
        let bytes = Array(
            "--X\r\nContent-Type: multipart/mixed; boundary=Y\r\n\r\n--Y\r\n\r\na\r\n--Y\r\n\r\nb\r\n--Y--\r\n--X\r\n\r\nc\r\n--X--".utf8)
        var seen = ""
        _ = try #require(try MultipartFixture.body(bytes)).mapData { seen += String(decoding: bytes[$0], as: UTF8.self) }
        #expect(seen == "abc")
    }
}

@Suite struct MultipartBodyBytesTests {
    @Test func filesOfImpossibleSizesAddUpToTheMost() throws {
        let huge = Sidecar(path: "a.bodies/b", size: .max, sha256: "")
        let part = MultipartPart<PartContent>(headers: PartHeaderSection(lines: []), content: .data(.file(huge)))
        let body = MultipartBody<PartContent>(boundary: try #require(MultipartBoundary("X")), parts: [part, part])
        #expect(body.size == .max)
    }

    @Test func partsInFilesAreReadFromThere() throws {
        let sidecar = Sidecar(path: "a.bodies/b", size: 3, sha256: "")
        let boundary = try #require(MultipartBoundary("X"))
        let head = PartHeaderSection(lines: [Array("A: b".utf8)])
        let body = MultipartBody<PartContent>(
            boundary: boundary,
            parts: [
                MultipartPart(
                    delimiter: MultipartBody<PartContent>.usualDelimiter(isFirst: true), headers: head, content: .data(.file(sidecar))),
                MultipartPart(headers: head, content: .data(.text(Array("음식".utf8)))),
            ])
        let source = body.source { _ in ByteSource([1, 2, 3]) }
        let expected = Array("--X\r\nA: b\r\n\r\n".utf8) + [1, 2, 3] + Array("\r\n--X\r\nA: b\r\n\r\n음식\r\n--X--\r\n".utf8)
        #expect(try source.load() == expected)
        #expect(body.size == expected.count && body.parts.count == 2)

        // Not in memory, and read at every offset.
        let pieces = body.source { _ in
            ByteSource(size: 3) { offset, buffer in
                buffer[0] = UInt8(offset + 1)
                return 1
            }
        }
        for offset in 0..<expected.count {
            var bytes = [UInt8](repeating: 0, count: expected.count - offset)
            try bytes.withUnsafeMutableBytes { try pieces.read(at: offset, into: $0) }
            #expect(bytes == Array(expected[offset...]))
        }
    }
}

struct MultipartSerializerTests {
    @Test(arguments: MultipartFixture.texts) func parsedBodiesAreWrittenTheSame(_ text: String) throws {
        let bytes = Array(text.utf8)
        guard let body = try MultipartFixture.body(bytes) else { return }
        #expect(bytes.withUnsafeBytes { MultipartSerializer.bytes(body, source: $0) } == bytes)
        #expect(MultipartSerializer.bytes(body.mapData { Array(bytes[$0]) }) == bytes)
    }

    @Test func brokenBodiesAreWrittenAgain() throws {
        var generator = SeededGenerator(seed: 5)
        var restored = 0
        for round in 0..<rounds(3000) {
            let bytes = MultipartFixture.mutated(
                Array(MultipartFixture.texts[round % MultipartFixture.texts.count].utf8), using: &generator)
            guard let body = try MultipartFixture.body(bytes) else { continue }
            #expect(bytes.withUnsafeBytes { MultipartSerializer.bytes(body, source: $0) } == bytes)
            restored += 1
        }
        #expect(restored > rounds(1500))
    }

    @Test func writtenBodiesAreReadTheSame() throws {
        var generator = SeededGenerator(seed: 6)
        for _ in 0..<500 {
            let body = try RandomMultipart.body(using: &generator)
            let bytes = MultipartSerializer.bytes(body)
            let read = bytes.withUnsafeBytes { MultipartBody.parse($0, boundary: body.boundary) }
            #expect(read?.mapData { Array(bytes[$0]) } == body)
        }
    }

    @Test func rangesOutsideTheSourceAreRefused() throws {
        let boundary = try #require(MultipartBoundary("X"))
        let part = MultipartPart<Range<Int>>(headers: PartHeaderSection(lines: []), content: .data(0..<5))
        let body = MultipartBody(boundary: boundary, parts: [part])
        #expect([1, 2, 3].withUnsafeBytes { MultipartSerializer.bytes(body, source: $0) } != nil)
        #expect([UInt8(1), 2, 3].withUnsafeBytes { MultipartSerializer.bytes(body, source: $0) } == nil)
    }
}
