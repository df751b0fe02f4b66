import CassetteModel
import Testing

@Suite struct BodyTests {
    @Test func bytesAreCountedAsTheContentIsNow() {
        #expect(Body(size: 9, content: .text([1, 2])).byteCount == 2)
        #expect(Body(size: 9, content: .empty).byteCount == 0)
        #expect(Body(size: 9, content: .file(Sidecar(path: "a", size: 7, sha256: ""))).byteCount == 7)
        #expect(Body(size: 9, content: .raw(RawSlice(path: "a", offset: 1, size: 3, crc32: 0))).byteCount == 3)
    }
}
