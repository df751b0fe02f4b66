public import Foundation

extension HTTPSession {
    /// Writes an `Encodable` object as `application/x-www-form-urlencoded`: `name=value&list[]=1&list[]=2&object[key]=value`.
    ///
    /// Names are sorted within each object, so that recordings are stable; the elements of a list keep their order.
    public struct URLEncodedFormEncoder: Sendable {
        /// ASCII letters and digits, `-._~`, and `/` and `?`, which need no escape in a query (RFC 3986, 3.4).
        public static let queryAllowed = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/?")

        /// Whether names are sorted. Unsorted, the form of a dictionary differs from run to run, since dictionaries have no order.
        public var alphabetizeKeyValuePairs: Bool
        public var arrayEncoding: ArrayEncoding
        public var boolEncoding: BoolEncoding
        public var dataEncoding: DataEncoding
        public var dateEncoding: DateEncoding
        public var keyEncoding: KeyEncoding
        public var keyPathEncoding: KeyPathEncoding
        public var nilEncoding: NilEncoding
        public var spaceEncoding: SpaceEncoding
        /// Characters that are written unescaped; only ASCII ones have an effect. All others are percent-encoded as UTF-8.
        public var allowedCharacters: CharacterSet

        public init(
            alphabetizeKeyValuePairs: Bool = true, arrayEncoding: ArrayEncoding = .brackets, boolEncoding: BoolEncoding = .numeric,
            dataEncoding: DataEncoding = .base64, dateEncoding: DateEncoding = .deferredToDate, keyEncoding: KeyEncoding = .useDefaultKeys,
            keyPathEncoding: KeyPathEncoding = .brackets, nilEncoding: NilEncoding = .dropKey,
            spaceEncoding: SpaceEncoding = .percentEscaped,
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

        /// - Throws: `ParameterEncodingError` if the value is not an object, or if a closure or the value itself throws.
        public func encode(_ value: some Encodable) throws -> String {
            self.write(try self.fields.pairs(of: try FormValueEncoder.value(of: value, self.leaves)))
        }

        /// The form as UTF-8.
        public func encode(_ value: some Encodable) throws -> Data { Data(try self.encode(value).utf8) }

        var fields: FormFields {
            FormFields(
                array: self.arrayEncoding, key: self.keyEncoding, keyPath: self.keyPathEncoding, isSorted: self.alphabetizeKeyValuePairs)
        }

        var leaves: FormValue.LeafRule {
            FormValue.LeafRule(
                bool: self.boolEncoding.encode, data: { try self.dataEncoding.encode($0).map { .text($0) } },
                date: self.dateEncoding.encode,
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
                    case .bytes(let bytes): bytes.base64EncodedString()
                    }
                return encoder.encode(pair.name) + "=" + encoder.encode(value)
            }.joined(separator: "&")
            guard case .plusReplaced = self.spaceEncoding else { return form }
            return String(form.map { $0 == " " ? "+" : $0 })
        }
    }
}

extension HTTPSession.URLEncodedFormEncoder {
    /// How the elements of a list are named.
    public enum ArrayEncoding: Sendable {
        /// `key[]`
        case brackets
        /// `key`
        case noBrackets
        /// `key[0]`
        case indexInBrackets
        /// From the list's name and the element's index, from 0.
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

    public enum DataEncoding: Sendable {
        /// As `Data` encodes itself: a list of numbers.
        case deferredToData
        case base64
        case custom(@Sendable (Data) throws -> String)

        /// Nil if the value encodes itself.
        func encode(_ data: Data) throws -> String? {
            switch self {
            case .deferredToData: nil
            case .base64: data.base64EncodedString()
            case .custom(let encode): try encode(data)
            }
        }
    }

    public enum DateEncoding: Sendable {
        /// As `Date` encodes itself: seconds since 2001-01-01T00:00:00Z.
        case deferredToDate
        /// With a decimal: `1.0`.
        case secondsSince1970
        /// With a decimal: `1000.0`.
        case millisecondsSince1970
        /// `1970-01-01T00:00:01Z` (RFC 3339), without fractions of a second.
        case iso8601
        case formatted(DateFormatter)
        case custom(@Sendable (Date) throws -> String)

        /// Nil if the value encodes itself.
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

    /// How the name of a member is spelled, apart from its path.
    public enum KeyEncoding: Sendable {
        case useDefaultKeys
        /// `oneTwoThree` becomes `one_two_three`, `myURL` becomes `my_url`.
        case convertToSnakeCase
        /// `oneTwoThree` becomes `one-two-three`.
        case convertToKebabCase
        /// Only the first letter: `oneTwoThree` becomes `OneTwoThree`.
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

        /// In lower case. A word begins at an upper-case letter after a lower-case letter or a digit, or at the last of several upper-case
        /// ones.
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

    /// How the name of a nested member follows its object's name.
    public enum KeyPathEncoding: Sendable {
        /// `parent[child][grandchild]`
        case brackets
        /// `parent.child.grandchild`
        case dots
        /// Makes the text that follows the parent's name from the child's name.
        case custom(@Sendable (String) -> String)

        func encode(_ key: String) -> String {
            switch self {
            case .brackets: "[\(key)]"
            case .dots: ".\(key)"
            case .custom(let encode): encode(key)
            }
        }
    }

    public enum NilEncoding: Sendable {
        /// Leaves out the name as well.
        case dropKey
        /// `key=`
        case dropValue
        /// `key=null`
        case null
        case custom(@Sendable () -> String)

        /// Nil if the name is left out.
        func encode() -> String? {
            switch self {
            case .dropKey: nil
            case .dropValue: ""
            case .null: "null"
            case .custom(let encode): encode()
            }
        }
    }

    public enum SpaceEncoding: Sendable, Hashable {
        /// `%20`
        case percentEscaped
        /// `+` (WHATWG URL, 5.2)
        case plusReplaced
    }
}
