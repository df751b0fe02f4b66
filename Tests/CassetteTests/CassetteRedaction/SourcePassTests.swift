@testable import CassetteModel
@testable import CassetteRedaction
import Testing

@Suite struct SourcePassTests {
    @Test func codingsComeOffAndOn() throws {
        let wire = RedactionFixtures.gzip(Array("{\"token\":\"abc123\"}".utf8))
        let text = TextRedaction(rules: .standard, vault: SecretVault())
        var pass = SourcePass(text: text, headers: HeaderFields(), names: [.gzip])
        try pass.run(ByteSource(wire)) { _ in }
        var bytes: [UInt8] = []
        try pass.run(ByteSource(wire), codings: pass.codings) { bytes.append(contentsOf: $0) }
        #expect(GzipText.gunzip(bytes) == "{\"token\":\"{{token:1}}\"}")
        #expect(pass.count == 1)
        #expect(pass.problem == nil)
    }
}

@Suite struct ContentStreamTests {
    @Test func theTypeChoosesTheStream() {
        let text = TextRedaction(rules: .standard, vault: SecretVault())
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        if case .text = ContentStream(text, headers: HeaderFields(["Content-Type: multipart/mixed; boundary=b"]), beginning: none) {
            Issue.record("parts are text")
        }
        if case .parts = ContentStream(text, headers: HeaderFields(["Content-Type: text/plain"]), beginning: none) {
            Issue.record("text is parts")
        }
    }
}

@Suite struct PartStreamTests {
    @Test(arguments: [1, 7, 1000]) func partsAreRedactedInPieces(size: Int) throws {
        let text =
            "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nhunter2x\r\n--b\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\nit is hunter2x\r\n--b--\r\n"
        let boundary = try #require(MultipartBoundary(Array("b".utf8)))
        let stream = PartStream(TextRedaction(rules: .standard, vault: SecretVault()), boundary: boundary)
        let bytes = Array(text.utf8)
        var redacted: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            try bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { try stream.push($0) { redacted.append(contentsOf: $0) } }
        }
        try stream.finish { redacted.append(contentsOf: $0) }
        #expect(String(decoding: redacted, as: UTF8.self) == text.replacing("hunter2x", with: "{{password:1}}"))
        #expect(stream.count == 2)
    }
}

@Suite struct TextStreamTests {
    @Test func aSecretAcrossPiecesIsFound() {
        let vault = SecretVault()
        let stream = TextStream(TextRedaction(rules: .standard, vault: vault), kind: .plain)
        var bytes: [UInt8] = []
        for byte in Array(#"{"a":1,"password":"hunter2x"} hunter2x"#.utf8) {
            [byte].withUnsafeBytes { stream.push($0) { bytes.append(contentsOf: $0) } }
        }
        stream.finish { bytes.append(contentsOf: $0) }
        #expect(String(decoding: bytes, as: UTF8.self) == #"{"a":1,"password":"{{password:1}}"} {{password:1}}"#)
        #expect(stream.count == 2)
    }

    /// The ends of blocks, and the starts of the bytes that wait for more.
    @Test(arguments: [(1 << 20), (1 << 20) - (128 << 10)], [1, 5, 9, 13, 17, 21]) func aSecretAcrossAnEdgeIsFound(
        edge: Int, back: Int
    ) {
        let secret = Array("\"password\":\"hunter2-x0\"".utf8)
        var text = Array(repeating: UInt8(ascii: " "), count: (1 << 20) + 300_000)
        text.replaceSubrange(edge - back..<edge - back + secret.count, with: secret)
        let stream = TextStream(TextRedaction(rules: .standard, vault: SecretVault()), kind: .plain)
        var output: [UInt8] = []
        text.withUnsafeBytes { bytes in
            for start in stride(from: 0, to: bytes.count, by: 64 << 10) {
                let piece = UnsafeRawBufferPointer(rebasing: bytes[start..<min(bytes.count, start + (64 << 10))])
                stream.push(piece) { output.append(contentsOf: $0) }
            }
        }
        stream.finish { output.append(contentsOf: $0) }
        #expect(output.count == text.count + "{{password:1}}".utf8.count - "hunter2-x0".utf8.count)
        #expect(output.filter { $0 != 32 } == Array("\"password\":\"{{password:1}}\"".utf8))
    }
}
