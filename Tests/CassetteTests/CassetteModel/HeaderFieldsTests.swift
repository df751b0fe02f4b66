import CassetteModel
import TapeTestSupport
import Testing

@Suite struct HeaderFieldsTests {
    private let fields = HeaderFields(["Host: h", "X-Two:  spaced \t", "x-two:second", "no colon", ":empty name", "Empty:"])

    @Test func linesStayAsTheyCame() {
        #expect(self.fields.lines == ["Host: h", "X-Two:  spaced \t", "x-two:second", "no colon", ":empty name", "Empty:"])
        let bytes = Array("Host: h\r\nX-Two:  spaced \t\r\nx-two:second\r\nno colon\r\n:empty name\r\nEmpty:\r\n".utf8)
        #expect(Array(self.fields.bytes) == bytes)
        #expect(self.fields.size == bytes.count)
        #expect(self.fields.count == 6)
    }

    @Test func namesAreFoundWithoutRegardToCase() {
        #expect(self.fields.values("x-two") == ["spaced", "second"])
        #expect(self.fields.first("host") == "h")
        #expect(self.fields.firstIndex(of: "x-two") == 1)
        #expect(self.fields.contains("empty"))
        #expect(!self.fields.contains("hos"))
        #expect(!self.fields.contains("hostt"))
        #expect(self.fields.first("absent") == nil)
    }

    @Test func oddLinesHaveNamesAndValuesToo() {
        #expect((self.fields.name(at: 3), self.fields.value(at: 3)) == ("no colon", ""))
        #expect((self.fields.name(at: 4), self.fields.value(at: 4)) == ("", "empty name"))
        #expect(self.fields.value(at: 5) == "")
    }

    @Test func bytesOutsideUTF8Stay() {
        var fields = HeaderFields()
        fields.append(line: [65, 58, 0xff])
        #expect(Array(fields.valueBytes(at: 0)) == [0xff])
        #expect(Array(fields.line(at: 0)) == [65, 58, 0xff])
    }

    @Test func aReplacedValueKeepsNamesAndOrder() {
        let replaced = self.fields.replacing("x-two", with: "new")
        #expect(replaced.lines == ["Host: h", "X-Two: new", "x-two: new", "no colon", ":empty name", "Empty:"])
        #expect(self.fields.replacing("absent", with: "new") == self.fields)
    }

    @Test func aCheckedLineIsTheSameAsAnother() {
        var checked = HeaderFields()
        checked.reserve(bytes: 10, fields: 1)
        Array("A: b".utf8).withUnsafeBytes { checked.append(checkedLine: $0, nameLength: 1) }
        #expect(checked == HeaderFields(["A: b"]))
        var named = HeaderFields()
        #expect(named.isEmpty)
        named.append(name: "A", value: "b")
        #expect(named == checked)
    }

    @Test func aLineEndInALineMakesNoTwoLines() {
        let (one, two) = (HeaderFields(["a: b\r\nc: d"]), HeaderFields(["a: b", "c: d"]))
        #expect(one.bytes == two.bytes)
        #expect(one != two)
    }

    /// Names that differ in one byte, in case, in length, or in a byte that a case change would turn into a letter.
    private static let names: [StaticString] = [
        "te", "host", "accept", "x-abcde", "x-abcdef", "x-abcdeg", "content-type", "content-tyqe", "transfer-encoding",
        "x-0123456789-abcdef", "@[`{\u{7f}~_z", "é-ünicode-näme",
    ]

    @Test(arguments: 0..<100) func sectionsOfAnySizeGiveTheirLinesBack(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var fields = HeaderFields()
        var lines: [[UInt8]] = []
        if Bool.random(using: &random) {
            fields.reserve(bytes: 100, fields: .random(in: 0...12, using: &random))
        }
        for _ in 0..<Int.random(in: 0...40, using: &random) {
            var line = Array("\(Self.names.randomElement(using: &random)!)".utf8)
            for index in line.indices where Int.random(in: 0..<8, using: &random) == 0 { line[index] ^= 0x20 }
            line += Array(": ".utf8)
            for _ in 0..<Int.random(in: 0...30, using: &random) { line.append(.random(in: 33...255, using: &random)) }
            lines.append(line)
            fields.append(line: line)
            if Int.random(in: 0..<10, using: &random) == 0 { fields.reserve(bytes: 100, fields: .random(in: 0...20, using: &random)) }
        }
        #expect(fields.count == lines.count)
        #expect(Array(fields.bytes) == lines.flatMap { $0 + [13, 10] })
        for (index, line) in lines.enumerated() {
            #expect(Array(fields.line(at: index)) == line)
            let colon = line.firstIndex(of: UInt8(ascii: ":"))!
            #expect(Array(fields.nameBytes(at: index)) == Array(line[..<colon]))
            #expect(Array(fields.valueBytes(at: index)) == Array(line[(colon + 2)...]))
        }
        for name in Self.names {
            let equal = lines.indices.filter { index in
                let own = lines[index].prefix { $0 != UInt8(ascii: ":") }
                return String(decoding: own.map { $0 >= 65 && $0 <= 90 ? $0 | 32 : $0 }, as: UTF8.self) == "\(name)"
            }
            #expect(lines.indices.filter { fields.isNamed(name, at: $0) } == equal)
            #expect(fields.firstIndex(of: name) == equal.first)
            for start in lines.indices { #expect(fields.firstIndex(of: name, from: start) == equal.first { $0 >= start }) }
        }
        let copy = fields
        fields.append(name: "later", value: "1")
        #expect(copy != fields)
        #expect(copy.count == lines.count && copy.lines == Array(fields.lines.dropLast()))
    }
}
