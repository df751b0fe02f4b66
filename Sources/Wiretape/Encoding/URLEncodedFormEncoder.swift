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
