import CassetteModel
import CassetteStore
@testable import CassetteTools
import TapeTestSupport
import Testing

@Suite struct BodyWordsTests {
    private let reader = BodyReader(cassettePath: "/nowhere/pets.json")

    private func lines(_ body: Body, _ headers: [String] = []) -> [String] {
        let fields = HeaderFields(headers)
        return BodyWords.lines(body, headers: fields, contents: try? BodyContents(body, headers: fields, reader: self.reader))
    }

    @Test func sizeAndTypeComeFirst() {
        #expect(self.lines(Body(size: 3, content: .text(Array("abc".utf8))), ["Content-Type: text/plain"]) == ["3 B, text/plain"])
        #expect(self.lines(Body(size: 3, isComplete: false, content: .text(Array("abc".utf8)))) == ["3 B, cut short"])
    }

    @Test func emptyIsNotAbsent() {
        #expect(self.lines(Body(size: 0, content: .empty)) == ["empty"])
        #expect(self.lines(Body(size: 0, isComplete: false, content: .empty)) == ["empty, cut short"])
    }

    @Test func codingsReportTheirWork() {
        let content = BodyContent.text(Array(repeating: 97, count: 120))
        let header = GzipHeader(bytes: [])
        let some: [(ContentCoding, String)] = [
            (.gzip(DeflateParameters(level: 6), header: header), "gzip level 6, 43 → 120 bytes"),
            (
                .gzip(DeflateParameters(level: 9, memoryLevel: 9, windowBits: 12, strategy: 2), header: header),
                "gzip level 9 memory 9 window 12 strategy 2, 43 → 120 bytes"
            ),
            (.gzip(DeflateParameters(level: 6, flushes: [1, 2]), header: .plain), "gzip level 6 flushed 2 times, 43 → 120 bytes"),
            (
                .gzipMembers([
                    GzipMember(header: .plain, parameters: DeflateParameters(level: 6), size: 1),
                    GzipMember(header: .plain, parameters: DeflateParameters(level: 9), size: nil),
                ]), "gzip of 2 members level 6, 43 → 120 bytes"
            ),
            (.deflate(nil), "deflate, 43 → 120 bytes"), (.rawDeflate(DeflateParameters(level: 1)), "raw deflate level 1, 43 → 120 bytes"),
        ]
        for (coding, words) in some { #expect(self.lines(Body(size: 43, codings: [coding], content: content)) == ["43 B", words]) }
        #expect(
            BodyWords.codings(Body(size: 43, codings: [.deflate(nil), .rawDeflate(nil)], content: content))
                == "deflate, then raw deflate, 43 → 120 bytes")
    }

    @Test func filesNextToTheCassetteAreListed() {
        let body = Body(
            size: 10, codings: [.deflate(nil)], content: .file(Sidecar(path: "p.bodies/a.jpg", size: 20, sha256: "")),
            original: Sidecar(path: "p.bodies/b.zz", size: 10, sha256: ""))
        #expect(self.lines(body) == ["10 B", "deflate, 10 → 20 bytes", "in p.bodies/a.jpg", "as received in p.bodies/b.zz"])
        let raw = Body(size: 7, content: .raw(RawSlice(path: "p.bodies/undeveloped.raw", offset: 4096, size: 7, crc32: 0)))
        #expect(self.lines(raw, ["Content-Encoding: br"]) == ["7 B", "still coded as br", "in p.bodies/undeveloped.raw, 7 bytes at 4096"])
    }

    @Test func notesAndEditsAreShown() {
        let body = Body(size: 3, content: .text(Array("abcd".utf8)), note: "corrupt gzip stream")
        #expect(self.lines(body) == ["3 B", "edited: holds 4 bytes", "note: corrupt gzip stream"])
    }

    @Test func arrivalIsSummedUp() {
        #expect(BodyWords.arrival(Arrival(isChunked: true, pieces: [.init(at: 0, size: 5)])) == "1 chunk of 5 bytes in 0.0 ms")
        let pieces = [Arrival.Piece(at: 0, size: 5, line: "05"), .init(at: 12, size: 1), .init(at: 20, size: 9, line: "9;x")]
        #expect(
            BodyWords.arrival(Arrival(isChunked: true, pieces: pieces, lastLine: "000", isThinned: true))
                == "3 chunks of 1 to 9 bytes in 20 ms, 2 with size lines of their own, last-chunk line \"000\", later edges merged")
        #expect(
            BodyWords.arrival(Arrival(isChunked: false, pieces: [.init(at: 0, size: 1), .init(at: 1, size: 1)]))
                == "2 reads of 1 byte in 1.0 ms")
        #expect(BodyWords.arrival(Arrival(isChunked: true)) == "0 chunks")
    }
}
