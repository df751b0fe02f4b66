@testable import CassetteModel
import TapeTestSupport
import Testing

@Suite struct FormTextTests {
    private func form(_ text: String) -> FormText? { Array(text.utf8).withUnsafeBytes { FormText($0) } }

    @Test func fieldsAreDecodedInOrder() {
        let fields = self.form("pet=%EA%B3%A0%EC%96%91%EC%9D%B4&a+b=&a+b=2&flag&=x&&c=d=e")?.fields
        #expect(fields?.map(\.name) == ["pet", "a b", "a b", "flag", "", "", "c"])
        #expect(fields?.map(\.value) == ["고양이", "", "2", nil, "x", nil, "d=e"])
    }

    @Test(arguments: ["a=1", "a=%20b&c=~", "a=%c3%bc", "user=me@x.org&q=1/2", "&", "a=b=c", "a=%2A", "a%3Db=c", "x=%0D%0A", "{}"])
    func parsedFormsAreWrittenTheSame(_ text: String) {
        #expect(self.form(text).map { String(decoding: $0.bytes, as: UTF8.self) } == text)
    }

    @Test(arguments: [
        "", "a=+%20", "a=%C3%bc", "a=~%7E", "a=%FF", "a=%", "a=%4", "a=%zz", "a= b", "a=1\n", "ü=1", "a=%41", "a%3D=b=c",
    ])
    func formThatNoSingleRuleWritesIsText(_ text: String) {
        #expect(self.form(text) == nil)
    }

    @Test func randomFormsComeBackOrAreRefused() {
        var generator = SeededGenerator(seed: 4)
        let tokens = ["a", "=", "&", "+", "%20", "%3D", "%C3%BC", "%c3", "~", "%7E", "*", "%2A", "/", "é", "%", "Z"]
        var read = 0
        for _ in 0..<rounds(20_000) {
            let text = (0..<Int.random(in: 1...6, using: &generator)).compactMap { _ in tokens.randomElement(using: &generator) }.joined()
            guard let form = self.form(text) else { continue }
            read += 1
            #expect(form.bytes == Array(text.utf8))
        }
        #expect(read > rounds(4_000))
    }

    @Test func anEditedFieldIsSpelledAsTheOthers() {
        var form = self.form("q=a%20b&c=~")
        form?.fields[1].value = "x y~/"
        #expect(form.map { String(decoding: $0.bytes, as: UTF8.self) } == "q=a%20b&c=x%20y~%2F")
    }
}

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
