public import CassetteModel
internal import TapeBytes

/// Header fields in order: duplicates and spelling are kept, names compare without regard to case (RFC 9110, 5.1).
///
/// `add` always appends, `update` replaces: a field may be sent twice.
public struct HTTPHeaders: Sendable, Hashable {
    private var fields: [HTTPHeader] = []

    public init() {}

    public init(_ fields: [HTTPHeader]) { self.fields = fields }

    /// Sorted by name, since a dictionary has no order.
    public init(_ dictionary: [String: String]) {
        self.fields = dictionary.map { HTTPHeader(name: $0, value: $1) }
        self.sort()
    }

    /// All fields, in order.
    public var headers: [HTTPHeader] { self.fields }

    // MARK: Looking up

    /// The first value of that name.
    public func value(for name: String) -> String? { self.fields.first { $0.isNamed(name) }?.value }

    /// All values of that name, in order.
    public func values(for name: String) -> [String] { self.fields.filter { $0.isNamed(name) }.map(\.value) }

    public func contains(name: String) -> Bool { self.fields.contains { $0.isNamed(name) } }

    /// The first value of that name. Setting one updates, setting nil removes.
    public subscript(name: String) -> String? {
        get { self.value(for: name) }
        set {
            if let newValue { self.update(name: name, value: newValue) } else { self.remove(name: name) }
        }
    }

    // MARK: Changing

    /// Appends a field, even if there are others of its name.
    public mutating func add(name: String, value: String) { self.fields.append(HTTPHeader(name: name, value: value)) }

    /// Appends a field, even if there are others of its name.
    public mutating func add(_ header: HTTPHeader) { self.fields.append(header) }

    /// Replaces the first field of that name and removes the others; appends the field if there is none.
    public mutating func update(_ header: HTTPHeader) {
        guard let index = self.fields.firstIndex(where: { $0.isNamed(header.name) }) else { return self.add(header) }
        self.fields[index] = header
        self.fields = self.fields.enumerated().filter { $0 <= index || !$1.isNamed(header.name) }.map(\.element)
    }

    /// Replaces the first field of that name and removes the others; appends the field if there is none.
    public mutating func update(name: String, value: String) { self.update(HTTPHeader(name: name, value: value)) }

    /// Removes all fields of that name.
    public mutating func remove(name: String) { self.fields.removeAll { $0.isNamed(name) } }

    /// Sorts by name; fields of one name keep their order, which can be significant (RFC 9110, 5.3).
    public mutating func sort() { self = self.sorted() }

    /// Sorted by name; fields of one name keep their order, which can be significant (RFC 9110, 5.3).
    public func sorted() -> HTTPHeaders {
        let keyed = self.fields.enumerated().map { (key: $1.name.lowercased(), index: $0, field: $1) }
        return HTTPHeaders(keyed.sorted { ($0.key, $0.index) < ($1.key, $1.index) }.map(\.field))
    }

    // MARK: Converting and checking

    /// One value for each name, spelled as in its first field. Values of one name are joined by ", " (RFC 9110, 5.3), those of `Cookie` by
    /// "; " (RFC 9113, 8.2.3). Joined `Set-Cookie` fields cannot be told apart again: use `values(for:)`.
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

    /// Refuses what would break the message or let a value inject fields (RFC 9110, 5.5): names must be tokens, and values must have no
    /// CR, LF, NUL or other control character except the tab.
    @discardableResult
    public func validated() throws(HTTPHeaderError) -> HTTPHeaders {
        for field in self.fields {
            var shown: String { "\"\(PlainText.escape(field.name.utf8, limit: 200))\"" }
            guard !field.name.isEmpty, field.name.utf8.allSatisfy(Self.isTokenCharacter) else {
                throw HTTPHeaderError(
                    name: field.name, message: "\(shown) cannot be the name of a header field: take letters, digits and \"-\"")
            }
            guard field.value.utf8.allSatisfy({ $0 >= 32 && $0 != 127 || $0 == 9 }) else {
                throw HTTPHeaderError(
                    name: field.name,
                    message:
                        "the value of \(shown) has a line end, a NUL or another control character: remove it, or percent-encode the value")
            }
        }
        return self
    }

    /// RFC 9110, 5.6.2
    static func isTokenCharacter(_ octet: UInt8) -> Bool {
        switch octet {
        case 48...57, 65...90, 97...122: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(octet)
        }
    }
}

extension HTTPHeaders {
    /// A value that is not UTF-8 is read as ISO-8859-1, the historical charset of header fields (RFC 9110, 5.5).
    public init(_ fields: HeaderFields) {
        self.init(
            (0..<fields.count).map { index in
                let octets = fields.valueBytes(at: index)
                let value = String(validating: octets, as: UTF8.self) ?? String(String.UnicodeScalarView(octets.map { Unicode.Scalar($0) }))
                return HTTPHeader(name: fields.name(at: index), value: value)
            })
    }

    /// The fields as lines of a message. Only what passes `validated` is the same there.
    public var headerFields: HeaderFields {
        var result = HeaderFields()
        for field in self { result.append(name: field.name, value: field.value) }
        return result
    }
}

extension HTTPHeaders: RandomAccessCollection {
    public var startIndex: Int { self.fields.startIndex }
    public var endIndex: Int { self.fields.endIndex }
    public subscript(position: Int) -> HTTPHeader { self.fields[position] }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    /// In the order written, duplicates kept.
    public init(dictionaryLiteral elements: (String, String)...) { self.init(elements.map { HTTPHeader(name: $0, value: $1) }) }
}

extension HTTPHeaders: ExpressibleByArrayLiteral {
    public init(arrayLiteral elements: HTTPHeader...) { self.init(elements) }
}

extension HTTPHeaders: CustomStringConvertible {
    /// One field a line.
    public var description: String { self.fields.map(\.description).joined(separator: "\n") }
}

extension HTTPHeaders {
    /// What a session sends by default: `Accept-Encoding`, `Accept-Language` and `User-Agent`.
    public static let `default`: HTTPHeaders = [.defaultAcceptEncoding, .defaultAcceptLanguage, .defaultUserAgent]

    /// These fields, and those of `others` with other names.
    public func adding(missing others: HTTPHeaders) -> HTTPHeaders {
        var result = self
        for field in others where !self.contains(name: field.name) { result.add(field) }
        return result
    }
}

/// A header field that cannot be sent.
public struct HTTPHeaderError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The field's name, as given.
    public var name: String
    /// What is wrong with which field, and what to do next. Never contains the value, which may be a secret.
    public var message: String

    init(name: String, message: String) {
        self.name = name
        self.message = message
    }

    public var description: String { self.message }
}
