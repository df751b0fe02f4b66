import CassetteModel
import TapeBytes
import Testing

@Suite struct BodyTests {
    @Test func bytesAreCountedAsTheContentIsNow() {
        #expect(Body(size: 9, content: .text([1, 2])).byteCount == 2)
        #expect(Body(size: 9, content: .empty).byteCount == 0)
        #expect(Body(size: 9, content: .file(Sidecar(path: "a", size: 7, sha256: ""))).byteCount == 7)
        #expect(Body(size: 9, content: .raw(RawSlice(path: "a", offset: 1, size: 3, crc32: 0))).byteCount == 3)
    }
}

@Suite struct BodyUndecodedTests {
    private let gzip = HeaderFields(["Content-Encoding: gzip"])
    private let sidecar = Sidecar(path: "a.bodies/b", size: 1, sha256: "")

    @Test func aRawSliceIsAlways() {
        let body = Body(size: 1, content: .raw(RawSlice(path: "a.bodies/undeveloped.raw", offset: 0, size: 1, crc32: 0)))
        #expect(body.isUndecoded(HeaderFields()))
    }

    @Test func aFileIsWhereItsCodingCouldBeDecoded() {
        let body = Body(size: 1, content: .file(self.sidecar))
        #expect(body.isUndecoded(self.gzip))
        #expect(body.isUndecoded(HeaderFields(["content-encoding: deflate"])))
        #expect(!body.isUndecoded(HeaderFields()))
        #expect(body.isUndecoded(HeaderFields(["Content-Encoding: gzip, deflate"])))
        #expect(body.isUndecoded(HeaderFields(["Content-Encoding: br"])) == ContentEncoding.Name.br.isSupported)
        #expect(!body.isUndecoded(HeaderFields(["Content-Encoding: compress"])))
    }

    @Test func aFileThatWasLookedAtIsNot() {
        var body = Body(size: 1, content: .file(self.sidecar))
        body.note = "not gzip"
        #expect(!body.isUndecoded(self.gzip))
        body.note = nil
        body.original = self.sidecar
        #expect(!body.isUndecoded(self.gzip))
    }

    @Test func bodyFromABuildWithoutTheCodingIsUndecoded() {
        let note = "content coding \"gzip\" is not taken off"
        for content in [BodyContent.text([65]), .binary([0]), .file(self.sidecar)] {
            #expect(Body(size: 1, content: content, note: note).isUndecoded(self.gzip))
            #expect(!Body(size: 1, content: content, note: note).isUndecoded(HeaderFields(["Content-Encoding: compress"])))
            #expect(!Body(size: 1, content: content, note: note + ": no gzip header at offset 0").isUndecoded(self.gzip))
            #expect(!Body(size: 1, content: content, note: "content coding is not taken off").isUndecoded(self.gzip))
        }
        #expect(!Body(size: 1, codings: [.brotli], content: .text([65]), note: note).isUndecoded(self.gzip))
    }

    @Test func inlineContentNeverIs() {
        for content in [BodyContent.empty, .text([65]), .binary([0])] { #expect(!Body(size: 1, content: content).isUndecoded(self.gzip)) }
    }

    @Test func aMultipartInOnePieceIsUntilItsNoteSaysWhy() {
        let headers = HeaderFields(["content-type: Multipart/Mixed; boundary=X"])
        for content in [BodyContent.text([65]), .binary([0]), .file(self.sidecar)] {
            #expect(Body(size: 1, content: content).hasPartsLeft(headers))
            #expect(!Body(size: 1, content: content, note: "wrong").isUndecoded(headers))
            #expect(!Body(size: 1, content: content).isUndecoded(HeaderFields(["content-type: text/plain"])))
        }
        #expect(!Body(size: 0, content: .empty).isUndecoded(headers))
        let coded = HeaderFields(["content-type: multipart/mixed", "content-encoding: gzip"])
        #expect(!Body(size: 1, content: .file(self.sidecar)).hasPartsLeft(coded))
        #expect(Body(size: 1, content: .file(self.sidecar)).hasCodingsLeft(coded))
        #expect(Body(size: 1, codings: [.brotli], content: .file(self.sidecar)).hasPartsLeft(coded))
    }
}

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
