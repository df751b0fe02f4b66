public import CassetteModel
internal import TapeBytes

/// One part of a form: its header section as it is sent, and where its octets come from.
///
/// A header that would end the section early, or add a line to it, makes no part.
public struct FormDataPart: Sendable {
    public let headers: HeaderFields
    public let source: FormDataSource

    /// Any header fields, as for `multipart/mixed`.
    public init(headers: HeaderFields, source: FormDataSource) throws(FormDataError) {
        for index in 0..<headers.count {
            let line = headers.line(at: index)
            let name = line.prefix { $0 != UInt8(ascii: ":") }
            let isName = !name.isEmpty && name.count < line.count && name.allSatisfy { $0 > 32 && $0 < 127 }
            guard isName, line.allSatisfy({ $0 >= 32 && $0 != 127 || $0 == 9 }) else {
                let shown = PlainText.escape(line, limit: 200)
                throw FormDataError(.invalidHeader, "\"\(shown)\" is not a header field: give \"name: value\" without control characters")
            }
        }
        guard source.length >= 0 else {
            throw FormDataError(.invalidLength, "a stream cannot have \(source.length) octets: give the number that it will deliver")
        }
        self.headers = headers
        self.source = source
    }

    /// A part of `multipart/form-data` (RFC 7578, 4.2).
    public init(name: String, fileName: String? = nil, mimeType: String? = nil, source: FormDataSource) throws(FormDataError) {
        var disposition = "form-data; name=\"\(Self.escaped(name))\""
        if let fileName { disposition += "; filename=\"\(Self.escaped(fileName))\"" }
        var headers = HeaderFields()
        headers.append(name: "Content-Disposition", value: disposition)
        if let mimeType { headers.append(name: "Content-Type", value: mimeType) }
        try self.init(headers: headers, source: source)
    }

    /// As browsers write names (WHATWG HTML, "multipart/form-data encoding algorithm"): UTF-8 as it is, and percent signs for the three
    /// octets that would end the text or the line. Other control characters are refused with the header.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": escaped += "%22"
            case "\r": escaped += "%0D"
            case "\n": escaped += "%0A"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}

/// Where the octets of a part come from.
public enum FormDataSource: Sendable {
    case octets([UInt8])
    case file(FormDataFile)
    case stream(FormDataStream)

    public var length: Int {
        switch self {
        case .octets(let octets): octets.count
        case .file(let file): file.size
        case .stream(let stream): stream.length
        }
    }
}
