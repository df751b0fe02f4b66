import TapeTestSupport
import Testing

@testable import CassetteModel

struct MultipartSerializerTests {
    @Test(arguments: MultipartFixture.texts) func whatIsReadIsWrittenAgain(_ text: String) throws {
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

    @Test func whatIsWrittenIsReadAgain() throws {
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
