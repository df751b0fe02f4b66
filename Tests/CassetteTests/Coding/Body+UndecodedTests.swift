import CassetteModel
import Testing

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

    @Test func whatABuildWithoutTheCodingLeftIs() {
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
