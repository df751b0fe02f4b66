import Testing

@testable import CassetteRedaction

@Suite struct TextStreamTests {
    @Test func aSecretAcrossPiecesIsFound() {
        let vault = SecretVault()
        let stream = TextStream(TextRedaction(rules: .standard, vault: vault), kind: .plain)
        var octets: [UInt8] = []
        for octet in Array(#"{"a":1,"password":"hunter2x"} hunter2x"#.utf8) {
            [octet].withUnsafeBytes { stream.push($0) { octets.append(contentsOf: $0) } }
        }
        stream.finish { octets.append(contentsOf: $0) }
        #expect(String(decoding: octets, as: UTF8.self) == #"{"a":1,"password":"{{password:1}}"} {{password:1}}"#)
        #expect(stream.count == 2)
    }

    /// Where blocks end, and where what waits for more begins.
    @Test(arguments: [(1 << 20), (1 << 20) - (128 << 10)], [1, 5, 9, 13, 17, 21]) func aSecretAcrossAnEdgeIsFound(
        edge: Int, back: Int
    ) {
        let secret = Array("\"password\":\"hunter2-x0\"".utf8)
        var text = Array(repeating: UInt8(ascii: " "), count: (1 << 20) + 300_000)
        text.replaceSubrange(edge - back..<edge - back + secret.count, with: secret)
        let stream = TextStream(TextRedaction(rules: .standard, vault: SecretVault()), kind: .plain)
        var octets: [UInt8] = []
        text.withUnsafeBytes { bytes in
            for start in stride(from: 0, to: bytes.count, by: 64 << 10) {
                let piece = UnsafeRawBufferPointer(rebasing: bytes[start..<min(bytes.count, start + (64 << 10))])
                stream.push(piece) { octets.append(contentsOf: $0) }
            }
        }
        stream.finish { octets.append(contentsOf: $0) }
        #expect(octets.count == text.count + "{{password:1}}".utf8.count - "hunter2-x0".utf8.count)
        #expect(octets.filter { $0 != 32 } == Array("\"password\":\"{{password:1}}\"".utf8))
    }
}
