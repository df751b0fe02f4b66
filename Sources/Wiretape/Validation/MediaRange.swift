internal import CassetteModel

/// One media range of an `Accept` field with its weight (RFC 9110, 12.5.1).
struct MediaRange: Sendable, Hashable {
    /// In lower case; `*` for any.
    let type: String
    let subtype: String
    /// Those that a content type must have too, in lower case but for their values.
    let parameters: [String: String]
    /// From 0, which refuses, to 1.
    let weight: Double

    /// Nil for what is no media range. `*` alone is any, as some clients send it.
    init?(_ text: some StringProtocol) {
        let value = MIMEParameters(text.utf8)
        let names = value.value == "*" ? ["*", "*"] : value.value.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard names.count == 2, names.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(HTTPHeaders.isTokenCharacter) }),
            names[0] != "*" || names[1] == "*"
        else { return nil }
        (self.type, self.subtype) = (names[0], names[1])
        var parameters: [String: String] = [:]
        var weight = 1.0
        for parameter in value.parameters {
            let text = String(decoding: parameter.value, as: UTF8.self)
            // What follows the weight is no parameter of the type.
            if parameter.name == "q" {
                weight = Double(text).map { min(max($0, 0), 1) } ?? 1
                break
            }
            parameters[parameter.name] = text
        }
        self.parameters = parameters
        self.weight = weight
    }

    /// Of several ranges the most specific one counts: `type/subtype;parameter`, `type/subtype`, `type/*`, `*/*`.
    var precedence: Int { (self.type == "*" ? 0 : 1) + (self.subtype == "*" ? 0 : 1) + self.parameters.count }

    /// - Parameter other: a content type.
    func includes(_ other: MediaRange) -> Bool {
        guard self.type == "*" || self.type == other.type, self.subtype == "*" || self.subtype == other.subtype else { return false }
        return self.parameters.allSatisfy { other.parameters[$0]?.lowercased() == $1.lowercased() }
    }
}
