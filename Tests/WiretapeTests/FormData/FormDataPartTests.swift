import Testing

@testable import CassetteModel
@testable import Wiretape

struct FormDataPartTests {
    private func header(_ name: String, _ fileName: String? = nil, _ mimeType: String? = nil) throws -> String {
        let part = try FormDataPart(name: name, fileName: fileName, mimeType: mimeType, source: .octets([]))
        return String(decoding: part.headers.bytes, as: UTF8.self)
    }

    @Test func aFieldHasANameAlone() throws {
        #expect(try self.header("title") == "Content-Disposition: form-data; name=\"title\"\r\n")
    }

    @Test func aFileHasItsNameAndType() throws {
        #expect(
            try self.header("pet", "a.jpg", "image/jpeg")
                == "Content-Disposition: form-data; name=\"pet\"; filename=\"a.jpg\"\r\nContent-Type: image/jpeg\r\n")
    }

    @Test func namesAreEscapedAsBrowsersDo() throws {
        #expect(
            try self.header("a\"b\r\nX: y", "음식 🍲\\'%22.txt") == """
                Content-Disposition: form-data; name="a%22b%0D%0AX: y"; filename="음식 🍲\\'%22.txt"\r\n
                """)
        // In Swift, CR LF is one character.
        #expect(FormDataPart.escaped("\r\n\n\r") == "%0D%0A%0A%0D")
    }

    @Test(arguments: ["image/jpeg\r\nX: y", "a\nb", "a\u{0}", "a\u{7f}"])
    func aTypeThatBreaksTheHeaderIsRefused(mimeType: String) {
        #expect { try self.header("a", nil, mimeType) } throws: { ($0 as? FormDataError)?.code == .invalidHeader }
    }

    @Test(arguments: ["no colon", ": x", "a b: c", "a\r\nb: c", "é: x", ""])
    func aLineThatIsNoFieldIsRefused(line: String) {
        #expect { try FormDataPart(headers: HeaderFields([line]), source: .octets([])) } throws: {
            ($0 as? FormDataError)?.code == .invalidHeader
        }
    }

    @Test func headersMayBeAnything() throws {
        let headers = HeaderFields(["X-A:1", "X-A:\t2", "Content-Type: x"])
        #expect(try FormDataPart(headers: headers, source: .octets([])).headers == headers)
    }

    @Test func noStreamHasLessThanNothing() {
        let stream = FormDataStream(length: -1) { { _ in 0 } }
        #expect { try FormDataPart(name: "a", source: .stream(stream)) } throws: { ($0 as? FormDataError)?.code == .invalidLength }
    }
}
