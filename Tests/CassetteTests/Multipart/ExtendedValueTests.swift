import Testing

@testable import CassetteModel

struct ExtendedValueTests {
    private func read(_ text: String) -> ExtendedValue? { ExtendedValue(Array(text.utf8)) }

    @Test func decodesBothCharsets() {
        #expect(self.read("UTF-8'en'%E2%82%AC%20rates")?.text == "€ rates")
        #expect(self.read("UTF-8'en'x")?.language == "en")
        #expect(self.read("iso-8859-1''%A3%20rates")?.text == "£ rates")
        #expect(self.read("UTF-8''it's")?.text == "it's")
    }

    @Test func decodesTheCharsetsOfMailPrograms() {
        #expect(self.read("EUC-KR'ko'%C0%BD")?.text == "음")
        #expect(self.read("Shift_JIS''%89%b9.txt")?.text == "音.txt")
    }

    @Test(arguments: [
        ("n*0*=UTF-8'ko'%EC%9D; n*1*=%8C; n*2=\".txt\"", "음.txt"), ("n*0=\"a b\"; n*1=c", "a bc"), ("n*1=b; n*0=a", "ab"),
        ("n*0*=euc-kr''%C0%BD; n*2=x", "음"), ("n*0=a; n*1*=%41", "aA"), ("n*0*=''a", "a"), ("n*0=", ""),
        ("n*0*=iso-8859-1''%E9", "é"), ("n=a", nil), ("n*1=b", nil), ("n*0*=a", nil), ("n*0*=utf-8'a", nil), ("n*0*=UTF-8''%EC%9D", nil),
        ("n*0*=UTF-8''a; n*1*=%", nil),
    ]) func piecesAreJoined(_ parameters: String, _ text: String?) {
        #expect(ExtendedValue(pieces: "n", of: MIMEParameters(Array("attachment; \(parameters)".utf8)))?.text == text)
    }

    @Test(arguments: ["x", "UTF-8'x", "UTF-8''%", "UTF-8''%4", "UTF-8''%zz", "UTF-8''%FF", "x-none''x", "EUC-KR''%FF"]) func refusesOthers(
        _ text: String
    ) {
        #expect(self.read(text) == nil)
    }
}
