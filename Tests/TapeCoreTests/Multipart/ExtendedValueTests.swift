import Testing

@testable import TapeCore

struct ExtendedValueTests {
    private func read(_ text: String) -> ExtendedValue? { ExtendedValue(Array(text.utf8)) }

    @Test func decodesBothCharsets() {
        #expect(self.read("UTF-8'en'%E2%82%AC%20rates")?.text == "€ rates")
        #expect(self.read("UTF-8'en'x")?.language == "en")
        #expect(self.read("iso-8859-1''%A3%20rates")?.text == "£ rates")
        #expect(self.read("UTF-8''it's")?.text == "it's")
    }

    @Test(arguments: ["x", "UTF-8'x", "UTF-8''%", "UTF-8''%4", "UTF-8''%zz", "UTF-8''%FF", "EUC-KR''x"]) func refusesOthers(_ text: String)
    {
        #expect(self.read(text) == nil)
    }
}
