import Testing

@testable import CassetteModel

@Suite struct FormSpellingTests {
    private func written(_ text: String, _ spelling: FormSpelling, isName: Bool = false) -> String {
        var bytes: [UInt8] = []
        spelling.write(text.utf8, isName: isName, into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func theUsualOneIsThatOfBrowsers() {
        #expect(self.written("a b&c=d*-._~ü", .usual) == "a+b%26c%3Dd*-._%7E%C3%BC")
    }

    @Test func deviationsAreFollowed() {
        let spelling = FormSpelling(escapesSpace: true, usesLowerCaseHex: true, plain: Array("=~/".utf8), escaped: Array("*".utf8))
        #expect(self.written("a b/c=~*ü+", spelling) == "a%20b/c=~%2a%c3%bc%2b")
    }

    @Test func anEqualsSignInANameIsAlwaysEscaped() {
        #expect(self.written("a=b", FormSpelling(plain: Array("=".utf8)), isName: true) == "a%3Db")
    }
}
