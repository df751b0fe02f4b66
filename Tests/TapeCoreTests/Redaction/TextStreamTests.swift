import Testing

@testable import TapeCore

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
}
