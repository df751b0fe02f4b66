internal import CassetteModel
public import Foundation
internal import TapeBytes

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension HTTPSession {
    /// The body as text; empty if there is none and none is required.
    ///
    /// The encoding is the first of: the one given, that of a byte order mark, the charset of the Content-Type, UTF-8 if the bytes are valid,
    /// ISO-8859-1.
    public struct StringResponseSerializer: ResponseSerializer {
        /// Overrides the encoding of the response.
        public let encoding: String.Encoding?
        public let dataPreprocessor: any DataPreprocessor
        public let emptyRequestMethods: Set<Method>
        public let emptyResponseCodes: Set<Int>

        public init(
            encoding: String.Encoding? = nil, dataPreprocessor: any DataPreprocessor = .passthrough,
            emptyRequestMethods: Set<Method> = [.head], emptyResponseCodes: Set<Int> = [204, 205]
        ) {
            self.encoding = encoding
            self.dataPreprocessor = dataPreprocessor
            self.emptyRequestMethods = emptyRequestMethods
            self.emptyResponseCodes = emptyResponseCodes
        }

        public func serialize(request: URLRequest?, response: Response?, data: Data?, error: (any Error)?) throws -> String {
            guard let data = try self.body(request: request, response: response, data: data, error: error) else { return "" }
            guard let encoding = self.encoding else { return try BodyText(data, contentType: response?.headers["Content-Type"]).text }
            guard let text = String(data: data, encoding: encoding) else {
                throw SerializationError(.invalidText, "the \(data.count)-byte body is not text in \(encoding): choose another encoding")
            }
            return text
        }
    }
}

extension HTTPSession.DownloadResponseSerializer where Self == HTTPSession.StringResponseSerializer {
    public static var string: HTTPSession.StringResponseSerializer { HTTPSession.StringResponseSerializer() }
    public static func string(encoding: String.Encoding) -> HTTPSession.StringResponseSerializer {
        HTTPSession.StringResponseSerializer(encoding: encoding)
    }
}

/// A body's text, decoded by its byte order mark, its Content-Type or its content.
struct BodyText {
    let text: String

    init(_ data: Data, contentType: String?) throws(SerializationError) {
        let bytes = [UInt8](data)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            self.text = try Self.text(Array(bytes.dropFirst(3)), charset: "utf-8")
        } else if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            let isLittle = bytes[0] == 0xFF
            self.text = try Self.text(Array(bytes.dropFirst(2)), charset: isLittle ? "utf-16le" : "utf-16be")
        } else if let charset = contentType.flatMap(Self.charset) {
            self.text = try Self.text(bytes, charset: charset)
        } else {
            // All bytes are valid ISO-8859-1.
            self.text = String(validUTF8: bytes) ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        }
    }

    /// The charset parameter, in lower case.
    static func charset(_ contentType: String) -> String? {
        let value = MIMEParameters(contentType.utf8).parameters.first { $0.name == "charset" }?.value
        let label = value.map { String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .whitespaces).lowercased() }
        return label.flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func text(_ bytes: [UInt8], charset: String) throws(SerializationError) -> String {
        if let text = Charset.text(bytes, label: charset) { return text }
        let shown = "\"\(PlainText.escape(charset.utf8, limit: 100))\""
        let isKnown =
            ["utf-8", "utf8"].contains(charset) || !bytes.withUnsafeBytes { Charset.candidates(label: charset, beginning: $0) }.isEmpty
        guard isKnown else {
            throw SerializationError(.unknownCharset, "the body's charset \(shown) is unknown: pass an encoding to the serializer")
        }
        throw SerializationError(
            .invalidText, "the \(bytes.count)-byte body is not text in its charset \(shown): pass an encoding to the serializer")
    }
}
