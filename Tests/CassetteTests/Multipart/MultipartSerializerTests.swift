import TapeTestSupport
import Testing

@testable import CassetteModel

struct MultipartSerializerTests {
    @Test(arguments: MultipartFixture.texts) func whatIsReadIsWrittenAgain(_ text: String) throws {
        let octets = Array(text.utf8)
        guard let body = try MultipartFixture.body(octets) else { return }
        #expect(octets.withUnsafeBytes { MultipartSerializer.octets(body, source: $0) } == octets)
        #expect(MultipartSerializer.octets(body.mapData { Array(octets[$0]) }) == octets)
    }

    @Test func brokenBodiesAreWrittenAgain() throws {
        var generator = SeededGenerator(seed: 5)
        var restored = 0
        for round in 0..<rounds(3000) {
            let octets = MultipartFixture.mutated(
                Array(MultipartFixture.texts[round % MultipartFixture.texts.count].utf8), using: &generator)
            guard let body = try MultipartFixture.body(octets) else { continue }
            #expect(octets.withUnsafeBytes { MultipartSerializer.octets(body, source: $0) } == octets)
            restored += 1
        }
        #expect(restored > rounds(1500))
    }

    @Test func whatIsWrittenIsReadAgain() throws {
        var generator = SeededGenerator(seed: 6)
        for _ in 0..<500 {
            let body = try RandomMultipart.body(using: &generator)
            let octets = MultipartSerializer.octets(body)
            let read = octets.withUnsafeBytes { MultipartBody.parse($0, boundary: body.boundary) }
            #expect(read?.mapData { Array(octets[$0]) } == body)
        }
    }

    @Test func rangesOutsideTheSourceAreRefused() throws {
        let boundary = try #require(MultipartBoundary("X"))
        let part = MultipartPart<Range<Int>>(headers: PartHeaderSection(lines: []), content: .data(0..<5))
        let body = MultipartBody(boundary: boundary, parts: [part])
        #expect([1, 2, 3].withUnsafeBytes { MultipartSerializer.octets(body, source: $0) } != nil)
        #expect([UInt8(1), 2, 3].withUnsafeBytes { MultipartSerializer.octets(body, source: $0) } == nil)
    }
}
