import Testing

@testable import CassetteModel

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

        // Not in memory, read at every offset.
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
