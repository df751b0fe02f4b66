@testable import CassetteModel
@testable import TapeBytes
import Testing

@Suite struct JSONWriterTests {
    private func written(_ write: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter(reserving: 1)
        write(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test func containersAreOnLinesOrOnOne() {
        let text = self.written { writer in
            writer.beginObject(.lines)
            writer.member("a")
            writer.beginArray(.lines)
            writer.element()
            writer.integer(1)
            writer.element()
            writer.beginObject(.inline)
            writer.member("b")
            writer.beginArray(.lines)
            writer.element()
            writer.bool(true)
            writer.element()
            writer.bool(false)
            writer.endArray()
            writer.member(named: "\"")
            writer.beginObject(.lines)
            writer.endObject()
            writer.endObject()
            writer.endArray()
            writer.member("c")
            writer.beginArray(.lines)
            writer.endArray()
            writer.endObject()
        }
        #expect(
            text == """
                {
                  "a": [
                    1,
                    { "b": [true, false], "\\"": {} }
                  ],
                  "c": []
                }
                """)
    }

    /// Spaces are written in words of eight: none may remain, and none may be written beyond the storage.
    @Test(arguments: 0..<14) func linesAreIndentedAtAnyDepthAndPlace(depth: Int) {
        for before in 48..<66 {
            var writer = JSONWriter(reserving: 64)
            for _ in 0..<before { writer.byte(0x61) }
            writer.newline(depth: depth)
            #expect(writer.column == depth * 2)
            writer.byte(0x62)
            let expected = [UInt8](repeating: 0x61, count: before) + [10] + [UInt8](repeating: 32, count: depth * 2) + [0x62]
            #expect(writer.bytes == expected)
        }
    }

    @Test func elementsAtAnyDepthAreSeparatedByALine() {
        for depth in 0..<14 {
            var writer = JSONWriter(reserving: 1)
            writer.removeAll(baseDepth: depth)
            writer.beginArray(.lines)
            writer.element()
            writer.integer(1)
            writer.element()
            writer.integer(2)
            let line = "\n" + String(repeating: "  ", count: depth + 1)
            #expect(String(decoding: writer.bytes, as: UTF8.self) == "[\(line)1,\(line)2")
        }
    }

    private func string(_ text: [UInt8]) -> String {
        self.written { writer in text.withUnsafeBytes { writer.string(utf8: $0) } }
    }

    @Test func stringsAreEscapedAtEveryPlace() {
        for length in 0..<41 {
            let plain = [UInt8](repeating: 0x61, count: length)
            #expect(self.string(plain) == "\"" + String(repeating: "a", count: length) + "\"")
            for place in 0..<length {
                var text = plain
                text[place] = 0x22
                let (before, after) = (String(repeating: "a", count: place), String(repeating: "a", count: length - place - 1))
                #expect(self.string(text) == "\"" + before + "\\\"" + after + "\"")
            }
        }
    }

    @Test func removingAllKeepsNothing() {
        var writer = JSONWriter()
        writer.beginObject(.lines)
        writer.removeAll(baseDepth: 1)
        writer.beginArray(.lines)
        writer.element()
        writer.integer(1)
        writer.endArray()
        #expect(String(decoding: writer.bytes, as: UTF8.self) == "[\n    1\n  ]")
    }
}

@Suite struct JSONWriterValuesTests {
    private func written(_ write: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter(reserving: 1)
        write(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test func onlyWhatMustBeEscapedIs() {
        #expect(
            self.written { $0.string("a/\"b\\\u{8}\t\n\u{C}\r\u{0}\u{1F}\u{7F}é음😀\u{2028}") } == #""a/\"b\\\b\t\n\f\r\u0000\u001f\u007fé음😀"#
                + "\u{2028}\"")
        #expect(self.written { $0.string("") } == "\"\"")
    }

    @Test func aShortTimeHasDecimalsOnlyWhereTheyCount() {
        #expect(self.written { $0.shortTimestamp(Timestamp(microseconds: 1_795_132_800_000_000)) } == #""2026-11-20T00:00:00Z""#)
        #expect(self.written { $0.shortTimestamp(Timestamp(microseconds: -1_000_000)) } == #""1969-12-31T23:59:59Z""#)
        #expect(self.written { $0.shortTimestamp(Timestamp(microseconds: 500_000)) } == #""1970-01-01T00:00:00.500000Z""#)
    }

    @Test func bytesAreShownAsLatin1() {
        let bytes: [UInt8] = [0xE9, 0x22, 0x80, 0xFF, 0x0A, 0x61]
        #expect(self.written { writer in bytes.withUnsafeBytes { writer.string(latin1: $0) } } == "\"é\\\"\u{80}ÿ\\na\"")
    }

    @Test(arguments: [0, 1, -1, 9, 10, 99, 100, 1_234_567_890, Int.max, Int.min])
    func integersAreWrittenAsTheyAre(_ value: Int) {
        #expect(self.written { $0.integer(value) } == String(value))
    }

    @Test(
        arguments: [
            (0, "0"), (-0.0, "0"), (1, "1"), (0.21, "0.21"), (0.4, "0.4"), (3.02, "3.02"), (0.001, "0.001"), (0.0004, "0"), (-0.0004, "0"),
            (0.0005, "0.001"),
            (-1.5, "-1.5"), (1234.5678, "1234.568"), (0.999_9, "1"), (10.05, "10.05"), (1e15, "1000000000000000"), (.infinity, "0"),
            (-.infinity, "0"),
            (.nan, "0"), (1e300, "4611686018427387.904"), (-1, "-1"),
        ] as [(Double, String)])
    func millisecondsHaveThreeDecimalsAtMost(_ value: Double, _ text: String) {
        #expect(self.written { $0.milliseconds(value) } == text)
    }

    @Test func otherValuesAreWrittenInQuotes() {
        #expect(self.written { $0.hex(0x0A_FF) } == "\"00000aff\"")
        #expect(self.written { $0.timestamp(Timestamp(microseconds: 0)) } == "\"1970-01-01T00:00:00.000000Z\"")
        #expect(self.written { writer in ([1, 2] as [UInt8]).withUnsafeBytes { writer.base64($0) } } == "\"AQI=\"")
    }
}
