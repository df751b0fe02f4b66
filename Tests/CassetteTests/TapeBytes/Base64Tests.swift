@testable import TapeBytes
import TapeTestSupport
import Testing

@Suite struct Base64Tests {
    private func encoded(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        bytes.withUnsafeBytes { Base64.encode($0, into: &text) }
        return String(decoding: text, as: UTF8.self)
    }

    /// RFC 4648, 10.
    @Test(arguments: ["": "", "f": "Zg==", "fo": "Zm8=", "foo": "Zm9v", "foob": "Zm9vYg==", "fooba": "Zm9vYmE=", "foobar": "Zm9vYmFy"])
    func theStandardsExamplesHold(_ text: String, _ base64: String) {
        #expect(self.encoded(Array(text.utf8)) == base64)
        #expect(Base64.decode(Array(base64.utf8)) == Array(text.utf8))
    }

    @Test func anyBytesComeBack() {
        var generator = SeededGenerator(seed: 6)
        for length in 0..<200 {
            let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
            #expect(Base64.decode(Array(self.encoded(bytes).utf8)) == bytes)
        }
    }

    @Test(arguments: ["A", "AA", "AAA", "A===", "====", "AA=A", "AB==", "AAB=", "AA==AA==", "AA A", "AA\n=", "AA-_"])
    func otherTextIsRefused(_ text: String) {
        #expect(Base64.decode(Array(text.utf8)) == nil)
    }
}

@Suite struct Base64StreamTests {
    @Test(arguments: 1...10)
    func piecesOfAnySizeGiveTheSameText(_ size: Int) {
        let bytes = Array(UInt8.min...UInt8.max)
        var whole: [UInt8] = []
        bytes.withUnsafeBytes { Base64.encode($0, into: &whole) }
        var writer = JSONWriter()
        var stream = Base64Stream()
        for start in stride(from: 0, to: bytes.count, by: size) {
            bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { stream.append($0, to: &writer) }
        }
        stream.finish(&writer)
        #expect(writer.bytes == whole)
    }
}
