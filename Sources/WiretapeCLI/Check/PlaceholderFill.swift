internal import CassetteRedaction
internal import TapeBytes
internal import TapeProxy

/// Values for the placeholders in a cassette's requests, from the environment. They are sent to the origin only.
struct PlaceholderFill {
    /// `authorization:1=API_TOKEN`: a placeholder, and the variable that holds its value.
    struct Source: Sendable, Hashable {
        let placeholder: Placeholder
        let variable: String

        init(_ text: String) throws(SettingError) {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let bytes = Array("{{\(parts.first ?? "")}}".utf8)
            let found = bytes.withUnsafeBytes { Placeholder.spelled(in: $0, at: 0) }
            guard parts.count == 2, !parts[1].isEmpty, let found, found.length == bytes.count else {
                throw SettingError(
                    "\"\(text)\" is not a placeholder with a variable; write KIND:NUMBER=NAME, for example authorization:1=API_TOKEN")
            }
            (self.placeholder, self.variable) = (found.placeholder, String(parts[1]))
        }
    }

    /// The place of a placeholder, which decides how its value is escaped.
    enum Place {
        case target
        case field
        case body(_ contentType: String)
    }

    /// The prefix that `--secret-env` gives to the kind of a variable's value.
    private static let environmentKind = "env-"

    private var values: [Placeholder: [UInt8]] = [:]

    init() {}

    /// Throws if a variable is not set, or its value has control characters.
    init(_ sources: [Source], environment: @escaping (String) -> [UInt8]? = EnvironmentSecret.value) throws(SettingError) {
        for source in sources {
            guard let value = environment(source.variable), !value.isEmpty else {
                throw SettingError("the environment has no \"\(source.variable)\" for \(source.placeholder): set it, or omit --fill.")
            }
            guard !value.contains(where: { $0 < 32 || $0 == 127 }) else {
                throw SettingError("the value of \"\(source.variable)\" has a line end or another control character: remove it.")
            }
            self.values[source.placeholder] = value
        }
    }

    /// The values that `--secret-env` replaced. No rule would find them by their place.
    var secrets: RedactionRules {
        let secrets = self.values.filter { $0.key.kind.hasPrefix(Self.environmentKind) }.map {
            SecretValue(name: String($0.key.kind.dropFirst(Self.environmentKind.count)), bytes: $0.value)
        }
        // Values that are too short to search for were not replaced either.
        return secrets.compactMap { try? RedactionRules(rules: [], secrets: [$0]) }.reduce(.standard) { $0.adding($1) }
    }

    func hasPlaceholder(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { text in text.indices.contains { Placeholder.length(in: text, at: $0) != nil } }
    }

    func filled(_ text: String, _ place: Place) throws(LiveRequest.LeftOut) -> String {
        String(decoding: try self.filled(Array(text.utf8), place), as: UTF8.self)
    }

    /// Throws if a placeholder's value is not known.
    func filled(_ bytes: [UInt8], _ place: Place) throws(LiveRequest.LeftOut) -> [UInt8] {
        var filled: [UInt8] = []
        var index = 0
        while index < bytes.count {
            guard let found = bytes.withUnsafeBytes({ Placeholder.spelled(in: $0, at: index) }) else {
                filled.append(bytes[index])
                index += 1
                continue
            }
            guard let value = self.values[found.placeholder] else {
                let name = "\(found.placeholder.kind):\(found.placeholder.number)"
                throw LiveRequest.LeftOut(
                    reason: "it holds \(found.placeholder), whose value is not known: --fill \(name)=NAME takes it from a variable")
            }
            let isEscaped = bytes[index] == UInt8(ascii: "%")
            filled += isEscaped ? Self.percentEncoded(value) : Self.written(value, place)
            index += found.length
        }
        return filled
    }

    private static func written(_ value: [UInt8], _ place: Place) -> [UInt8] {
        switch place {
        case .target: return self.percentEncoded(value)
        case .field: return value
        case .body(let type):
            let type = type.lowercased()
            if type.hasPrefix("application/x-www-form-urlencoded") { return self.percentEncoded(value) }
            guard type.contains("json") else { return value }
            var writer = JSONWriter()
            writer.string(String(decoding: value, as: UTF8.self))
            return Array(writer.bytes.dropFirst().dropLast())
        }
    }

    private static func percentEncoded(_ value: [UInt8]) -> [UInt8] {
        value.flatMap { byte -> [UInt8] in
            switch byte {
            case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): return [byte]
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                return Array("%\(digits.count == 1 ? "0" : "")\(digits)".utf8)
            }
        }
    }
}
