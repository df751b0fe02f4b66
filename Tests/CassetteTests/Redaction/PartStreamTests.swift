import Testing

@testable import CassetteModel
@testable import CassetteRedaction

@Suite struct PartStreamTests {
    @Test(arguments: [1, 7, 1000]) func partsAreRedactedInPieces(size: Int) throws {
        let text =
            "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nhunter2x\r\n--b\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\nit is hunter2x\r\n--b--\r\n"
        let boundary = try #require(MultipartBoundary(Array("b".utf8)))
        let stream = PartStream(TextRedaction(rules: .standard, vault: SecretVault()), boundary: boundary)
        let octets = Array(text.utf8)
        var redacted: [UInt8] = []
        for start in stride(from: 0, to: octets.count, by: size) {
            try octets[start..<min(start + size, octets.count)].withUnsafeBytes { try stream.push($0) { redacted.append(contentsOf: $0) } }
        }
        try stream.finish { redacted.append(contentsOf: $0) }
        #expect(String(decoding: redacted, as: UTF8.self) == text.replacing("hunter2x", with: "{{password:1}}"))
        #expect(stream.count == 2)
    }
}
