internal import CassetteModel
internal import TapeBytes

/// Classifies a value next to a secret's name by its appearance.
enum NamedValue {
    /// The longest secret, in bytes; a longer value is a document.
    static let limit = 64 << 10

    /// The secret in a value; nil if it contains none.
    static func finding(
        in text: UnsafeRawBufferPointer, _ range: Range<Int>, _ meaning: SecretNames.Meaning, _ spelling: Finding.Spelling
    ) -> Finding? {
        let value = UnsafeRawBufferPointer(rebasing: text[range])
        guard !value.isEmpty, !value.allSatisfy({ $0 <= 32 }), !Placeholder.isAll(value),
            meaning.followsScheme || !OrdinaryValue.isOrdinary(value, kind: meaning.kind)
        else { return nil }
        if meaning.isEveryday, Self.isOfEveryday(value) || Self.isWord(value[...]) { return nil }
        if meaning.mayBeFolder, Self.isFolder(value) { return nil }
        if meaning.isPhrase, !SeedPhrase.isAll(value), !Self.looksLikeKey(value) { return nil }
        if Self.isTerm(value) { return nil }
        if meaning.isCompound,
            !Self.looksLikePassword(value) && !(meaning.kind == "password" && Self.isNumber(value)) || Self.isLocation(value[...])
        {
            return nil
        }
        if meaning.needsKeyShape, !(meaning.isPlural ? Self.looksLikeToken(value) : Self.looksLikeKey(value)) { return nil }
        guard let secret = spelling.decode(value), !Placeholder.isAll(secret) else { return nil }
        // `sid=07%2F07%2F23` is a date.
        let isParameter = spelling == .query || spelling == .form
        guard !isParameter || meaning.isRuled || !OrdinaryValue.isDate(parameter: secret, kind: meaning.kind) else { return nil }
        return Finding(kind: meaning.kind, range: range, secret: secret, spelling: spelling, isSure: meaning.isSure)
    }

    /// Whether a value may be a secret in a place that also occurs in programs and sentences: it is not prose, a template, a location, a
    /// name or a word.
    static func mayBeSecret(_ value: Slice<UnsafeRawBufferPointer>) -> Bool {
        guard !value.isEmpty, !Self.isProse(value), !Self.isTemplate(value), !Self.isLocation(value),
            UTF8Validator.isValid(UnsafeRawBufferPointer(rebasing: value))
        else { return false }
        return !String(decoding: value.prefix(16), as: UTF8.self).lowercased().hasPrefix("your") && !SecretNames.isName(value)
            && !Self.isWord(value) && value.contains { FormSpelling.isAlphanumeric($0) || $0 >= 128 }
    }

    /// Whether a value under a name that is also an everyday word is not a secret: a sentence, an outcome, a short number.
    static func isOfEveryday(_ value: UnsafeRawBufferPointer) -> Bool {
        guard Self.mayBeSecret(value[...]) else { return true }
        if value.count < 4, value.allSatisfy({ $0 >= 48 && $0 <= 57 }) { return true }
        return value.count <= 16 && Self.outcomes.contains(String(decoding: value, as: UTF8.self).lowercased())
    }

    /// Outcomes of tests, and modes of `fetch` (Fetch Standard, 5.3).
    private static let outcomes: Set<String> = [
        "pass", "passed", "passes", "passing", "fail", "failed", "failure", "ok", "success", "skip", "skipped", "warn", "warning",
        "partial",
        "pending", "done", "error", "inconclusive", "include", "omit", "same-origin", "public-key", "no", "low", "high", "all",
    ]

    /// Whether a value is the name of a term in a vocabulary, as in JSON-LD contexts: `https://w3id.org/security#secret`.
    private static func isTerm(_ value: UnsafeRawBufferPointer) -> Bool {
        guard value.starts(with: "http://".utf8) || value.starts(with: "https://".utf8),
            let mark = value.lastIndex(where: { $0 == UInt8(ascii: "#") || $0 == UInt8(ascii: "/") })
        else { return false }
        return SecretNames.isName(value[(mark + 1)...]) && !value.contains { "@?=".utf8.contains($0) }
    }

    /// Whether a value is several words without a digit, as in labels and error messages.
    private static func isProse(_ value: Slice<UnsafeRawBufferPointer>) -> Bool {
        value.contains(32) && !value.contains { $0 >= 48 && $0 <= 57 }
    }

    /// Whether a value is a template placeholder, or a variable.
    private static func isTemplate(_ slice: Slice<UnsafeRawBufferPointer>) -> Bool {
        let value = UnsafeRawBufferPointer(rebasing: slice)
        if Placeholder.isWhole(value) { return true }
        if ["${", "{{", "<%", "#{", "$(", " + "].contains(where: { ByteSearch.contains($0, in: value) }) { return true }
        guard let first = value.first, first == UInt8(ascii: "$") || first == UInt8(ascii: "<") || first == UInt8(ascii: "%") else {
            return false
        }
        // `$name`, `%name%`, `$env:NAME`
        return first == UInt8(ascii: "<")
            || value.dropFirst().allSatisfy { ($0 | 32) >= 97 && ($0 | 32) <= 122 || "_%:".utf8.contains($0) }
    }

    /// The first names of paths to working folders.
    private static let roots: Set<String> = [
        "home", "Users", "root", "tmp", "var", "srv", "usr", "opt", "mnt", "private", "workspace", "workspaces", "builds", "app", "code",
        "data",
    ]

    /// Whether a value is the path of a folder. A password may begin with a slash as well.
    private static func isFolder(_ value: UnsafeRawBufferPointer) -> Bool {
        guard value.first == UInt8(ascii: "/"), self.isLocation(value[...]) else { return false }
        return self.roots.contains(String(decoding: value.dropFirst().prefix { $0 != UInt8(ascii: "/") }, as: UTF8.self))
    }

    /// Whether a value is a path, or a URL without user and parameters: `token: "/oauth/token"` tells where tokens are.
    static func isLocation(_ value: Slice<UnsafeRawBufferPointer>) -> Bool {
        var path = value
        if let colon = value.firstIndex(of: UInt8(ascii: ":")), value[colon...].starts(with: "://".utf8),
            value[..<colon].allSatisfy({ FormSpelling.isAlphanumeric($0) || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") })
        {
            guard colon > value.startIndex, !value.contains(where: { "@?#".utf8.contains($0) }) else { return false }
            path = value[(colon + 2)...]
        } else {
            guard ["/", "./", "../", "~/"].contains(where: { value.starts(with: $0.utf8) }) else { return false }
        }
        // A key can also begin with a slash, and contain further ones.
        return path.split(separator: UInt8(ascii: "/")).allSatisfy { !Self.looksLikeKey(UnsafeRawBufferPointer(rebasing: $0)) }
            && !path.contains { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: "+") }
    }

    static func isWord(_ value: Slice<UnsafeRawBufferPointer>) -> Bool {
        value.count <= 16 && Self.words.contains(String(decoding: value, as: UTF8.self).lowercased())
    }

    /// Types, states and empty values in programs and settings.
    private static let words: Set<String> = [
        "active", "any", "basic", "bearer", "bool", "boolean", "byte", "bytes", "char", "data", "default", "disabled", "empty", "enabled",
        "expired", "false", "float", "hidden", "int", "integer", "invalid", "masked", "missing", "never", "nil", "none", "null", "number",
        "object", "off", "on", "optional", "redacted", "required", "self", "str", "string", "string!", "string?", "text", "this", "true",
        "undefined", "unknown", "unset", "uuid", "valid", "varchar", "void", "yes",
    ]

    /// Whether a value is one long word of letters and digits that is neither a path nor a name made of words and numbers.
    static func looksLikeKey(_ value: UnsafeRawBufferPointer) -> Bool {
        guard value.count >= 16, !value.contains(where: { $0 <= 32 }) else { return false }
        let segments = value.split { "/._:-".utf8.contains($0) }
        if segments.count == 1 { return Self.hasDigitsAndLetters(value[...]) || Self.isRandomLetters(value) }
        // `uploads/2026/report.pdf`, `user:1234:profile`
        let isOfWords = segments.contains { $0.count >= 4 && $0.allSatisfy { $0 >= 97 && $0 <= 122 } }
        if isOfWords, value.contains(UInt8(ascii: "/")) || value.contains(UInt8(ascii: ":")) { return false }
        // The groups of a UUID form one number.
        let hex = value.filter { Hex.value($0) != nil }.count
        let isHex = hex >= 16 && hex + segments.count - 1 == value.count
        return isHex && Self.hasDigitsAndLetters(value[...]) || segments.contains { Self.looksRandom($0) }
    }

    private static func hasDigitsAndLetters(_ value: Slice<UnsafeRawBufferPointer>) -> Bool {
        value.contains { $0 >= 48 && $0 <= 57 } && value.contains { ($0 | 32) >= 97 && ($0 | 32) <= 122 }
    }

    /// Whether letters and digits alternate, or both cases and digits are mixed.
    private static func looksRandom(_ word: Slice<UnsafeRawBufferPointer>) -> Bool {
        guard word.count >= 10, Self.hasDigitsAndLetters(word) else { return false }
        var turns = 0
        for (one, other) in zip(word, word.dropFirst()) {
            let (isDigit, isNext) = (one >= 48 && one <= 57, other >= 48 && other <= 57)
            if isDigit != isNext { turns += 1 }
        }
        let hasBothCases = word.contains { $0 >= 97 && $0 <= 122 } && word.contains { $0 >= 65 && $0 <= 90 }
        return turns >= 3 || hasBothCases
    }

    /// Whether a value is one word that does not occur in sentences: with digits and letters, neither a date nor a special token of a
    /// language model.
    static func looksLikeToken(_ value: UnsafeRawBufferPointer) -> Bool {
        guard value.count >= 8, let first = value.first, FormSpelling.isAlphanumeric(first) else { return false }
        let digits = value.reduce(0) { $0 + ($1 >= 48 && $1 <= 57 ? 1 : 0) }
        let letters = value.reduce(0) { $0 + (($1 | 32) >= 97 && ($1 | 32) <= 122 ? 1 : 0) }
        return (digits >= 2 && letters >= 4 || self.isRandomLetters(value)) && !value.contains { $0 <= 32 || $0 >= 128 }
    }

    /// Whether a value is letters of both cases, as some random tokens are by chance: capitals are as many, or vowels are few. A name of
    /// several words has a capital for each.
    static func isRandomLetters(_ value: UnsafeRawBufferPointer) -> Bool {
        guard value.count >= 22, value.allSatisfy(FormSpelling.isAlphanumeric) else { return false }
        let capitals = value.count { $0 >= 65 && $0 <= 90 }
        let small = value.count { $0 >= 97 && $0 <= 122 }
        let vowels = value.count { "aeiou".utf8.contains($0 | 32) }
        return capitals * 3 >= value.count && small * 3 >= value.count
            || capitals * 6 >= value.count && small * 6 >= value.count && vowels * 4 < value.count
    }

    static func isNumber(_ value: UnsafeRawBufferPointer) -> Bool {
        value.count >= 4 && value.allSatisfy { $0 >= 48 && $0 <= 57 }
    }

    /// Whether a value is one word with a digit, as people choose passwords. Text about a password has several words, or no digit.
    static func looksLikePassword(_ value: UnsafeRawBufferPointer) -> Bool {
        value.count >= 6 && !value.contains { $0 <= 32 } && value.contains { $0 >= 48 && $0 <= 57 }
            && value.contains { ($0 | 32) >= 97 && ($0 | 32) <= 122 }
    }

    /// Whether a value is a name followed by a number, like program variables: `newPassword1`.
    static func isNumberedName(_ value: Slice<UnsafeRawBufferPointer>) -> Bool {
        let letters = value.prefix { ($0 | 32) >= 97 && ($0 | 32) <= 122 || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "$") }
        return !letters.isEmpty && value.dropFirst(letters.count).allSatisfy { $0 >= 48 && $0 <= 57 } && value.count - letters.count <= 2
    }

    /// Whether a value consists of names and numbers that programs have, with marks between them: `sha256Hash1`, `a.b2`, `x1+10`, a time.
    static func isExpression(_ value: Slice<UnsafeRawBufferPointer>) -> Bool {
        guard value.count <= Self.expressionLimit else { return false }
        let pieces = value.split { !FormSpelling.isAlphanumeric($0) && $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: "$") && $0 < 128 }
        return pieces.allSatisfy { Self.isQuantity($0) || Self.isNameOfProgram($0) }
    }

    private static let expressionLimit = 64

    /// `512`, `10ms`, `02T10`
    private static func isQuantity(_ piece: Slice<UnsafeRawBufferPointer>) -> Bool {
        let rest = piece.drop { $0 >= 48 && $0 <= 57 }
        guard rest.startIndex > piece.startIndex else { return false }
        if rest.first.map({ $0 | 32 }) == UInt8(ascii: "t") { return rest.dropFirst().allSatisfy { $0 >= 48 && $0 <= 57 } }
        return rest.count <= 3 && rest.allSatisfy { ($0 | 32) >= 97 && ($0 | 32) <= 122 }
    }

    /// Words with digits that are parts of names.
    private static let numberedWords = [
        "sha256", "sha384", "sha512", "sha1", "md5", "base64", "base32", "utf8", "utf16", "x509", "oauth2", "oauth1", "i18n", "l10n", "k8s",
        "int32", "int64", "uint8", "argon2", "pbkdf2", "ed25519", "aes128", "aes256", "hs256", "rs256", "ipv4", "ipv6", "ec2", "s3", "p12",
    ]

    /// Whether a text is words of letters, each with at most two digits at its end: `utf8Bytes16`, `next_token2`.
    private static func isNameOfProgram(_ piece: Slice<UnsafeRawBufferPointer>) -> Bool {
        var name = String(decoding: piece, as: UTF8.self)
        for word in Self.numberedWords where name.utf8.contains(where: { $0 >= 48 && $0 <= 57 }) {
            name = name.replacing(word, with: "_").replacing(word.uppercased(), with: "_")
        }
        var (letters, digits) = (0, 0)
        for byte in name.utf8 {
            switch byte {
            case 48...57:
                digits += 1
                // A variable of one letter is not followed by further words.
                guard letters > 1 || name.utf8.count <= 3, digits <= 2 else { return false }
            case UInt8(ascii: "_"), UInt8(ascii: "$"): (letters, digits) = (0, 0)
            case 65...90: (letters, digits) = digits > 0 ? (1, 0) : (letters + 1, 0)
            default:
                guard digits == 0 else { return false }
                letters += 1
            }
        }
        return true
    }

    /// Whether a line is the value of an assignment in a program, with further statements: `i.value1;o.user=n.value}`. Items of a connection
    /// string have no dots in their names.
    static func isStatement(_ line: Slice<UnsafeRawBufferPointer>) -> Bool {
        let statements = line.split(separator: UInt8(ascii: ";"))
        guard statements.count > 1, let first = statements.first else { return false }
        if self.isPathOfNames(first) || first.allSatisfy({ $0 >= 48 && $0 <= 57 }) { return true }
        if first.contains(UInt8(ascii: "[")), self.isExpression(first) { return true }
        return statements.dropFirst().contains { statement in
            let name = statement.prefix { $0 != UInt8(ascii: "=") }
            return name.count < statement.count && self.isPathOfNames(name)
        }
    }

    /// `a.b.c`
    static func isPathOfNames(_ value: Slice<UnsafeRawBufferPointer>) -> Bool {
        var isStart = true
        var length = 0
        for byte in value {
            if byte == UInt8(ascii: ".") {
                guard !isStart else { return false }
                (isStart, length) = (true, 0)
                continue
            }
            let isLetter = (byte | 32) >= 97 && (byte | 32) <= 122 || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$")
            length += 1
            guard isLetter || !isStart && byte >= 48 && byte <= 57, length < 20 else { return false }
            isStart = false
        }
        return value.contains(UInt8(ascii: "."))
    }
}
