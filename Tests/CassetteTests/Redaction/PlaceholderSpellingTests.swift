import Testing

@testable import CassetteRedaction

@Suite struct PlaceholderSpellingTests {
    private func spelled(_ kind: TextKind, _ spelling: Finding.Spelling, in text: String = "", count: Int = 4) -> String {
        let octets = Array(text.utf8).withUnsafeBytes {
            PlaceholderSpelling(kind, in: $0).octets(Array("{{k:1}}".utf8), range: 0..<count, spelling: spelling)
        }
        return String(decoding: octets, as: UTF8.self)
    }

    @Test func fitsWhatItStandsIn() {
        #expect(self.spelled(.plain, .json) == "{{k:1}}")
        #expect(self.spelled(.plain, .query) == "%7B%7Bk:1%7D%7D")
        #expect(self.spelled(.url, .query) == "{{k:1}}")
        #expect(self.spelled(.url, .user) == "%7B%7Bk%3A1%7D%7D")
        #expect(self.spelled(.plain, .number) == "0")
        #expect(self.spelled(.form, .form, in: "a=%2f") == "%7b%7bk%3a1%7d%7d")
        #expect(self.spelled(.form, .form, in: "a=b:c") == "%7B%7Bk:1%7D%7D")
        #expect(self.spelled(.binary, .plain, count: 9) == "{{k:1}}**")
        #expect(self.spelled(.binary, .plain, count: 3) == "{{k")
    }
}
