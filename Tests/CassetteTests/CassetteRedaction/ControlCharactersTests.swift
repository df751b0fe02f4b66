import Testing

@testable import CassetteModel
@testable import CassetteRedaction

/// Texts with control characters, in other charsets, or behind binary lengths, which are searched for names all the same.
@Suite struct ControlCharactersTests {
    private static let secret = Array("Zq37c94Kx5cce".utf8)

    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    private static func holds(_ bytes: [UInt8]) -> Bool {
        bytes.indices.contains { bytes[$0...].starts(with: Self.secret) }
    }

    private static let texts: [[UInt8]] = [
        Self.bytes("a=1\npassword=Zq37c94Kx5cce\n\0\0"), Self.bytes("CONNECT\nlogin:bob\npassword:Zq37c94Kx5cce\n\n\0"),
        Self.bytes("CONNECT\nlogin:bob\npasscode:Zq37c94Kx5cce\n\n\0"), Self.bytes("USER=bob\0DB_PASSWORD=Zq37c94Kx5cce\0HOME=/root\0"),
        Self.bytes("user: bob\n\u{1B}password = Zq37c94Kx5cce\u{1B}\n"), Self.bytes("\u{7}Password: Zq37c94Kx5cce\n\u{7}"),
        Self.bytes("\u{1E}user: bob\n\u{1E}password: Zq37c94Kx5cce\n"), Self.bytes("a=1\u{1}password=Zq37c94Kx5cce\u{1}b=2"),
        // Lengths before each frame.
        [0, 0, 0, 22] + Self.bytes("password=Zq37c94Kx5cce") + [0, 0, 0, 8] + Self.bytes("user=bob"),
        [0x81, 0x18] + Self.bytes("password: Zq37c94Kx5cce\n"),
        [2, 0, 0x1A, 0xFF, 0xFE] + Self.bytes("user: bob\npassword: Zq37c94Kx5cce\n"),
        // Latin-1
        Self.bytes("name: J") + [0xF6] + Self.bytes("rg\npassword: Zq37c94Kx5cce\n\0"),
        // UTF-8
        Self.bytes("이름: 홍길동\n비밀번호는 다음과 같습니다\npassword: Zq37c94Kx5cce\n\0"),
    ]

    @Test(arguments: Self.texts, ["text/plain", "application/octet-stream", ""]) func namesAreFound(text: [UInt8], type: String) {
        let lines = type.isEmpty ? [] : ["Content-Type: \(type)"]
        let redacted = RedactionFixtures.bytes(text, lines)
        #expect(Self.holds(text) && !Self.holds(redacted), "\(String(decoding: redacted, as: UTF8.self))")
        #expect(RedactionFixtures.bytes(redacted, lines) == redacted)
        // A length before a text in bytes stays correct.
        if type != "text/plain", text.contains(where: { $0 < 9 }) { #expect(redacted.count == text.count) }
    }

    @Test func namesInBinaryBytesAreNotSearchedFor() {
        var generator = SystemRandomNumberGenerator()
        for type in ["application/octet-stream", "image/png"] {
            for _ in 0..<20 {
                let noise = (0..<64).map { _ in UInt8.random(in: 0...255, using: &generator) }
                let bytes = [0, 1, 2, 3] + noise.map { $0 | 0x80 } + noise.map { $0 & 31 } + Self.bytes("token=ab12cd34ef56")
                #expect(RedactionFixtures.bytes(bytes, ["Content-Type: \(type)"]) == bytes)
            }
        }
    }
}
