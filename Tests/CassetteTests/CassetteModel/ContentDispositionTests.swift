@testable import CassetteModel
import Testing

struct ContentDispositionTests {
    private func read(_ bytes: [UInt8]) -> ContentDisposition { ContentDisposition(bytes) }
    private func filename(_ value: String) -> String? { self.read(Array("form-data; name=\"a\"; filename=\(value)".utf8)).filename }

    @Test(arguments: [
        (#""a.png""#, "a.png"), (#""사진.jpg""#, "사진.jpg"), (#""a%22b.png""#, "a\"b.png"), (#""a%0D%0ab""#, "a\r\nb"),
        (#""100%25""#, "100%25"),
        (#""a\"b.png""#, "a\"b.png"), (#""a\\b.png""#, "a\\b.png"), (#""C:\Users\me\a.png""#, #"C:\Users\me\a.png"#),
        (#""\\server\share\a.png""#, #"\\server\share\a.png"#), (#""a"b.png""#, "a\"b.png"), ("plain.png", "plain.png"), (#""""#, ""),
        (#""🐶;.png""#, "🐶;.png"),
        (#""a%2""#, "a%2"),
    ]) func filenamesAsClientsWriteThem(_ value: String, _ filename: String) {
        #expect(self.filename(value) == filename)
    }

    @Test func extendedFilenamesComeFirst() {
        let both = self.read(Array("form-data; name=a; filename=\"x\"; filename*=UTF-8''%EC%9D%8C.txt".utf8))
        #expect(both == self.read(Array("form-data; filename*=utf-8'ko'%EC%9D%8C.txt; name=\"a\"".utf8)))
        #expect(both.filename == "음.txt")
        #expect(both.isFilenameExtended)
        let unknown = self.read(Array("form-data; name=a; filename=\"x\"; filename*=x-none''%C0%BD".utf8))
        #expect(unknown.filename == "x")
        #expect(!unknown.isFilenameExtended)
    }

    @Test func extendedNamesAreReadWhereThereIsNoOther() {
        #expect(self.read(Array("form-data; name*=utf-8''%EC%9D%8C; filename=\"a\"".utf8)).name == "음")
        #expect(self.read(Array("form-data; name*=utf-8''b; name=a".utf8)).name == "a")
    }

    @Test func filenamesInPiecesAreJoined() {
        let pieces = self.read(Array("attachment; filename=\"x\"; filename*0*=UTF-8''%EC%9D; filename*1*=%8C; filename*2=.txt".utf8))
        #expect(pieces.filename == "음.txt" && pieces.isFilenameExtended)
        #expect(self.read(Array("form-data; name*0*=UTF-8''%EC%9D%8C; name*1=a".utf8)).name == "음a")
    }

    @Test func encodedWordsAreDecoded() {
        #expect(self.filename("\"=?utf-8?B?7J2M7Iud?=.txt\"") == "음식.txt")
        #expect(self.filename("=?euc-kr?Q?=C0=BD?=") == "음")
        #expect(self.filename("\"=?utf-8?B?7J2?=\"") == "=?utf-8?B?7J2?=")
    }

    @Test func namesOfAFormAreInItsCharset() throws {
        let bytes: [UInt8] = Array("form-data; name=\"".utf8) + [0xC0, 0xBD] + Array("\"; filename=\"음\"".utf8)
        let charset = try #require(
            FormCharset(HeaderFields(["Content-Disposition: form-data; name=\"_charset_\""])) { Array("EUC-KR".utf8) })
        let disposition = ContentDisposition(bytes, charset: charset)
        #expect(disposition.name == "음" && disposition.filename == "음")
        #expect(ContentDisposition(bytes).name == "À½")
    }

    @Test func invalidUTF8IsReadAsLatin1() {
        #expect(self.read(Array("form-data; name=\"".utf8) + [0xE9] + Array("\"".utf8)).name == "é")
    }

    @Test func absentIsNotEmpty() {
        #expect(self.read(Array("attachment".utf8)) == ContentDisposition(Array("ATTACHMENT; other=1".utf8)))
        #expect(self.read(Array("form-data; name=\"\"".utf8)).name == "")
        #expect(ContentDisposition(HeaderFields(["A: b"])) == nil)
        #expect(ContentDisposition(HeaderFields(["content-disposition: form-data; name=x"]))?.name == "x")
    }

    @Test(arguments: RandomMultipart.names) func namesOfBrowsersComeBack(_ name: String) {
        #expect(
            self.read(Array("form-data; name=\"\(RandomMultipart.escaped(name))\"".utf8)).name
                == (name == "back\\slash" ? "back\\slash" : name))
    }
}

struct EncodedWordsTests {
    @Test(arguments: [
        ("=?utf-8?B?7J2M7Iud?=", "음식"), ("=?UTF-8?q?=EC=9D=8C_a?=.txt", "음 a.txt"), ("=?euc-kr?b?wL0=?=", "음"),
        ("a =?utf-8?Q?b?= c", "a b c"), ("=?utf-8?Q?a?= =?utf-8?Q?b?=", "ab"), ("=?utf-8?Q?a?=\t=?iso-8859-1?Q?=E9?= x", "aé x"),
        ("=?utf-8?B?7J0=?= =?utf-8?B?jA==?=", "음"), ("=?utf-8*ko?Q?a?=", "a"), ("=?utf-8?Q?a_?=", "a "), ("=?utf-8?Q??=", ""),
        ("음 =?utf-8?Q?a?=", "음 a"), ("=?utf-8?Q?a?=x=?utf-8?Q?b?=", "axb"), ("==?utf-8?Q?a?=", "=a"),
    ]) func wordsAreDecoded(_ text: String, _ decoded: String) {
        #expect(EncodedWords.text(Array(text.utf8)) == decoded)
    }

    @Test(arguments: [
        "", "a", "=?", "=?utf-8?B?", "=?utf-8?B?7J2M", "=?utf-8?B?7J2M?", "=?utf-8?X?a?=", "=?utf-8?BB?a?=", "=??Q?a?=", "=?x-none?Q?a?=",
        "=?utf-8?Q?=FF?=", "=?utf-8?B?7J0=?= =?euc-kr?B?jA==?=", "=?u t?Q?a?=", "=?utf-8?Q?a?b?=",
    ]) func textsWithoutEncodedWordsAreNil(_ text: String) {
        #expect(EncodedWords.text(Array(text.utf8)) == nil)
    }

    @Test func aWordHasALongestLength() {
        let text = String(repeating: "a", count: 1012)
        #expect(EncodedWords.text(Array("=?utf-8?Q?\(text)?=".utf8)) == text)
        #expect(EncodedWords.text(Array("=?utf-8?Q?\(text)a?=".utf8)) == nil)
    }
}

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

struct FormCharsetTests {
    private func found(_ disposition: String, _ value: String?) -> String? {
        FormCharset(HeaderFields(["Content-Disposition: \(disposition)"])) { value.map { Array($0.utf8) } }?.label
    }

    @Test func onlyTheFieldOfThatNameCounts() {
        #expect(self.found("form-data; name=\"_charset_\"", "EUC-KR") == "euc-kr")
        #expect(self.found("form-data; name=\"charset\"", "EUC-KR") == nil)
        #expect(self.found("form-data; name=\"_charset_\"; filename=a", "EUC-KR") == nil)
        #expect(self.found("form-data; name=\"_charset_\"", nil) == nil)
        #expect(self.found("form-data; name=\"_charset_\"", "") == nil)
        #expect(self.found("form-data; name=\"_charset_\"", "a b") == nil)
        #expect(self.found("form-data; name=\"_charset_\"", String(repeating: "a", count: 41)) == nil)
        #expect(FormCharset(HeaderFields()) { [65] } == nil)
    }

    @Test func aBodyHasTheFirst() throws {
        let field = "\r\nContent-Disposition: form-data; name=\"_charset_\"\r\n\r\n"
        let bytes = Array("--X\r\n\r\na\r\n--X\(field)EUC-KR\r\n--X\(field)latin1\r\n--X--\r\n".utf8)
        let body = try #require(try MultipartFixture.body(bytes))
        #expect(body.formCharset { Array(bytes[$0]) }?.label == "euc-kr")
        #expect(body.formCharset { _ in nil } == nil)
        #expect(body.mapData { PartContent.text(Array(bytes[$0])) }.formCharset?.label == "euc-kr")
        #expect(body.mapData { PartContent.binary(Array(bytes[$0])) }.formCharset == nil)
    }
}
