@testable import CassetteModel
import Testing

struct MIMEParametersTests {
    private func parse(_ text: String) -> MIMEParameters { MIMEParameters(Array(text.utf8)) }

    private func value(_ text: String, _ name: String) -> String? {
        self.parse(text)[name].map { String(decoding: $0.value, as: UTF8.self) }
    }

    @Test func valuesAndParameters() {
        let parsed = self.parse(" Text/HTML ;Charset=\"utf-8\" ; a = b ;; c; d=")
        #expect(parsed.value == "text/html")
        #expect(parsed.parameters.map(\.name) == ["charset", "a", "d"])
        #expect(parsed["charset"]?.isQuoted == true)
        #expect(parsed["a"]?.value == Array("b".utf8))
        #expect(parsed["d"]?.value == [])
        #expect(parsed.rest == nil)
    }

    @Test(arguments: [
        (#"x; a="b;c=d"; e=f"#, "b;c=d"), (#"x; a="b\"c"; e=f"#, "b\"c"), (#"x; a="b\\"; e=f"#, "b\\"), (#"x; a="b"c"; e=f"#, "b\"c"),
        (#"x; a="b" c; e=f"#, "b"), (#"x; a="open"#, "open"), (#"x; a="C:\dir\""#, "C:dir"), (#"x; a="" "#, ""), ("x; a=b c ", "b c"),
        (#"x; a="b"  ;e=f"#, "b"),
    ]) func quotedStringsEndWhereTheyShould(_ text: String, _ value: String) {
        #expect(self.value(text, "a") == value)
        if text.contains("e=f"), text.contains(#""b" c"#) == false { #expect(self.value(text, "e") == "f") }
    }

    @Test func aFieldSetTwiceIsDistinguished() {
        let joined = self.parse("multipart/form-data; boundary=X, text/plain; charset=a")
        #expect(joined["boundary"]?.value == Array("X".utf8))
        #expect(joined.rest.map { String(decoding: $0, as: UTF8.self) } == " text/plain; charset=a")
        let quoted = self.parse(#"multipart/form-data; boundary="X", multipart/form-data; boundary="X""#)
        #expect(quoted["boundary"]?.value == Array("X".utf8) && quoted.rest != nil)
        #expect(self.parse("a/b,Application/JSON").rest == Array("Application/JSON".utf8))
        #expect(self.parse("a/b; boundary=x,y").parameters.map(\.value) == [Array("x,y".utf8)])
        #expect(self.parse("form-data; name=a,b").rest == nil)
        #expect(self.parse(#"a/b; boundary="x,y""#).rest == nil)
    }

    @Test func parametersAreLimited() {
        let many = "x" + (0..<100).map { ";a\($0)=1" }.joined()
        #expect(self.parse(many).parameters.count == MIMEParameters.limit)
    }
}

struct MultipartTypeTests {
    private func type(_ text: String) -> MultipartType? { MultipartType(Array(text.utf8)) }

    @Test func readsTheFamilyAndTheBoundary() {
        #expect(self.type("Multipart/Form-Data; boundary=\"a b\"")?.isFormData == true)
        #expect(self.type("multipart/mixed; boundary=\"a b\"")?.boundary == MultipartBoundary("a b"))
        #expect(self.type("multipart/related")?.boundary == nil)
        #expect(self.type("multipart/related; boundary=")?.boundary == nil)
        #expect(self.type("text/plain; boundary=a") == nil)
    }

    @Test func ofSeveralTheFirstWithABoundaryCounts() {
        #expect(self.type("multipart/form-data, multipart/form-data; boundary=a")?.boundary == MultipartBoundary("a"))
        #expect(self.type("multipart/form-data, text/plain; boundary=a")?.boundary == nil)
        let fields = HeaderFields(["Content-Type: multipart/form-data", "Content-Type: multipart/mixed; boundary=b"])
        #expect(MultipartType(fields)?.boundary == MultipartBoundary("b"))
        #expect(MultipartType(HeaderFields(["Content-Type: multipart/form-data", "A: b"]))?.subtype == "form-data")
        #expect(MultipartType(HeaderFields(["A: multipart/form-data"])) == nil)
    }

    @Test func readsThePartsOwnFields() {
        let section = PartHeaderSection(bytes: Array("content-type: multipart/mixed;\r\n boundary=c\r\n\r\n".utf8))
        #expect(MultipartType(part: section)?.boundary == MultipartBoundary("c"))
    }
}
