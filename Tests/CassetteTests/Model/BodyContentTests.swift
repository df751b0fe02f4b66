import CassetteModel
import TapeBytes
import Testing

@Suite struct BodyContentTests {
    private let sidecar = Sidecar(path: "a", size: 7, sha256: "")

    @Test func bytesInTheCassetteAreAtHand() throws {
        let lines = try #require(JSONLines(Array("{}\n".utf8)))
        let events = try #require(EventStream(Array("data: a\n\n".utf8)))
        #expect(BodyContent.empty.inlineBytes == [])
        #expect(BodyContent.form(FormText(fields: [FormText.Field(name: "a", value: "b")])).inlineBytes == Array("a=b".utf8))
        #expect(BodyContent.lines(lines).inlineBytes == Array("{}\n".utf8))
        #expect(BodyContent.events(events).inlineBytes == Array("data: a\n\n".utf8))
        #expect(BodyContent.encodedText([0xE9], .latin1).inlineBytes == [0xE9])
        #expect(BodyContent.file(self.sidecar).inlineBytes == nil)
    }

    @Test func onlyFilesAndPartsNameFiles() {
        #expect(BodyContent.file(self.sidecar).sidecars == [self.sidecar])
        #expect(BodyContent.text([]).sidecars.isEmpty)
    }
}
