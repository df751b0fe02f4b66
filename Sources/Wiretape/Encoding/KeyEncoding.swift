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
