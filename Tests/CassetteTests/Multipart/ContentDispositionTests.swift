import Testing

@testable import CassetteModel

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

    @Test func whatIsNotUTF8IsLatin1() {
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
