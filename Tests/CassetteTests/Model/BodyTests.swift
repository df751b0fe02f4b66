import CassetteModel
import Testing

@Suite struct BodyTests {
    @Test func octetsAreCountedAsTheContentIsNow() {
        #expect(Body(size: 9, content: .text([1, 2])).octetCount == 2)
        #expect(Body(size: 9, content: .empty).octetCount == 0)
        #expect(Body(size: 9, content: .file(Sidecar(path: "a", size: 7, sha256: ""))).octetCount == 7)
        #expect(Body(size: 9, content: .raw(RawSlice(path: "a", offset: 1, size: 3, crc32: 0))).octetCount == 3)
    }
}
