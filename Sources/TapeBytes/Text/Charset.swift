internal import Platform

/// A charset other than UTF-8 whose text a cassette shows decoded.
///
/// A closed set, since names come from the network and are passed to the C library. All are stateless, so a text has only one encoded form.
public enum Charset: String, Sendable, Hashable, CaseIterable {
    case utf16LittleEndian = "UTF-16LE"
    case utf16BigEndian = "UTF-16BE"
    case latin1 = "ISO-8859-1"
    case latin9 = "ISO-8859-15"
    case eucKR = "EUC-KR"
    /// EUC-KR with all other Hangul syllables, which is how browsers read `euc-kr`.
    case windows949 = "windows-949"
    case shiftJIS = "Shift_JIS"
    /// Shift_JIS as Windows and browsers read it.
    case windows31J = "windows-31j"
    case gb18030 = "GB18030"
    case windows1250 = "windows-1250"
    case windows1251 = "windows-1251"
    case windows1252 = "windows-1252"
    case windows1253 = "windows-1253"
    case windows1254 = "windows-1254"
    case windows1255 = "windows-1255"
    case windows1256 = "windows-1256"
    case windows1257 = "windows-1257"
    case windows1258 = "windows-1258"

    /// The name that iconv recognises on every system.
    var converterName: String {
        switch self {
        case .windows949: "CP949"
        case .windows31J: "CP932"
        case .shiftJIS: "SHIFT_JIS"
        case .windows1250, .windows1251, .windows1252, .windows1253, .windows1254, .windows1255, .windows1256, .windows1257, .windows1258:
            "CP" + self.rawValue.suffix(4)
        case .utf16LittleEndian, .utf16BigEndian, .latin1, .latin9, .eucKR, .gb18030: self.rawValue
        }
    }

    /// The charsets that bytes labelled `label` may have, the likeliest first (WHATWG Encoding, 4.2: labels and the larger charsets they
    /// mean).
    public static func candidates(label: String, beginning: UnsafeRawBufferPointer) -> [Charset] {
        if beginning.starts(with: [0xFF, 0xFE]) { return [.utf16LittleEndian] }
        if beginning.starts(with: [0xFE, 0xFF]) { return [.utf16BigEndian] }
        switch label {
        case "": return []
        case "utf-16", "utf16", "unicode", "ucs-2": return [self.byteOrder(beginning)]
        case "utf-16le", "utf16le": return [.utf16LittleEndian]
        case "utf-16be", "utf16be": return [.utf16BigEndian]
        case "iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "latin-1", "l1", "us-ascii", "ascii": return [.latin1, .windows1252]
        case "iso-8859-15", "iso8859-15", "latin9": return [.latin9]
        case "euc-kr", "euckr", "korean", "ks_c_5601-1987", "ksc5601", "ks_c_5601": return [.eucKR, .windows949]
        case "cp949", "uhc", "ms949", "x-windows-949": return [.windows949]
        case "shift_jis", "shift-jis", "sjis", "x-sjis": return [.shiftJIS, .windows31J]
        case "cp932", "ms932", "ms_kanji": return [.windows31J]
        case "gb18030", "gbk", "gb2312", "gb_2312-80", "x-gbk", "cp936", "ms936": return [.gb18030]
        default:
            let name =
                label.hasPrefix("cp125")
                ? "windows-" + label.dropFirst(2) : label.hasPrefix("x-cp125") ? "windows-" + label.dropFirst(4) : label
            return Charset.allCases.filter { $0.rawValue == name }
        }
    }

    /// For `utf-16` without a byte order mark: big-endian text has more NULs at even offsets than at odd ones.
    private static func byteOrder(_ beginning: UnsafeRawBufferPointer) -> Charset {
        var zeros = (even: 0, odd: 0)
        for (index, byte) in beginning.prefix(4096).enumerated() where byte == 0 {
            if index % 2 == 0 { zeros.even += 1 } else { zeros.odd += 1 }
        }
        return zeros.even > zeros.odd ? .utf16BigEndian : .utf16LittleEndian
    }

    /// Charsets that a cassette does not show decoded, but in which bodies are compared by their characters: the names of iconv by the labels
    /// of WHATWG Encoding, 4.2, and of IANA.
    private static let others: [String: String] = [
        "big5": "BIG5", "big5-hkscs": "BIG5-HKSCS", "cn-big5": "BIG5", "x-x-big5": "BIG5", "euc-jp": "EUC-JP", "x-euc-jp": "EUC-JP",
        "iso-2022-jp": "ISO-2022-JP", "iso-2022-kr": "ISO-2022-KR", "koi8-r": "KOI8-R", "koi8_r": "KOI8-R", "koi": "KOI8-R",
        "koi8-u": "KOI8-U",
        "utf-32": "UTF-32", "utf-32le": "UTF-32LE", "utf-32be": "UTF-32BE", "windows-874": "CP874", "tis-620": "TIS-620",
        "iso-8859-11": "ISO-8859-11", "macintosh": "MACINTOSH",
    ]

    /// The text as UTF-8 of bytes in a charset that a cassette does not show decoded; nil if the label is of none, the bytes are not in it,
    /// or this system does not support it.
    package static func decodeOther(_ bytes: [UInt8], label: String) -> [UInt8]? {
        var name = self.others[label]
        let number = label.hasPrefix("iso-8859-") ? Int(label.dropFirst(9)) : label.hasPrefix("iso8859-") ? Int(label.dropFirst(8)) : nil
        if let number, (2...16).contains(number), number != 12 { name = "ISO-8859-\(number)" }
        return name.flatMap { CharsetConverter.convert(bytes, from: $0, to: "UTF-8") }
    }

    /// The text as UTF-8; nil if the bytes are not in this charset, or this system does not support it.
    public func decode(_ bytes: [UInt8]) -> [UInt8]? {
        CharsetConverter.convert(bytes, from: self.converterName, to: "UTF-8")
    }

    /// The text of bytes with their sender's charset label, including UTF-8 and ISO-8859-1. For display, not for restoring.
    package static func text(_ bytes: [UInt8], label: String) -> String? {
        switch label {
        case "utf-8", "utf8", "us-ascii", "ascii": return UTF8Validator.isValid(bytes) ? String(decoding: bytes, as: UTF8.self) : nil
        case "iso-8859-1": return Latin1.decode(bytes)
        default:
            let candidates = bytes.withUnsafeBytes { self.candidates(label: label, beginning: $0) }
            return candidates.lazy.compactMap { $0.decode(bytes) }.first.map { String(decoding: $0, as: UTF8.self) }
        }
    }

    /// Nil if the charset lacks a character of the text, or this system does not support the charset.
    public func encode(_ text: [UInt8]) -> [UInt8]? {
        CharsetConverter.convert(text, from: "UTF-8", to: self.converterName)
    }
}

/// Converts text from one charset to another with iconv(3) of the C library.
///
/// Converts exactly or not at all: drops and replaces no character.
enum CharsetConverter {
    static func convert(_ bytes: [UInt8], from source: String, to target: String) -> [UInt8]? {
        guard let converter = iconv_open(target, source), Int(bitPattern: converter) != -1 else { return nil }
        defer { iconv_close(converter) }
        var input = bytes
        // No character of these charsets takes more than four times as many bytes in another.
        var isWhole = false
        let output = [UInt8](unsafeUninitializedCapacity: bytes.count * 4 + 16) { buffer, count in
            count = 0
            let room = UnsafeMutableRawBufferPointer(buffer)
            isWhole = input.withUnsafeMutableBytes { bytes in
                var start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
                var left = bytes.count
                var end = room.baseAddress?.assumingMemoryBound(to: CChar.self)
                var free = room.count
                // Negative results: EILSEQ, EINVAL at an incomplete character, E2BIG. Positive: characters were replaced.
                guard left == 0 || iconv(converter, &start, &left, &end, &free) == 0, left == 0 else { return false }
                // iconv may hold back the last character in case a combining one follows (windows-1255, windows-1258).
                guard iconv(converter, nil, nil, &end, &free) == 0 else { return false }
                count = room.count - free
                return true
            }
        }
        return isWhole ? output : nil
    }
}
