import TapeTestSupport
import Testing

@testable import CassetteModel

struct MultipartBoundaryTests {
    @Test func refusesWhatCannotBeALine() {
        #expect(MultipartBoundary("") == nil)
        #expect(MultipartBoundary("a\nb") == nil)
        #expect(MultipartBoundary([97, 0]) == nil)
        #expect(MultipartBoundary(String(repeating: "a", count: 257)) == nil)
        #expect(MultipartBoundary(String(repeating: "a", count: 256))?.count == 256)
        #expect(MultipartBoundary("ab c").map { Array($0.bytes) } == Array("ab c".utf8))
    }

    @Test(arguments: ["X", "--", "a", "----WebKitFormBoundary7MA4YWxkTrZu0gW", "-X-", "aXa"]) func findsWhatAPlainSearchFinds(
        _ text: String
    ) throws {
        let boundary = try #require(MultipartBoundary(text))
        let pattern = Array("--\(text)".utf8)
        var generator = SeededGenerator(seed: 9)
        for _ in 0..<500 {
            var bytes = (0..<Int.random(in: 0...30, using: &generator)).map { _ in Array("-Xa".utf8).randomElement(using: &generator) ?? 0
            }
            if Bool.random(using: &generator) {
                bytes.insert(contentsOf: pattern, at: Int.random(in: 0...bytes.count, using: &generator))
            }
            let start = Int.random(in: 0...bytes.count, using: &generator)
            let wanted = bytes.indices.first { $0 >= start && bytes[$0...].starts(with: pattern) }
            #expect(bytes.withUnsafeBytes { boundary.find(in: $0, from: start) } == wanted)
            #expect(bytes.withUnsafeBytes { boundary.occurs(at: start, in: $0) } == bytes[start...].starts(with: pattern))
        }
    }

    @Test(arguments: [
        ("ab", 2), ("ab\r", 2), ("ab\r\n", 2), ("ab\n", 2), ("ab\r\n--", 2), ("ab-", 2), ("ab--b", 2), ("--bo-", 4), ("a\r\n--c", 6),
        ("", 0),
    ])
    func tellsWhatMayBeTheBeginningOfADelimiter(_ text: String, _ offset: Int) throws {
        let boundary = try #require(MultipartBoundary("bound"))
        #expect(Array(text.utf8).withUnsafeBytes { boundary.beginning(atEndOf: $0, from: 0) } == offset)
    }
}
