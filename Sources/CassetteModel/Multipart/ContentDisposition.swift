internal import TapeBytes

/// What a Content-Disposition field says about a part (RFC 7578, 4.2; RFC 6266): its type, name and filename, decoded for people.
///
/// Does not make a filename safe to write to: it may hold slashes and whole paths.
public struct ContentDisposition: Sendable, Hashable {
    /// `form-data`, `attachment` and so on, in lower case.
    public var type: String
    public var name: String?
    /// From `filename*`, whole or in pieces, where that can be decoded, else from `filename`.
    public var filename: String?
    /// True where `filename*` gave the filename. RFC 7578, 4.2 forbids it in form-data, and some servers pass it over.
    public var isFilenameExtended = false

    /// - Parameter charset: that of a form's names, where they are not UTF-8; nil where nobody says.
    public init(_ field: some Collection<UInt8>, charset: FormCharset? = nil) {
        let parameters = MIMEParameters(field)
        self.type = parameters.value
        func plain(_ name: String) -> String? { parameters[name].map { Self.text($0, charset) } }
        func extended(_ name: String) -> String? {
            (parameters["\(name)*"].flatMap { ExtendedValue($0.raw) } ?? ExtendedValue(pieces: name, of: parameters))?.text
        }
        // aiohttp writes `name*` alone where a name is not ASCII.
        self.name = plain("name") ?? extended("name")
        let filename = extended("filename")
        self.filename = filename ?? plain("filename")
        self.isFilenameExtended = filename != nil
    }

    /// The first such field of a part.
    public init?(_ fields: HeaderFields, charset: FormCharset? = nil) {
        guard let index = fields.firstIndex(of: "content-disposition") else { return nil }
        self.init(fields.valueBytes(at: index), charset: charset)
    }

    private static func text(_ parameter: MIMEParameters.Parameter, _ charset: FormCharset?) -> String {
        let octets = parameter.isQuoted ? self.unescaped(parameter.raw) : parameter.raw
        if let text = EncodedWords.text(octets) { return text }
        if UTF8Validator.isValid(octets) { return String(decoding: octets, as: UTF8.self) }
        return charset.flatMap { Charset.text(octets, label: $0.label) } ?? Latin1.decode(octets)
    }

    /// Takes off `\"` and `\\`, where the value has no other backslashes: a path of Internet Explorer (`C:\dir\a.png`) has, and no client
    /// escapes anything else. Then `%22`, `%0D` and `%0A`, which browsers write for a quote and line ends, and nothing else
    /// (HTML Living Standard, multipart/form-data encoding algorithm).
    private static func unescaped(_ raw: [UInt8]) -> [UInt8] {
        let isEscaped = self.hasEscapesOnly(raw)
        var octets: [UInt8] = []
        octets.reserveCapacity(raw.count)
        var index = 0
        while index < raw.count {
            if raw[index] == UInt8(ascii: "\\"), index + 1 < raw.count, isEscaped || raw[index + 1] == UInt8(ascii: "\"") {
                octets.append(raw[index + 1])
                index += 2
            } else if let octet = self.percentEscape(raw[index...].prefix(3)) {
                octets.append(octet)
                index += 3
            } else {
                octets.append(raw[index])
                index += 1
            }
        }
        return octets
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

    private static func percentEscape(_ octets: ArraySlice<UInt8>) -> UInt8? {
        guard octets.count == 3, octets.first == UInt8(ascii: "%") else { return nil }
        switch (octets[octets.startIndex + 1], octets[octets.startIndex + 2] | 32) {
        case (UInt8(ascii: "2"), UInt8(ascii: "2") | 32): return UInt8(ascii: "\"")
        case (UInt8(ascii: "0"), UInt8(ascii: "d")): return 13
        case (UInt8(ascii: "0"), UInt8(ascii: "a")): return 10
        default: return nil
        }
    }
}
