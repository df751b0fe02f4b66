internal import CassetteModel
internal import TapeBytes

/// The outer white space and brackets of a cassette as the recorder writes them.
enum CassetteLayout {
    static let beginning = Array("{\n  \"wiretape\": \(CassetteIndex.version),\n".utf8)
    /// Behind the `[` where there is no interaction.
    static let emptyClosing = Array("]\n}\n".utf8)
    /// Behind the last interaction.
    static let closing = Array("\n  ]\n}\n".utf8)
    static let indentation = Array("    ".utf8)

    /// All that stands before the first interaction, `[` included.
    static func head(recorder: String, members: [UnknownMember]) -> [UInt8] {
        var bytes = self.beginning
        bytes += Array("  \"recorder\": ".utf8) + self.string(recorder) + Array(",\n".utf8)
        for member in members { bytes += Array("  ".utf8) + self.string(member.name) + Array(": ".utf8) + member.json + Array(",\n".utf8) }
        return bytes + Array("  \"interactions\": [".utf8)
    }

    private static func string(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = [UInt8(ascii: "\"")]
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0..<0x20: bytes += Array("\\u00\(Hex.encode([byte]))".utf8)
            default: bytes.append(byte)
            }
        }
        return bytes + [UInt8(ascii: "\"")]
    }
}
