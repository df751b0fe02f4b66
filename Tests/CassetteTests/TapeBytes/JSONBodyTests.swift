@testable import TapeBytes
import TapeTestSupport
import Testing

@Suite struct JSONBodyTests {
    private func style(_ text: String) -> JSONStyle? {
        Array(text.utf8).withUnsafeBytes { JSONBody.style(of: $0) }
    }

    private func written(_ text: String, depth: Int = 0) -> String {
        var writer = JSONWriter()
        JSONBody.write(Array(text.utf8), into: &writer, depth: depth)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func restored(_ text: String, _ style: JSONStyle) -> String? {
        Array(text.utf8).withUnsafeBytes { JSONBody.restore($0, style: style) }.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func commonStylesAreRecognized() {
        #expect(self.style(#"{"a":1,"b":[2,3]}"#) == .compact)
        #expect(self.style(#"{"a": 1, "b": [2, 3]}"#) == .spaced)
        #expect(self.style("{\"a\":1}\n") == JSONStyle(tail: "\n"))
        #expect(self.style("[\n  1,\n  {\n    \"a\": {}\n  }\n]") == JSONStyle(indent: 2, colon: " "))
        #expect(self.style("[\n1,\n2\n]") == JSONStyle(indent: 0))
        #expect(self.style("[]") == .compact)
        #expect(self.style("[1,\n2]") == JSONStyle(comma: "\n"))
    }

    @Test(arguments: [
        "", " {}", "1", "\"a\"", "{ }", "[1, 2,3]", "{\"a\" : 1}", "[\n  1,\n 2\n]", "[\n  1, 2\n]", "[1,2", "{\"a\":1}}", "[1]         ",
        "[\r\n  1\r\n]",
        "[\t1\n]", "[\n         1\n]", "[01]", "[1\n]", "[\n  []\n\n]", "{\"a\":1,}", "\u{FEFF}[]",
    ])
    func whiteSpaceWithoutARuleIsNoJSONBody(_ text: String) {
        #expect(self.style(text) == nil)
    }

    @Test func textOutsideUTF8IsNoJSONBody() {
        let bytes: [UInt8] = [0x5B, 0x22, 0xFF, 0x22, 0x5D]
        #expect(bytes.withUnsafeBytes { JSONBody.style(of: $0) } == nil)
    }

    @Test func deeplyNestedBodiesAreText() {
        func nested(_ depth: Int) -> String { String(repeating: "[", count: depth) + String(repeating: "]", count: depth) }
        #expect(self.style(nested(100)) == .compact)
        #expect(self.style(nested(101)) == nil)
        #expect(self.style(nested(100_000)) == nil)
    }

    @Test func shortContainersAreOnOneLine() {
        #expect(self.written(#"{"a":1,"b":[1,2],"c":{},"d":[]}"#) == #"{ "a": 1, "b": [1, 2], "c": {}, "d": [] }"#)
    }

    @Test func aContainerPastTheLimitBreaksOnlyItself() {
        let long = String(repeating: "x", count: 90)
        #expect(
            self.written("{\"a\":[1,2],\"b\":\"\(long)\",\"c\":[{\"d\":1}]}", depth: 1) == """
                {
                    "a": [1, 2],
                    "b": "\(long)",
                    "c": [{ "d": 1 }]
                  }
                """)
    }

    @Test func aLongArrayOfNumbersFillsItsLines() {
        let numbers = (100..<160).map(String.init)
        let lines = self.written("[" + numbers.joined(separator: ",") + "]").split(separator: "\n")
        #expect(lines.count == 6)
        #expect(lines[1].hasPrefix("  100, 101, 102, "))
        #expect(lines.allSatisfy { $0.utf8.count <= 100 })
        let mixed = self.written("[" + numbers.map { "\"\($0)\"" }.joined(separator: ",") + "]")
        #expect(mixed.split(separator: "\n").count == 62)
    }

    @Test func theColumnLimitCountsTheCommaAfterIt() {
        for length in 90...100 {
            let text = "[\"" + String(repeating: "x", count: length) + "\"]"
            let isFlat = !self.written(text).contains("\n")
            #expect(isFlat == (text.utf8.count < 100))
        }
    }

    @Test func anEmptyContainerPastTheLimitStaysClosed() {
        let name = String(repeating: "n", count: 120)
        #expect(self.written("{\"\(name)\":{}}") == "{\n  \"\(name)\": {}\n}")
        #expect(self.restored(self.written("{\"\(name)\":{}}"), .compact) == "{\"\(name)\":{}}")
    }

    @Test func invalidJSONIsNotWritten() {
        #expect(self.written("[1, {\"a\":") == "")
        #expect(self.written("[1] 2") == "")
    }

    @Test func anyLayoutRestoresToTheStyle() {
        #expect(self.restored(" [ 1 ,\n\t2 , { } ] ", .compact) == "[1,2,{}]")
        #expect(self.restored("[1,{\"a\":2}]", JSONStyle(indent: 1, colon: " ", tail: "\n")) == "[\n 1,\n {\n  \"a\": 2\n }\n]\n")
        #expect(self.restored("[1,", .compact) == nil)
    }

    @Test func aShortTextDoesNotRestoreToAHugeOne() {
        let deep = String(repeating: "[", count: 100) + String(repeating: "1,", count: 50_000) + "1" + String(repeating: "]", count: 100)
        #expect(self.restored(deep, JSONStyle(indent: 8)) == nil)
        #expect(self.restored(deep, JSONStyle(indent: 1_000_000_000)) == nil)
        #expect(self.restored(deep, .compact) == deep)
    }

    @Test func everyBodyWithAStyleComesBackByteForByte() {
        var random = RandomJSON(seed: 7)
        for round in 0..<rounds(2_000) {
            let text = random.text(random.style())
            guard let style = self.style(text) else {
                Issue.record("no style found in round \(round): \(text)")
                return
            }
            let cassette = self.written(text, depth: round % 5)
            #expect(self.restored(cassette, style) == text)
            // Any layout is accepted, and writing is stable.
            #expect(self.written(cassette, depth: round % 5) == cassette)
            #expect(self.restored(text, style) == text)
        }
    }

    @Test func recognizedBodiesAreRestoredAfterRandomDamage() {
        var random = RandomJSON(seed: 8)
        for _ in 0..<rounds(3_000) {
            var bytes = Array(random.text(random.style()).utf8)
            let spot = Int.random(in: 0..<bytes.count, using: &random.generator)
            bytes[spot] = [32, 10, 44, 58, 34, 91, 93, 125, 48, 0xC3, 0][Int.random(in: 0..<11, using: &random.generator)]
            guard let style = bytes.withUnsafeBytes({ JSONBody.style(of: $0) }) else { continue }
            var writer = JSONWriter()
            JSONBody.write(bytes, into: &writer, depth: 3)
            #expect(writer.withUnsafeBytes { JSONBody.restore($0, style: style) } == bytes)
        }
    }
}
