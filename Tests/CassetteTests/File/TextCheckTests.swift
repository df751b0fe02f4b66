import TapeTestSupport
import Testing
@testable import CassetteStore

@Suite struct TextCheckTests {
    private func firstBad(_ bytes: [UInt8], piece: Int) -> Int? {
        var check = TextCheck()
        for start in stride(from: 0, to: bytes.count, by: piece) {
            let end = min(start + piece, bytes.count)
            if let bad = bytes.withUnsafeBytes({ check.firstBad(in: UnsafeRawBufferPointer(rebasing: $0[start..<end])) }) {
                return start + bad
            }
        }
        return check.isInsideCharacter ? bytes.count : nil
    }

    @Test func acceptsWhatTheStandardLibraryAccepts() {
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<rounds(5000) {
            var bytes = Array("plain ascii and more, é 이름 🐈 \t\r\n end".utf8)
            for _ in 0..<Int.random(in: 0...2, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            let isText = String(validating: bytes, as: UTF8.self) != nil && !bytes.contains { $0 < 0x20 && ![9, 10, 13].contains($0) }
            for piece in [1, 5, 100] { #expect((self.firstBad(bytes, piece: piece) == nil) == isText) }
        }
    }

    @Test func namesThePlace() {
        for place in 0..<40 {
            var bytes = [UInt8](repeating: 0x61, count: 40)
            bytes[place] = 0
            for piece in [1, 8, 40] { #expect(self.firstBad(bytes, piece: piece) == place) }
        }
    }
}
