import Testing

@testable import CassetteFormat
@testable import CassetteModel

@Suite struct WireContentDecoderTests {
    private func content(_ bytes: ByteSource, _ type: String) throws -> (content: BodyContent, note: String?) {
        var sink = MemorySink()
        return try WireContentDecoder(headers: HeaderFields(["Content-Type: \(type)"]), isComplete: true).content(bytes, &sink)
    }

    @Test func partsAreLookedForWhereTheTypeSaysSo() throws {
        let bytes = ByteSource(Array("--X\r\n\r\na\r\n--X--\r\n".utf8))
        guard case .multipart = try self.content(bytes, "multipart/mixed; boundary=X").content else {
            return #expect(Bool(false))
        }
        guard case .text = try self.content(bytes, "text/plain").content else { return #expect(Bool(false)) }
        let wrong = try self.content(bytes, "multipart/mixed; boundary=Y")
        #expect(wrong.content == .text(try bytes.load()))
        #expect(wrong.note?.contains("offset 0") == true && wrong.note?.contains("\"X\"") == true)
    }

    @Test func longContentsAreNeverLoaded() throws {
        var largest = 0
        let source = ByteSource(size: 3 << 20) { _, buffer in
            largest = max(largest, buffer.count)
            for index in 0..<buffer.count { buffer[index] = 65 }
            return buffer.count
        }
        guard case .file(let sidecar) = try self.content(source, "text/plain").content else { return #expect(Bool(false)) }
        #expect(sidecar.size == 3 << 20 && sidecar.path.hasSuffix(".txt") && largest <= ByteSource.pieceSize)
    }
}
