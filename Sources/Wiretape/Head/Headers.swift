public import CassetteModel
internal import ClientCapabilities
internal import Foundation
internal import TapeBytes

extension HTTPSession {
    /// Header fields in order: duplicates and spelling are kept, names compare without regard to case (RFC 9110, 5.1).
    ///
    /// `add` always appends, `update` replaces: a field may be sent twice.
    public struct Headers: Sendable, Hashable {
        private var fields: [Header] = []

        public init() {}

        public init(_ fields: [Header]) { self.fields = fields }

        /// Sorted by name, since a dictionary has no order.
        public init(_ dictionary: [String: String]) {
            self.fields = dictionary.map { Header(name: $0, value: $1) }
            self.sort()
        }

        /// All fields, in order.
        public var headers: [Header] { self.fields }

        // MARK: Looking up

        /// The first value of that name.
        public func value(for name: String) -> String? { self.fields.first { $0.isNamed(name) }?.value }

        /// All values of that name, in order.
        public func values(for name: String) -> [String] { self.fields.filter { $0.isNamed(name) }.map(\.value) }

        public func contains(name: String) -> Bool { self.fields.contains { $0.isNamed(name) } }

        /// The first value of that name. Setting a value updates the field, setting nil removes it.
        public subscript(name: String) -> String? {
            get { self.value(for: name) }
            set {
                if let newValue { self.update(name: name, value: newValue) } else { self.remove(name: name) }
            }
        }

        // MARK: Changing

        /// Appends a field, even if there are others of its name.
        public mutating func add(name: String, value: String) { self.fields.append(Header(name: name, value: value)) }

        /// Appends a field, even if there are others of its name.
        public mutating func add(_ header: Header) { self.fields.append(header) }

        /// Replaces the first field of that name and removes the others; appends the field if there is none.
        public mutating func update(_ header: Header) {
            guard let index = self.fields.firstIndex(where: { $0.isNamed(header.name) }) else { return self.add(header) }
            self.fields[index] = header
            self.fields = self.fields.enumerated().filter { $0 <= index || !$1.isNamed(header.name) }.map(\.element)
        }

        /// Replaces the first field of that name and removes the others; appends the field if there is none.
        public mutating func update(name: String, value: String) { self.update(Header(name: name, value: value)) }

        /// Removes all fields of that name.
        public mutating func remove(name: String) { self.fields.removeAll { $0.isNamed(name) } }

        /// Sorts by name; fields of one name keep their order, which can be significant (RFC 9110, 5.3).
        public mutating func sort() { self = self.sorted() }

        /// Sorted by name; fields of one name keep their order, which can be significant (RFC 9110, 5.3).
        public func sorted() -> Headers {
            let keyed = self.fields.enumerated().map { (key: $1.name.lowercased(), index: $0, field: $1) }
            return Headers(keyed.sorted { ($0.key, $0.index) < ($1.key, $1.index) }.map(\.field))
        }

        // MARK: Converting and checking

        /// One value for each name, spelled as in its first field. Values of one name are joined by ", " (RFC 9110, 5.3), those of `Cookie` by
        /// "; " (RFC 9113, 8.2.3). Joined `Set-Cookie` fields cannot be split again: use `values(for:)`.
        public var dictionary: [String: String] {
            var names: [String: String] = [:]
            var result: [String: String] = [:]
            for field in self.fields {
                let key = field.name.lowercased()
                let name = names[key] ?? field.name
                names[key] = name
                result[name] = result[name].map { $0 + (key == "cookie" ? "; " : ", ") + field.value } ?? field.value
            }
            return result
        }

        /// Rejects fields that would break the message or let a value inject fields (RFC 9110, 5.5): names must be tokens, and values must
        /// have no
        /// CR, LF, NUL or other control character except the tab.
        @discardableResult
        public func validated() throws(HeaderError) -> Headers {
            for field in self.fields {
                var shown: String { "\"\(PlainText.escape(field.name.utf8, limit: 200))\"" }
                guard !field.name.isEmpty, field.name.utf8.allSatisfy(Self.isTokenCharacter) else {
                    throw HeaderError(
                        name: field.name, message: "\(shown) is not a header field name: use letters, digits and \"-\"")
                }
                guard field.value.utf8.allSatisfy({ $0 >= 32 && $0 != 127 || $0 == 9 }) else {
                    throw HeaderError(
                        name: field.name,
                        message:
                            "the value of \(shown) contains a line break, a NUL or another control character: remove it, or percent-encode the value"
                    )
                }
            }
            return self
        }

        /// RFC 9110, 5.6.2
        static func isTokenCharacter(_ byte: UInt8) -> Bool {
            switch byte {
            case 48...57, 65...90, 97...122: true
            default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
        }
    }
}

extension HTTPSession.Headers {
    /// A value that is not UTF-8 is read as ISO-8859-1, the historical charset of header fields (RFC 9110, 5.5).
    public init(_ fields: HeaderFields) {
        self.init(
            (0..<fields.count).map { index in
                let bytes = fields.valueBytes(at: index)
                let value = String(validUTF8: bytes) ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
                return HTTPSession.Header(name: fields.name(at: index), value: value)
            })
    }

    /// The fields as lines of a message. Only fields that pass `validated` are the same there.
    public var headerFields: HeaderFields {
        var result = HeaderFields()
        for field in self { result.append(name: field.name, value: field.value) }
        return result
    }
}

extension HTTPSession.Headers: RandomAccessCollection {
    public var startIndex: Int { self.fields.startIndex }
    public var endIndex: Int { self.fields.endIndex }
    public subscript(position: Int) -> HTTPSession.Header { self.fields[position] }
}

extension HTTPSession.Headers: ExpressibleByDictionaryLiteral {
    /// In the order written, duplicates kept.
    public init(dictionaryLiteral elements: (String, String)...) { self.init(elements.map { HTTPSession.Header(name: $0, value: $1) }) }
}

extension HTTPSession.Headers: ExpressibleByArrayLiteral {
    public init(arrayLiteral elements: HTTPSession.Header...) { self.init(elements) }
}

extension HTTPSession.Headers: CustomStringConvertible {
    /// One field a line.
    public var description: String { self.fields.map(\.description).joined(separator: "\n") }
}

extension HTTPSession.Headers {
    /// The fields that a session sends by default: `Accept-Encoding`, `Accept-Language` and `User-Agent`.
    public static let `default`: HTTPSession.Headers = [.defaultAcceptEncoding, .defaultAcceptLanguage, .defaultUserAgent]

    /// These fields, and those fields of `others` whose names are missing here.
    public func adding(missing others: HTTPSession.Headers) -> HTTPSession.Headers {
        var result = self
        for field in others where !self.contains(name: field.name) { result.add(field) }
        return result
    }
}

extension HTTPSession {
    /// A header field that cannot be sent.
    public struct HeaderError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The field's name, as given.
        public var name: String
        /// Names the field, its problem and the next step. Never contains the value, which may be a secret.
        public var message: String

        init(name: String, message: String) {
            self.name = name
            self.message = message
        }

        public var description: String { self.message }
    }

    /// One header field.
    ///
    /// Holds any text; `Headers.validated()` checks what may be sent.
    public struct Header: Sendable, Hashable, CustomStringConvertible {
        public var name: String
        public var value: String

        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }

        /// `name: value`
        public var description: String { "\(self.name): \(self.value)" }

        /// Ignores the case of ASCII letters (RFC 9110, 5.1).
        func isNamed(_ name: String) -> Bool {
            self.name.utf8.count == name.utf8.count && zip(self.name.utf8, name.utf8).allSatisfy { Self.lower($0) == Self.lower($1) }
        }

        private static func lower(_ byte: UInt8) -> UInt8 { (65...90).contains(byte) ? byte | 32 : byte }
    }
}

extension HTTPSession.Header {
    public static func accept(_ value: String) -> HTTPSession.Header { HTTPSession.Header(name: "Accept", value: value) }
    public static func acceptCharset(_ value: String) -> HTTPSession.Header { HTTPSession.Header(name: "Accept-Charset", value: value) }
    public static func acceptEncoding(_ value: String) -> HTTPSession.Header { HTTPSession.Header(name: "Accept-Encoding", value: value) }
    public static func acceptLanguage(_ value: String) -> HTTPSession.Header { HTTPSession.Header(name: "Accept-Language", value: value) }

    /// Credentials of any scheme, sent as given.
    public static func authorization(_ value: String) -> HTTPSession.Header { HTTPSession.Header(name: "Authorization", value: value) }

    /// The Basic scheme with UTF-8 (RFC 7617). A user name with a colon arrives as another name: the scheme cannot express it.
    public static func authorization(username: String, password: String) -> HTTPSession.Header {
        self.authorization("Basic \(Data("\(username):\(password)".utf8).base64EncodedString())")
    }

    /// RFC 6750
    public static func authorization(bearerToken: String) -> HTTPSession.Header { self.authorization("Bearer \(bearerToken)") }

    public static func cacheControl(_ value: String) -> HTTPSession.Header { HTTPSession.Header(name: "Cache-Control", value: value) }
    public static func contentDisposition(_ value: String) -> HTTPSession.Header {
        HTTPSession.Header(name: "Content-Disposition", value: value)
    }
    public static func contentEncoding(_ value: String) -> HTTPSession.Header { HTTPSession.Header(name: "Content-Encoding", value: value) }
    public static func contentType(_ value: String) -> HTTPSession.Header { HTTPSession.Header(name: "Content-Type", value: value) }
    public static func cookie(_ value: String) -> HTTPSession.Header { HTTPSession.Header(name: "Cookie", value: value) }
    public static func ifMatch(_ value: String) -> HTTPSession.Header { HTTPSession.Header(name: "If-Match", value: value) }
    public static func ifNoneMatch(_ value: String) -> HTTPSession.Header { HTTPSession.Header(name: "If-None-Match", value: value) }
    public static func origin(_ value: String) -> HTTPSession.Header { HTTPSession.Header(name: "Origin", value: value) }
    public static func range(_ value: String) -> HTTPSession.Header { HTTPSession.Header(name: "Range", value: value) }
    public static func referer(_ value: String) -> HTTPSession.Header { HTTPSession.Header(name: "Referer", value: value) }
    public static func userAgent(_ value: String) -> HTTPSession.Header { HTTPSession.Header(name: "User-Agent", value: value) }

    /// The subprotocols that a WebSocket client offers (RFC 6455, 11.3.4).
    public static func websocketProtocol(_ value: String) -> HTTPSession.Header {
        HTTPSession.Header(name: "Sec-WebSocket-Protocol", value: value)
    }

    /// The codings that URLSession decodes: `br;q=1.0, gzip;q=0.9, deflate;q=0.8` on Apple's platforms, and on Linux those that its libcurl
    /// is built with.
    public static let defaultAcceptEncoding = HTTPSession.Header.acceptEncoding(Self.weighted(Self.codings(PlatformReading.libcurl)))

    /// In the order of preference.
    ///
    /// - Parameter libcurl: nil if it is not known.
    static func codings(_ libcurl: LibcurlFacts?) -> [String] {
        #if canImport(FoundationNetworking)
        let known = libcurl?.contentCodings ?? ["gzip", "deflate"]
        return ["br", "gzip", "deflate", "zstd"].filter(known.contains)
        #else
        return ["br", "gzip", "deflate"]
        #endif
    }

    /// The user's first six languages, with decreasing weights.
    public static let defaultAcceptLanguage = HTTPSession.Header.acceptLanguage(Self.weighted(Locale.preferredLanguages.prefix(6)))

    /// The name and version of the app, if there is one, and of the library. Says nothing about the system, so that recordings of two
    /// machines are alike.
    public static let defaultUserAgent = HTTPSession.Header.userAgent(Self.userAgent(of: Bundle.main.infoDictionary ?? [:]))

    /// With quality values (RFC 9110, 12.4.2): 1.0, 0.9 and so on.
    static func weighted(_ values: some Collection<String>) -> String {
        values.enumerated().map { "\($1);q=\($0 == 0 ? "1.0" : "0.\(max(1, 10 - $0))")" }.joined(separator: ", ")
    }

    static func userAgent(of app: [String: Any]) -> String {
        let library = "Wiretape/1"
        guard let name = app["CFBundleExecutable"] as? String else { return library }
        let product = self.token(name)
        guard !product.isEmpty else { return library }
        let version = self.token(app["CFBundleShortVersionString"] as? String ?? "")
        return version.isEmpty ? "\(product) \(library)" : "\(product)/\(version) \(library)"
    }

    /// RFC 9110, 5.6.2: other characters could end the field or begin a comment.
    private static func token(_ text: String) -> String {
        String(decoding: text.utf8.map { HTTPSession.Headers.isTokenCharacter($0) ? $0 : UInt8(ascii: "-") }, as: UTF8.self)
    }
}
