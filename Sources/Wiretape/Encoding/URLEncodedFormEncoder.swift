public import Foundation

/// Writes an `Encodable` object as `application/x-www-form-urlencoded`: `name=value&list[]=1&list[]=2&object[key]=value`.
///
/// Names are sorted within each object, so that recordings are stable; the elements of a list keep their order, which means something.
public struct URLEncodedFormEncoder: Sendable {
    /// ASCII letters and digits, `-._~`, and `/` and `?`, which need no escape in a query (RFC 3986, 3.4).
    public static let queryAllowed = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/?")

    /// Whether names are sorted. Dictionaries have no order of their own, so that a form of one changes from run to run without.
    public var alphabetizeKeyValuePairs: Bool
    public var arrayEncoding: ArrayEncoding
    public var boolEncoding: BoolEncoding
    public var dataEncoding: DataEncoding
    public var dateEncoding: DateEncoding
    public var keyEncoding: KeyEncoding
    public var keyPathEncoding: KeyPathEncoding
    public var nilEncoding: NilEncoding
    public var spaceEncoding: SpaceEncoding
    /// What stands as it is; only ASCII counts. All else is percent-encoded as UTF-8.
    public var allowedCharacters: CharacterSet

    public init(
        alphabetizeKeyValuePairs: Bool = true, arrayEncoding: ArrayEncoding = .brackets, boolEncoding: BoolEncoding = .numeric,
        dataEncoding: DataEncoding = .base64, dateEncoding: DateEncoding = .deferredToDate, keyEncoding: KeyEncoding = .useDefaultKeys,
        keyPathEncoding: KeyPathEncoding = .brackets, nilEncoding: NilEncoding = .dropKey, spaceEncoding: SpaceEncoding = .percentEscaped,
        allowedCharacters: CharacterSet = Self.queryAllowed
    ) {
        self.alphabetizeKeyValuePairs = alphabetizeKeyValuePairs
        self.arrayEncoding = arrayEncoding
        self.boolEncoding = boolEncoding
        self.dataEncoding = dataEncoding
        self.dateEncoding = dateEncoding
        self.keyEncoding = keyEncoding
        self.keyPathEncoding = keyPathEncoding
        self.nilEncoding = nilEncoding
        self.spaceEncoding = spaceEncoding
        self.allowedCharacters = allowedCharacters
    }

    /// - Throws: `ParameterEncodingError` for what is no object, and with what a closure or the value itself throws.
    public func encode(_ value: some Encodable) throws -> String {
        self.write(try self.fields.pairs(of: try FormValueEncoder.value(of: value, self.leaves)))
    }

    /// The same as UTF-8.
    public func encode(_ value: some Encodable) throws -> Data { Data(try self.encode(value).utf8) }

    var fields: FormFields {
        FormFields(array: self.arrayEncoding, key: self.keyEncoding, keyPath: self.keyPathEncoding, isSorted: self.alphabetizeKeyValuePairs)
    }

    var leaves: FormLeaves {
        FormLeaves(
            bool: self.boolEncoding.encode, data: { try self.dataEncoding.encode($0).map { .text($0) } }, date: self.dateEncoding.encode,
            null: self.nilEncoding.encode)
    }

    func write(_ pairs: [FormFields.Pair]) -> String {
        var characters = self.allowedCharacters
        if case .plusReplaced = self.spaceEncoding { characters.insert(" ") }
        let encoder = PercentEncoder(characters)
        let form = pairs.map { pair in
            let value =
                switch pair.value {
                case .text(let text): text
                case .octets(let octets): octets.base64EncodedString()
                }
            return encoder.encode(pair.name) + "=" + encoder.encode(value)
        }.joined(separator: "&")
        guard case .plusReplaced = self.spaceEncoding else { return form }
        return String(form.map { $0 == " " ? "+" : $0 })
    }
}

extension URLEncodedFormEncoder {
    public enum SpaceEncoding: Sendable, Hashable {
        /// `%20`
        case percentEscaped
        /// `+` (WHATWG URL, 5.2)
        case plusReplaced
    }
}

extension URLEncodedFormEncoder {
    public enum BoolEncoding: Sendable, Hashable {
        /// `1` and `0`
        case numeric
        /// `true` and `false`
        case literal

        func encode(_ value: Bool) -> String {
            switch self {
            case .numeric: value ? "1" : "0"
            case .literal: value ? "true" : "false"
            }
        }
    }
}

extension URLEncodedFormEncoder {
    /// How the name of a member within an object follows the object's.
    public enum KeyPathEncoding: Sendable {
        /// `parent[child][grandchild]`
        case brackets
        /// `parent.child.grandchild`
        case dots
        /// What follows the parent's name, of the child's.
        case custom(@Sendable (String) -> String)

        func encode(_ key: String) -> String {
            switch self {
            case .brackets: "[\(key)]"
            case .dots: ".\(key)"
            case .custom(let encode): encode(key)
            }
        }
    }
}

extension URLEncodedFormEncoder {
    public enum DataEncoding: Sendable {
        /// As `Data` encodes itself: a list of numbers.
        case deferredToData
        case base64
        case custom(@Sendable (Data) throws -> String)

        /// Nil where the value encodes itself.
        func encode(_ data: Data) throws -> String? {
            switch self {
            case .deferredToData: nil
            case .base64: data.base64EncodedString()
            case .custom(let encode): try encode(data)
            }
        }
    }
}

extension URLEncodedFormEncoder {
    public enum NilEncoding: Sendable {
        /// The name is left out too.
        case dropKey
        /// `key=`
        case dropValue
        /// `key=null`
        case null
        case custom(@Sendable () -> String)

        /// Nil where nothing is to be sent.
        func encode() -> String? {
            switch self {
            case .dropKey: nil
            case .dropValue: ""
            case .null: "null"
            case .custom(let encode): encode()
            }
        }
    }
}

extension URLEncodedFormEncoder {
    /// What the elements of a list are called.
    public enum ArrayEncoding: Sendable {
        /// `key[]`
        case brackets
        /// `key`
        case noBrackets
        /// `key[0]`
        case indexInBrackets
        /// Of the list's name and the element's index from 0.
        case custom(@Sendable (_ key: String, _ index: Int) -> String)

        func encode(_ key: String, atIndex index: Int) -> String {
            switch self {
            case .brackets: "\(key)[]"
            case .noBrackets: key
            case .indexInBrackets: "\(key)[\(index)]"
            case .custom(let encode): encode(key, index)
            }
        }
    }
}

extension URLEncodedFormEncoder {
    public enum DateEncoding: Sendable {
        /// As `Date` encodes itself: seconds since 2001-01-01T00:00:00Z.
        case deferredToDate
        /// With a decimal: `1.0`.
        case secondsSince1970
        /// With a decimal: `1000.0`.
        case millisecondsSince1970
        /// `1970-01-01T00:00:01Z` (RFC 3339), without parts of a second.
        case iso8601
        case formatted(DateFormatter)
        case custom(@Sendable (Date) throws -> String)

        /// Nil where the value encodes itself.
        func encode(_ date: Date) throws -> String? {
            switch self {
            case .deferredToDate: nil
            case .secondsSince1970: "\(date.timeIntervalSince1970)"
            case .millisecondsSince1970: "\(date.timeIntervalSince1970 * 1000)"
            case .iso8601: date.formatted(.iso8601)
            case .formatted(let formatter): formatter.string(from: date)
            case .custom(let encode): try encode(date)
            }
        }
    }
}

/// Gives each leaf of a tree its full name.
struct FormFields: Sendable {
    struct Pair: Sendable, Equatable {
        var name: String
        var value: FormLeaf
    }

    let array: URLEncodedFormEncoder.ArrayEncoding
    let key: URLEncodedFormEncoder.KeyEncoding
    let keyPath: URLEncodedFormEncoder.KeyPathEncoding
    let isSorted: Bool

    func pairs(of value: FormValue) throws(ParameterEncodingError) -> [Pair] {
        guard case .object(let members) = value else {
            throw ParameterEncodingError(
                .notAnObject, "the parameters are no object, and a form needs names: encode a struct or a dictionary with texts for keys")
        }
        var pairs: [Pair] = []
        for (name, value) in self.named(members) { self.append(value, name: name, to: &pairs) }
        return pairs
    }

    private func named(_ members: [FormValue.Member]) -> [(name: String, value: FormValue)] {
        let named = members.map { (name: self.key.encode($0.name), value: $0.value) }
        guard self.isSorted else { return named }
        return named.enumerated().sorted { ($0.element.name, $0.offset) < ($1.element.name, $1.offset) }.map(\.element)
    }

    private func append(_ value: FormValue, name: String, to pairs: inout [Pair]) {
        switch value {
        case .leaf(let leaf): pairs.append(Pair(name: name, value: leaf))
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                self.append(element, name: self.array.encode(name, atIndex: index), to: &pairs)
            }
        case .object(let members):
            for (key, value) in self.named(members) { self.append(value, name: name + self.keyPath.encode(key), to: &pairs) }
        }
    }
}

extension URLEncodedFormEncoder {
    /// How the names of members are spelled, each for itself.
    public enum KeyEncoding: Sendable {
        case useDefaultKeys
        /// `oneTwoThree` becomes `one_two_three`, `myURL` becomes `my_url`.
        case convertToSnakeCase
        /// `oneTwoThree` becomes `one-two-three`.
        case convertToKebabCase
        /// The first letter alone: `oneTwoThree` becomes `OneTwoThree`.
        case capitalized
        case uppercased
        case lowercased
        case custom(@Sendable (String) -> String)

        func encode(_ key: String) -> String {
            switch self {
            case .useDefaultKeys: key
            case .convertToSnakeCase: Self.words(of: key).joined(separator: "_")
            case .convertToKebabCase: Self.words(of: key).joined(separator: "-")
            case .capitalized: key.prefix(1).uppercased() + key.dropFirst()
            case .uppercased: key.uppercased()
            case .lowercased: key.lowercased()
            case .custom(let encode): encode(key)
            }
        }

        /// In lower case. A word begins with an upper-case letter behind another character, or with the last one of several.
        private static func words(of key: String) -> [String] {
            let characters = Array(key)
            var words: [String] = [""]
            for (index, character) in characters.enumerated() {
                if index > 0, character.isUppercase, characters[index - 1].isLetter || characters[index - 1].isNumber,
                    !characters[index - 1].isUppercase || index + 1 < characters.count && characters[index + 1].isLowercase
                {
                    words.append("")
                }
                words[words.count - 1] += character.lowercased()
            }
            return words
        }
    }
}
