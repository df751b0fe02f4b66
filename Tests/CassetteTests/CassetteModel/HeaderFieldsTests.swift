import CassetteModel
import Testing

@Suite struct HeaderFieldsTests {
    private let fields = HeaderFields(["Host: h", "X-Two:  spaced \t", "x-two:second", "no colon", ":empty name", "Empty:"])

    @Test func linesStayAsTheyCame() {
        #expect(self.fields.lines == ["Host: h", "X-Two:  spaced \t", "x-two:second", "no colon", ":empty name", "Empty:"])
        #expect(self.fields.bytes == Array("Host: h\r\nX-Two:  spaced \t\r\nx-two:second\r\nno colon\r\n:empty name\r\nEmpty:\r\n".utf8))
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
}
