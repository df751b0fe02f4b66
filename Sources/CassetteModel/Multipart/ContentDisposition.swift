internal import TapeBytes

/// The Content-Disposition of a part (RFC 7578, 4.2; RFC 6266): its type, name and filename, decoded for display.
///
/// Does not make a filename safe to write to: it may be a whole path.
public struct ContentDisposition: Sendable, Hashable {
    /// `form-data`, `attachment` and so on, in lower case.
    public var type: String
    public var name: String?
    /// From `filename*`, whole or in pieces, if that can be decoded, otherwise from `filename`.
    public var filename: String?
    /// Whether the filename comes from `filename*`. RFC 7578, 4.2 forbids it in form-data, and some servers ignore it.
    public var isFilenameExtended = false

    /// - Parameter charset: the charset of a form's names, if they are not UTF-8; nil if it is unknown.
    public init(_ field: some Collection<UInt8>, charset: FormCharset? = nil) {
        let parameters = MIMEParameters(field)
        self.type = parameters.value
        func plain(_ name: String) -> String? { parameters[name].map { Self.text($0, charset) } }
        func extended(_ name: String) -> String? {
            (parameters["\(name)*"].flatMap { ExtendedValue($0.raw) } ?? ExtendedValue(pieces: name, of: parameters))?.text
        }
        // aiohttp writes only `name*` if a name is not ASCII.
        self.name = plain("name") ?? extended("name")
        let filename = extended("filename")
        self.filename = filename ?? plain("filename")
        self.isFilenameExtended = filename != nil
    }

    /// From the first such field of a part; nil if there is none.
    public init?(_ fields: HeaderFields, charset: FormCharset? = nil) {
        guard let index = fields.firstIndex(of: "content-disposition") else { return nil }
        self.init(fields.valueBytes(at: index), charset: charset)
    }

    private static func text(_ parameter: MIMEParameters.Parameter, _ charset: FormCharset?) -> String {
        let bytes = parameter.isQuoted ? self.unescaped(parameter.raw) : parameter.raw
        if let text = EncodedWords.text(bytes) { return text }
        if UTF8Validator.isValid(bytes) { return String(decoding: bytes, as: UTF8.self) }
        return charset.flatMap { Charset.text(bytes, label: $0.label) } ?? Latin1.decode(bytes)
    }

    /// Unescapes `\"` and `\\`, but only if the value has no other backslashes. An Internet Explorer path (`C:\dir\a.png`) has others, and
    /// no client escapes anything else. Then unescapes `%22`, `%0D` and `%0A`, which browsers write for a quote and line ends, but no other
    /// percent-encoding (HTML Living Standard, multipart/form-data encoding algorithm).
    private static func unescaped(_ raw: [UInt8]) -> [UInt8] {
        let isEscaped = self.hasEscapesOnly(raw)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(raw.count)
        var index = 0
        while index < raw.count {
            if raw[index] == UInt8(ascii: "\\"), index + 1 < raw.count, isEscaped || raw[index + 1] == UInt8(ascii: "\"") {
                bytes.append(raw[index + 1])
                index += 2
            } else if let byte = self.percentEscape(raw[index...].prefix(3)) {
                bytes.append(byte)
                index += 3
            } else {
                bytes.append(raw[index])
                index += 1
            }
        }
        return bytes
    }

    private static func hasEscapesOnly(_ raw: [UInt8]) -> Bool {
        var index = 0
        while index < raw.count {
            guard raw[index] == UInt8(ascii: "\\") else {
                index += 1
                continue
            }
            guard index + 1 < raw.count, raw[index + 1] == UInt8(ascii: "\"") || raw[index + 1] == UInt8(ascii: "\\") else { return false }
            index += 2
        }
        return true
    }

    private static func percentEscape(_ bytes: ArraySlice<UInt8>) -> UInt8? {
        guard bytes.count == 3, bytes.first == UInt8(ascii: "%") else { return nil }
        switch (bytes[bytes.startIndex + 1], bytes[bytes.startIndex + 2] | 32) {
        case (UInt8(ascii: "2"), UInt8(ascii: "2") | 32): return UInt8(ascii: "\"")
        case (UInt8(ascii: "0"), UInt8(ascii: "d")): return 13
        case (UInt8(ascii: "0"), UInt8(ascii: "a")): return 10
        default: return nil
        }
    }
}

/// The charset of a form's names and of values without their own charset, given by a field called `_charset_` (RFC 7578, 4.6).
///
/// Browsers send it from a page that is not UTF-8. It may be a charset that cannot be decoded.
public struct FormCharset: Sendable, Hashable {
    /// In lower case.
    public var label: String

    /// Charset names have at most 40 characters (RFC 2978, 2.3).
    public static let longest = 40

    /// Nil if the part is not this field, or its value cannot be a charset name.
    init?(_ part: HeaderFields, value: () -> [UInt8]?) {
        guard let disposition = ContentDisposition(part), disposition.name == "_charset_", disposition.filename == nil,
            let bytes = value(), (1...Self.longest).contains(bytes.count), bytes.allSatisfy({ $0 > 32 && $0 < 127 })
        else { return nil }
        self.label = String(decoding: bytes, as: UTF8.self).lowercased()
    }
}

extension MultipartBody {
    /// From the first such field among the parts of this level. `value` returns the bytes of a part.
    public func formCharset(_ value: (Data) -> [UInt8]?) -> FormCharset? {
        for part in self.parts {
            guard case .data(let data) = part.content, let found = FormCharset(part.headers.fields, value: { value(data) }) else {
                continue
            }
            return found
        }
        return nil
    }
}

extension MultipartBody<PartContent> {
    package var formCharset: FormCharset? { self.formCharset { if case .text(let bytes) = $0 { bytes } else { nil } } }
}

/// A parameter value with charset and language (RFC 8187, 3.2, formerly RFC 5987 and RFC 2231): `UTF-8'ko'%EC%9D%8C`.
///
/// Supports UTF-8, ISO-8859-1 and the charsets of `Charset`, which mail programs use.
public struct ExtendedValue: Sendable, Hashable {
    /// In lower case.
    public var charset: String
    /// May be empty.
    public var language: String
    public var text: String

    /// Nil if the value is malformed, its charset is unknown, or its bytes are invalid in that charset.
    public init?(_ bytes: some Collection<UInt8>) {
        let pieces = bytes.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
        guard pieces.count == 3, let decoded = Self.percentDecoded(Array(pieces[2])) else { return nil }
        self.init(charset: pieces[0], language: pieces[1], decoded: decoded)
    }

    private init?(charset: some Collection<UInt8>, language: some Collection<UInt8>, decoded: [UInt8]) {
        self.charset = String(decoding: charset.prefix(64), as: UTF8.self).lowercased()
        self.language = String(decoding: language, as: UTF8.self)
        guard let text = Charset.text(decoded, label: self.charset) else { return nil }
        self.text = text
    }

    /// A value split into pieces (RFC 2231, 3): `filename*0*=UTF-8''%EC%9D; filename*1*=%8C; filename*2=".txt"`. A character may span two
    /// pieces.
    ///
    /// Ignores pieces after a gap. Nil if there is no first piece, or as above.
    init?(pieces name: String, of parameters: MIMEParameters) {
        var decoded: [UInt8] = []
        var kind: [ArraySlice<UInt8>] = [[], []]
        for index in 0..<MIMEParameters.limit {
            if let extended = parameters["\(name)*\(index)*"] {
                var raw = extended.raw[...]
                if index == 0 {
                    let parts = raw.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
                    guard parts.count == 3 else { return nil }
                    (kind, raw) = (Array(parts[..<2]), parts[2])
                }
                guard let bytes = Self.percentDecoded(Array(raw)) else { return nil }
                decoded += bytes
            } else if let plain = parameters["\(name)*\(index)"] {
                decoded += plain.value
            } else if index == 0 {
                return nil
            } else {
                break
            }
        }
        // Only an extended first piece specifies a charset.
        self.init(charset: kind[0].isEmpty ? Array("utf-8".utf8)[...] : kind[0], language: kind[1], decoded: decoded)
    }

    private static func percentDecoded(_ bytes: [UInt8]) -> [UInt8]? {
        var decoded: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%") {
                guard index + 2 < bytes.count, let upper = Hex.value(bytes[index + 1]), let lower = Hex.value(bytes[index + 2]) else {
                    return nil
                }
                decoded.append(upper << 4 | lower)
                index += 3
            } else {
                decoded.append(bytes[index])
                index += 1
            }
        }
        return decoded
    }
}

/// Encoded words in a name (RFC 2047, 2), as written by mail programs and old servers: `=?utf-8?B?7J2M7Iud?=.txt`.
///
/// For display only. Decodes them inside quotes too: RFC 2047, 5 forbids that, but most senders write them there.
enum EncodedWords {
    /// RFC 2047, 2 allows 75 characters per word; some senders write a whole name in one word.
    private static let longest = 1024

    private struct Word {
        var charset: String
        var bytes: [UInt8]
        var end: Int
    }

    /// The text with all words decoded; nil if there are none, or if the bytes of one are invalid in its charset.
    static func text(_ bytes: [UInt8]) -> String? {
        var text = ""
        var plain: [UInt8] = []
        var last: Word?
        var hasWords = false
        func flush() -> Bool {
            guard let word = last else { return true }
            guard let decoded = Charset.text(word.bytes, label: word.charset) else { return false }
            text += decoded
            last = nil
            return true
        }
        var index = 0
        while index < bytes.count {
            guard bytes[index] == UInt8(ascii: "="), let word = self.word(in: bytes, at: index) else {
                plain.append(bytes[index])
                index += 1
                continue
            }
            hasWords = true
            index = word.end
            // White space between two words is not part of the text (RFC 2047, 6.2), and a character may span both.
            if let before = last, plain.allSatisfy({ $0 == 32 || $0 == 9 }), before.charset == word.charset {
                last?.bytes += word.bytes
            } else {
                let isBetween = last != nil && plain.allSatisfy { $0 == 32 || $0 == 9 }
                guard flush() else { return nil }
                if !isBetween { text += Latin1.text(plain) }
                last = word
            }
            plain = []
        }
        guard hasWords, flush() else { return nil }
        return text + Latin1.text(plain)
    }

    /// The word `=?charset?B?…?=` that begins at `start`.
    private static func word(in bytes: [UInt8], at start: Int) -> Word? {
        let rest = bytes[start...].prefix(self.longest)
        guard rest.starts(with: [UInt8(ascii: "="), UInt8(ascii: "?")]) else { return nil }
        let pieces = rest.dropFirst(2).split(separator: UInt8(ascii: "?"), maxSplits: 3, omittingEmptySubsequences: false)
        guard pieces.count == 4, pieces[3].first == UInt8(ascii: "="), let method = pieces[1].first,
            pieces[1].count == 1, !pieces[0].isEmpty, pieces[0].allSatisfy({ $0 > 32 && $0 < 127 })
        else { return nil }
        let decoded: [UInt8]?
        switch method | 32 {
        case UInt8(ascii: "b"): decoded = ContentTransferEncoding.base64.decode(Array(pieces[2]))
        case UInt8(ascii: "q"):
            let spaced = pieces[2].flatMap { $0 == UInt8(ascii: "_") ? Array("=20".utf8) : [$0] }
            decoded = ContentTransferEncoding.quotedPrintable.decode(spaced)
        default: decoded = nil
        }
        // RFC 2231, 5: a language may follow the charset.
        let charset = String(decoding: pieces[0].prefix { $0 != UInt8(ascii: "*") }, as: UTF8.self).lowercased()
        return decoded.map { Word(charset: charset, bytes: $0, end: pieces[3].startIndex + 1) }
    }
}
