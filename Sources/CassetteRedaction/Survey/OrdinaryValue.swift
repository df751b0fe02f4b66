internal import CassetteModel
internal import TapeBytes

/// Values that occur under secrets' names but are not secret: words, short numbers, dates, places, masks, templates.
enum OrdinaryValue {
    /// Kinds whose values are chosen by people, who also use words and numbers.
    private static let chosen: Set<String> = ["password", "secret", "client_secret", "userinfo"]
    /// Kinds that APIs use for nothing else, so that even a word is a chosen secret.
    private static let certain: Set<String> = ["access_token", "refresh_token", "id_token", "api-key", "aws-key"]
    /// Kinds whose values are usually numbers.
    private static let numeric: Set<String> = ["code"]

    /// The most letters of a word without digits; a longer one may be a token.
    private static let wordLimit = 16
    /// The fewest digits of a number that may be a token.
    private static let digitLimit = 8

    /// Whether a value under the name of a secret of this kind is not a secret, judging by its appearance.
    static func isOrdinary(_ value: UnsafeRawBufferPointer, kind: String) -> Bool {
        guard let first = value.first else { return true }
        // Most tokens are recognised by a digit, a letter, and no other characters.
        var (letters, digits, others, wide, blanks) = (0, 0, 0, 0, 0)
        for byte in value.prefix(256) {
            if (byte | 32) >= 97, (byte | 32) <= 122 {
                letters += 1
            } else if byte >= 48, byte <= 57 {
                digits += 1
            } else if byte >= 128 {
                wide += 1
            } else if byte <= 32 {
                blanks += 1
            } else {
                others += 1
            }
        }
        if self.isMask(value, first) || self.isNamedMask(value) || self.isTemplate(value, first) { return true }
        guard !self.chosen.contains(kind) else {
            if kind == "password", self.isRequirement(value) { return true }
            // The label of a field: `"password": "Password"`.
            return first >= 65 && first <= 90 && value.dropFirst().allSatisfy { $0 >= 97 && $0 <= 122 } && SecretNames.isName(value)
        }
        if self.numeric.contains(kind) { return digits == 0 && value.count < self.wordLimit }
        // A token of a language model, or of a market: `BTC-USDT`.
        if kind == "token" {
            if first == 32 || self.isTicker(value) || value.starts(with: "#/".utf8) { return true }
            // A special token of a language model, a type, a condition: `<|endoftext|>`, `image/png`, `string(64)`.
            if digits == 0, !value.contains(UInt8(ascii: "\"")),
                value.count < self.wordLimit || first == UInt8(ascii: "<") || first == UInt8(ascii: "[")
            {
                return true
            }
            if value.last == UInt8(ascii: ")"), let open = value.firstIndex(of: UInt8(ascii: "(")),
                value[..<open].allSatisfy({ ($0 | 32) >= 97 && ($0 | 32) <= 122 || $0 == UInt8(ascii: "_") })
            {
                return true
            }
        }
        if letters > 0, letters <= 2, self.isDateTime(value) { return true }
        if letters == 0, wide == 0 { return digits == 0 || self.isNumbers(value) }
        if kind == "session", self.isResource(value) { return true }
        if digits == 0, blanks > 0 { return others * 4 <= letters + wide }
        if digits == 0, others == 0 {
            return wide > 0 ? PlainWords.isLetters(value) : letters < self.wordLimit && !self.certain.contains(kind)
        }
        return NamedValue.isLocation(value[...])
    }

    /// The same for a value in a URL's query or a form, where labels of fields do not occur.
    static func isOrdinary(parameter value: [UInt8], kind: String) -> Bool {
        !self.chosen.contains(kind) && !self.numeric.contains(kind) && value.withUnsafeBytes { self.isOrdinary($0, kind: kind) }
    }

    /// Whether a decoded value in a URL's query or a form is short numbers with separators, such as a date. Other decoded values may be secrets
    /// even if they look like paths: base64 may begin with a slash.
    static func isDate(parameter value: [UInt8], kind: String) -> Bool {
        guard !self.chosen.contains(kind), !self.numeric.contains(kind) else { return false }
        return value.withUnsafeBytes { self.isNumbers($0) || self.isDateTime($0) }
    }

    /// Whether a number in JSON or a binary format is not a secret.
    static func isOrdinary(number: Int, kind: String) -> Bool {
        let isShort = self.chosen.contains(kind) || self.numeric.contains(kind) ? number < 1000 : number < 10_000_000
        return isShort
    }

    /// Words of messages about what a password has to be.
    private static let requirements: Set<String> = [
        "character", "characters", "minimum", "maximum", "least", "most", "must", "should", "required", "short", "long", "invalid",
        "digits",
        "letters", "attempts", "minutes", "days",
    ]

    /// A sentence about a password, whose numbers are short: `must be at least 8 characters`, `is too short (minimum is 8 characters)`.
    private static func isRequirement(_ value: UnsafeRawBufferPointer) -> Bool {
        let words = value.prefix(256).split { $0 <= 32 || "().,:;!".utf8.contains($0) }
        guard words.count >= 4, value.count <= 256 else { return false }
        func isNumber(_ word: Slice<UnsafeRawBufferPointer>) -> Bool { word.count <= 3 && word.allSatisfy { $0 >= 48 && $0 <= 57 } }
        func isWord(_ word: Slice<UnsafeRawBufferPointer>) -> Bool {
            word.allSatisfy { ($0 | 32) >= 97 && ($0 | 32) <= 122 || $0 == UInt8(ascii: "'") }
        }
        return words.allSatisfy { isNumber($0) || isWord($0) }
            && words.count { self.requirements.contains(String(decoding: $0, as: UTF8.self).lowercased()) } >= 2
    }

    /// `********`, `xxxxxxxx`
    private static func isMask(_ value: UnsafeRawBufferPointer, _ first: UInt8) -> Bool {
        guard first == UInt8(ascii: "*") || first | 32 == UInt8(ascii: "x") || first == UInt8(ascii: "#"), value.count >= 3 else {
            return false
        }
        return value.allSatisfy { $0 == first }
    }

    /// A text in place of a value: `<redacted>`, `[FILTERED]`, `REDACTED`.
    private static func isNamedMask(_ value: UnsafeRawBufferPointer) -> Bool {
        guard value.count <= 24 else { return false }
        let word = String(decoding: value.filter { !"<>[](){}*_-. ".utf8.contains($0) }, as: UTF8.self).lowercased()
        return ["redacted", "filtered", "masked", "removed", "hidden", "sanitized", "scrubbed"].contains(word)
    }

    /// The longest template, in bytes.
    private static let templateLimit = 128

    /// A whole value that a program replaces: `{{ vault_password }}`, `${DB_PASSWORD}`, `$DB_PASSWORD`, `%env(DB)%`. Its name has no digit, since
    /// people put such marks around passwords as well, and no default value.
    private static func isTemplate(_ value: UnsafeRawBufferPointer, _ first: UInt8) -> Bool {
        guard value.count > 3, value.count <= self.templateLimit else { return false }
        func isName(_ bytes: Slice<UnsafeRawBufferPointer>, _ marks: StaticString) -> Bool {
            let marks = UnsafeBufferPointer(start: marks.utf8Start, count: marks.utf8CodeUnitCount)
            func isLetter(_ byte: UInt8) -> Bool { (byte | 32) >= 97 && (byte | 32) <= 122 }
            return bytes.contains(where: isLetter) && bytes.allSatisfy { isLetter($0) || $0 == UInt8(ascii: "_") || marks.contains($0) }
        }
        func isVariable(_ name: Slice<UnsafeRawBufferPointer>) -> Bool {
            name.contains(UInt8(ascii: "_")) && name.allSatisfy { $0 >= 65 && $0 <= 90 || $0 == UInt8(ascii: "_") }
        }
        switch first {
        case UInt8(ascii: "{"):
            return value.starts(with: "{{".utf8) && value.suffix(2).elementsEqual("}}".utf8)
                && isName(value.dropFirst(2).dropLast(2), " .-") && !Placeholder.isAll(value)
        case UInt8(ascii: "$") where value[1] == UInt8(ascii: "{"):
            return value.last == UInt8(ascii: "}") && isName(value.dropFirst(2).dropLast(), ".")
        case UInt8(ascii: "$"):
            // A password may begin with a dollar sign, too, but is rarely the name of a variable.
            return isVariable(value.dropFirst())
        case UInt8(ascii: "%"):
            let isCall = value.starts(with: "%env(".utf8) && value.suffix(2).elementsEqual(")%".utf8)
            return isCall ? isName(value.dropFirst(5).dropLast(2), ":") : value.last == first && isVariable(value.dropFirst().dropLast())
        default: return false
        }
    }

    /// Capitals with a hyphen or a slash between them.
    private static func isTicker(_ value: UnsafeRawBufferPointer) -> Bool {
        value.count <= self.wordLimit && value.allSatisfy { $0 >= 65 && $0 <= 90 || "-/_.".utf8.contains($0) }
    }

    /// A date with a time (RFC 3339, 5.6).
    private static func isDateTime(_ value: UnsafeRawBufferPointer) -> Bool {
        guard value.count >= 16, value.count <= 35, value[10] | 32 == UInt8(ascii: "t") else { return false }
        let rest = value.dropFirst(11).dropLast(value.last.map { $0 | 32 == UInt8(ascii: "z") } == true ? 1 : 0)
        return [value[..<10], rest].allSatisfy { part in
            part.allSatisfy { $0 >= 48 && $0 <= 57 || "-:.+".utf8.contains($0) }
                && part.split { $0 < 48 || $0 > 57 }.allSatisfy { $0.count < 10 }
        }
    }

    /// The id of a Twilio resource, which is called `sid`: two capitals and 32 digits.
    private static func isResource(_ value: UnsafeRawBufferPointer) -> Bool {
        value.count == 34 && value.prefix(2).allSatisfy { $0 >= 65 && $0 <= 90 }
            && value.dropFirst(2).allSatisfy { Hex.value($0) != nil || $0 == UInt8(ascii: "X") }
    }

    /// Whether a value is short numbers with separators: a date, a version, a position in a list.
    private static func isNumbers(_ value: UnsafeRawBufferPointer) -> Bool {
        let groups = value.split { $0 < 48 || $0 > 57 }
        return groups.allSatisfy { $0.count < self.digitLimit } && value.count <= 32
            && value.allSatisfy { $0 >= 48 && $0 <= 57 || "/-:. _,+".utf8.contains($0) }
    }
}

/// Recognises words of natural languages by their letters.
enum PlainWords {
    /// Whether a text contains only letters of any script, their marks, and the characters between words of a sentence.
    static func isLetters(_ bytes: some Collection<UInt8>) -> Bool {
        var hasLetter = false
        var isASCII = true
        for byte in bytes {
            if (byte | 32) >= 97, (byte | 32) <= 122 {
                hasLetter = true
            } else if byte >= 128 {
                isASCII = false
            } else if !self.mayDivide(byte) {
                return false
            }
        }
        guard !isASCII else { return hasLetter }
        guard Array(bytes).withUnsafeBytes({ UTF8Validator.isValid($0) }) else { return false }
        return String(decoding: bytes, as: UTF8.self).unicodeScalars.allSatisfy { scalar in
            if scalar.value < 128 { return true }
            switch scalar.properties.generalCategory {
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark, .spacingMark,
                .enclosingMark, .initialPunctuation, .finalPunctuation, .otherPunctuation, .dashPunctuation, .openPunctuation,
                .closePunctuation, .spaceSeparator, .format:
                return true
            default: return false
            }
        }
    }

    /// Words of labels and of names in programs.
    private static let labels: Set<String> = ["password", "passwort", "label", "field"]
    private static let labelLimit = 64

    /// Whether a text is the label of a field or a name in a program, rather than a secret: words with signs or markup, and one of the words
    /// that labels have, or letters of a language: `Kennwort*`, `login-password-2`, `Clé_API`. A digit stands alone.
    static func isLabel(_ bytes: [UInt8]) -> Bool {
        guard bytes.count <= self.labelLimit else { return false }
        var before = UInt8(ascii: "a")
        var digits = 0
        for byte in bytes {
            if byte >= 48, byte <= 57 {
                digits += 1
                guard digits == 1, "-_ ".utf8.contains(before) else { return false }
            }
            before = byte
        }
        let words = bytes.filter { !($0 >= 48 && $0 <= 57) && !"_*<>/&;[]".utf8.contains($0) }
        guard self.isLetters(words) else { return false }
        if digits == 0, words.contains(where: { $0 >= 128 }) || bytes.last == UInt8(ascii: "*") { return true }
        // Whole words: a passphrase may contain the letters of one.
        let parts = bytes.split { ($0 | 32) < 97 || ($0 | 32) > 122 }.map { String(decoding: $0, as: UTF8.self).lowercased() }
        return !self.labels.isDisjoint(with: parts)
    }

    private static func mayDivide(_ byte: UInt8) -> Bool { byte == 32 || "'.,:!?-()".utf8.contains(byte) }
}
