@testable import CassetteModel
import TapeTestSupport
import Testing

struct MultipartBoundaryTests {
    @Test func invalidBoundaryIsRefused() {
        #expect(MultipartBoundary("") == nil)
        #expect(MultipartBoundary("a\nb") == nil)
        #expect(MultipartBoundary([97, 0]) == nil)
        #expect(MultipartBoundary(String(repeating: "a", count: 257)) == nil)
        #expect(MultipartBoundary(String(repeating: "a", count: 256))?.count == 256)
        #expect(MultipartBoundary("ab c").map { Array($0.bytes) } == Array("ab c".utf8))
    }

    @Test(arguments: ["X", "--", "a", "----WebKitFormBoundary7MA4YWxkTrZu0gW", "-X-", "aXa"]) func resultEqualsThatOfAPlainSearch(
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
    func possibleBeginningOfADelimiterIsDetected(_ text: String, _ offset: Int) throws {
        let boundary = try #require(MultipartBoundary("bound"))
        #expect(Array(text.utf8).withUnsafeBytes { boundary.beginning(atEndOf: $0, from: 0) } == offset)
    }
}

struct DelimiterTailTests {
    enum Outcome: Equatable { case open(Int), closing(Int), data, needsMore }

    private func judge(_ text: String, _ lineEndBefore: LineEnd?, isFinal: Bool) -> Outcome {
        Array(text.utf8).withUnsafeBytes { bytes in
            switch DelimiterTail.judge(bytes, at: 0, lineEndBefore: lineEndBefore, isFinal: isFinal) {
            case .delimiter(let delimiter, let end): delimiter.isClosing ? .closing(end) : .open(end)
            case .data: .data
            case .needsMore: .needsMore
            }
        }
    }

    @Test(arguments: [
        ("\r\nA", Outcome.open(2)), ("\nA", .open(1)), (" \t\r\n", .open(4)), ("--\r\nA", .closing(4)), ("-- \n", .closing(4)),
        ("", .needsMore),
        ("-", .needsMore), ("--", .needsMore), (" ", .needsMore), ("\r", .needsMore), ("-x", .data), ("x", .data), ("--x", .data),
        ("\rx", .data),
        ("  x", .data), ("Conte", .needsMore), ("CONTENT-Type", .open(0)), (" Content-Type", .data),
    ]) func atTheStartOfALine(_ text: String, _ outcome: Outcome) {
        #expect(self.judge(text, .lineFeed, isFinal: false) == outcome)
    }

    @Test(arguments: [
        ("", Outcome.open(0)), ("--", .closing(2)), ("--\r", .closing(2)), ("-", .data), ("\r", .data), (" ", .open(1)), ("Conte", .data),
    ])
    func atTheEndOfTheBody(_ text: String, _ outcome: Outcome) {
        #expect(self.judge(text, LineEnd.none, isFinal: true) == outcome)
    }

    @Test(arguments: [
        ("--", false, Outcome.needsMore), ("--\r\n", false, .needsMore), ("--\r\n", true, .closing(4)), ("--", true, .closing(2)),
        ("--\r\nx", true, .data),
        ("\r\n", true, .data), ("\r\n", false, .needsMore), ("\r\nContent-", false, .open(2)), ("\r\nX-Field: ", false, .data),
        ("", true, .data),
        ("Content-", false, .data),
    ]) func withinALine(_ text: String, _ isFinal: Bool, _ outcome: Outcome) {
        #expect(self.judge(text, nil, isFinal: isFinal) == outcome)
    }

    @Test func paddingHasALimit() {
        let padding = String(repeating: " ", count: MultipartLimits.padding)
        #expect(self.judge(padding + "\r\n", LineEnd.none, isFinal: false) == .open(MultipartLimits.padding + 2))
        #expect(self.judge(padding + " \r\n", LineEnd.none, isFinal: false) == .data)
    }
}

struct LineEndTests {
    @Test(arguments: LineEnd.allCases) func isFoundBeforeAnOffset(_ lineEnd: LineEnd) {
        let bytes = Array("a".utf8) + lineEnd.bytes
        #expect(lineEnd.count == lineEnd.bytes.count)
        #expect(bytes.withUnsafeBytes { LineEnd.before(bytes.count, from: 0, in: $0) } == lineEnd)
    }

    @Test func doesNotReachBeforeTheStart() {
        let bytes: [UInt8] = [13, 10]
        #expect(bytes.withUnsafeBytes { LineEnd.before(2, from: 1, in: $0) } == .lineFeed)
        #expect(bytes.withUnsafeBytes { LineEnd.before(1, from: 1, in: $0) } == .none)
    }

    @Test func isFoundAtTheBeginning() {
        #expect(LineEnd.leading([13, 10, 1]) == .carriageReturnLineFeed)
        #expect(LineEnd.leading([10, 13]) == .lineFeed)
        #expect(LineEnd.leading([13, 13]) == .none)
    }
}

struct MultipartDelimiterTests {
    @Test func writesItsBytes() throws {
        let boundary = try #require(MultipartBoundary("X"))
        #expect(MultipartDelimiter().bytes(boundary: boundary) == Array("\r\n--X\r\n".utf8))
        let odd = MultipartDelimiter(lineEndBefore: .none, isClosing: true, padding: [32, 9], lineEndAfter: .lineFeed)
        #expect(odd.bytes(boundary: boundary) == Array("--X-- \t\n".utf8))
    }
}
