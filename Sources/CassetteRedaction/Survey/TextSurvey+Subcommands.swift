internal import CassetteModel
internal import TapeBytes

// Commands whose password is an argument without a flag, or comes from their standard input: `vault login X`, `echo X | sudo -S`.
extension TextSurvey {
    /// Which argument is secret.
    private enum Argument {
        /// The one at this position among those that are no options.
        case at(Int)
        /// The part after a colon of the one at this position.
        case after(UInt8, Int)
        /// The values of all `NAME=VALUE`.
        case assignments
    }

    private struct Subcommand {
        let programs: [String]
        /// The last one has the anchor.
        let words: [String]
        let argument: Argument
    }

    private static let subcommands: [Subcommand] = [
        Subcommand(programs: ["vault", "bao", "cargo"], words: ["login"], argument: .at(0)),
        Subcommand(programs: ["bw"], words: ["login"], argument: .at(1)),
        Subcommand(programs: ["doppler"], words: ["secrets", "set"], argument: .at(1)),
        Subcommand(programs: ["dotnet"], words: ["user-secrets", "set"], argument: .at(1)),
        Subcommand(programs: ["mc", "mcli"], words: ["alias", "set"], argument: .at(3)),
        Subcommand(programs: ["fly", "flyctl", "supabase", "doppler"], words: ["secrets", "set"], argument: .assignments),
        Subcommand(programs: ["firebase"], words: ["functions:config:set"], argument: .assignments),
        Subcommand(programs: ["composer", "poetry"], words: ["config"], argument: .at(1)),
        Subcommand(programs: ["bundle"], words: ["config"], argument: .after(UInt8(ascii: ":"), 1)),
        Subcommand(programs: ["bundle"], words: ["config", "set"], argument: .after(UInt8(ascii: ":"), 1)),
        Subcommand(programs: ["pulumi"], words: ["config", "set"], argument: .at(1)),
        Subcommand(programs: ["snyk"], words: ["config", "set"], argument: .assignments),
        Subcommand(programs: ["npm", "pnpm"], words: ["config", "set"], argument: .at(1)),
    ]

    /// The most bytes of a command before its last fixed word, and the most words after it.
    private static let reach = 256
    private static let wordLimit = 12

    /// The words of the command before an offset, in lower case and without the path of a program.
    private mutating func words(before end: Int) -> [String] {
        var start = end
        let least = max(0, end - Self.reach)
        while start > least, self.bytes[start - 1] != 10, !";|&\"'`\\(){}<>".utf8.contains(self.bytes[start - 1]) { start -= 1 }
        self.work += end - start
        return self.bytes[start..<end].split(whereSeparator: { $0 <= 32 }).map { word in
            let slash = word.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? word.startIndex
            return String(decoding: word[slash...], as: UTF8.self).lowercased()
        }
    }

    /// Handles a command up to a word that is followed by a blank.
    ///
    /// - Parameter blank: the offset of the blank.
    mutating func subcommand(before blank: Int) {
        guard blank >= self.commandEnd, self.text.byte(blank) == 32 else { return }
        let words = self.words(before: blank)
        guard let last = words.last else { return }
        for command in Self.subcommands {
            guard command.words.last == last, words.contains(where: command.programs.contains) else { continue }
            let others = words.filter { !$0.hasPrefix("-") }
            guard others.suffix(command.words.count).elementsEqual(command.words) else { continue }
            let arguments = self.arguments(after: blank)
            self.add(command, arguments, of: words.first { ["composer", "poetry", "pulumi", "npm", "pnpm"].contains($0) })
        }
    }

    private mutating func arguments(after blank: Int) -> [Range<Int>] {
        var arguments: [Range<Int>] = []
        var words = CommandSurvey.Words(self.text, from: blank + 1, limit: 4096)
        for _ in 0..<Self.wordLimit {
            guard let word = words.next() else { break }
            self.work += word.count
            arguments.append(word)
        }
        return arguments
    }

    private mutating func add(_ command: Subcommand, _ words: [Range<Int>], of program: String?) {
        let arguments = words.filter { self.bytes[$0.lowerBound] != UInt8(ascii: "-") }
        switch command.argument {
        case .at(let index):
            guard index < arguments.count else { return }
            var index = index
            let name = self.bytes[arguments[0]]
            switch program {
            // `http-basic.HOST USER X`, `github-oauth.HOST X`, `pypi-token.NAME X`
            case "composer", "poetry":
                let kinds: [(String, Int)] = [
                    ("http-basic.", 2), ("github-oauth.", 1), ("gitlab-oauth.", 1), ("gitlab-token.", 1), ("bearer.", 1),
                    ("pypi-token.", 1),
                    ("bitbucket-oauth.", 2),
                ]
                guard let kind = kinds.first(where: { name.starts(with: $0.0.utf8) }), kind.1 < arguments.count else { return }
                index = kind.1
            case "pulumi": guard words.contains(where: { self.bytes[$0].elementsEqual("--secret".utf8) }) else { return }
            case "npm", "pnpm": guard name.elementsEqual("_auth".utf8) || name.suffix(7).elementsEqual(":_auth".utf8) else { return }
            default: break
            }
            self.addArgument(arguments[index])
        case .after(let mark, let index):
            guard index < arguments.count, let place = arguments[index].first(where: { self.bytes[$0] == mark }) else { return }
            let end = arguments[index].upperBound
            // The quotes of a password are within its word.
            if place + 1 == end, self.text.isQuote(self.text.byte(end)), let close = self.endOfLiteral(end) {
                return self.addArgument(end + 1..<close)
            }
            self.addArgument(place + 1..<end)
        case .assignments:
            for word in arguments {
                guard let equals = word.first(where: { self.bytes[$0] == UInt8(ascii: "=") }) else { continue }
                if equals + 1 == word.upperBound, self.text.isQuote(self.text.byte(equals + 1)), let close = self.endOfLiteral(equals + 1) {
                    self.addArgument(equals + 2..<close)
                } else {
                    self.addArgument(equals + 1..<word.upperBound)
                }
            }
        }
    }

    private mutating func addArgument(_ range: Range<Int>, kind: String = "password") {
        guard !range.isEmpty, range.lowerBound >= self.commandEnd, self.text.isWhole(range) else { return }
        let meaning = SecretNames.Meaning(kind: kind)
        let value = UnsafeRawBufferPointer(rebasing: self.bytes[range])
        guard self.isLikely(range, meaning) || NamedValue.looksLikeToken(value), value[0] != UInt8(ascii: "$"),
            !value.contains(UInt8(ascii: "=")) || value.count > 20
        else { return }
        self.commandEnd = range.upperBound
        self.addFree(range, meaning)
    }

    // MARK: Settings of programs

    private static let setters: Set<String> = [
        "set", "config", "configure", "env:set", "secrets:set", "config:set", "create", "export", "set-password", "modify", "mod",
        "connect",
        "update", "ngrok", "password",
    ]

    /// Handles `… config set NAME value`, and similar commands that set a value under a name. Returns whether it is one.
    ///
    /// - Parameter end: the end of the name, before a blank.
    mutating func setting(_ start: Int, _ end: Int, _ meaning: SecretNames.Meaning) -> Bool {
        guard self.text.byte(end) == 32, end >= self.commandEnd else { return false }
        var word = start
        while word > 0, start - word < 128, self.bytes[word - 1] > 32, !self.text.isQuote(self.bytes[word - 1]) { word -= 1 }
        guard word > 0, self.bytes[word - 1] <= 32 || self.text.isQuote(self.bytes[word - 1]) else { return false }
        let before = self.words(before: self.text.isQuote(self.bytes[word - 1]) ? word - 1 : word)
        guard before.suffix(4).contains(where: Self.setters.contains),
            before.count > 1 || before.first == "ngrok" || before.first == "export"
        else { return false }
        let next = self.text.skipBlanks(end)
        if self.text.isQuote(self.text.byte(next)), let close = self.endOfLiteral(next) {
            guard self.isLikely(next + 1..<close, meaning) else { return false }
            self.literal(next, meaning)
            return true
        }
        var words = CommandSurvey.Words(self.text, from: next, limit: 4096)
        guard let value = words.next(), self.bytes[value.lowerBound] != UInt8(ascii: "-") else { return false }
        self.work += value.count
        guard self.isLikely(value, meaning) else { return false }
        self.commandEnd = value.upperBound
        self.addFree(value, meaning)
        return true
    }

    /// Handles `git config github.token X`, whose name is a secret's only in a command.
    mutating func furtherSetting(_ start: Int, _ end: Int) -> Bool {
        guard self.isFree, let dot = (start..<end).last(where: { ".-_".utf8.contains(self.bytes[$0]) }),
            let meaning = self.meaning(dot + 1, end), !meaning.needsCompany, !meaning.needsKeyShape, meaning.syntax == .value
        else { return false }
        return self.setting(start, end, meaning)
    }

    /// Handles `-Dname=value`, `-Pname=value` and `-Xname=value`: properties of Java, Gradle and others. The hyphen and the letter count as
    /// part of the name.
    mutating func property(_ start: Int, _ end: Int) {
        guard self.isFree, end - start > 5, self.bytes[start] == UInt8(ascii: "-"), "DPXJ".utf8.contains(self.bytes[start + 1]),
            start == 0 || self.bytes[start - 1] <= 32 || self.text.isQuote(self.bytes[start - 1]), end >= self.valueEnd
        else { return }
        var meaning = self.meaning(start + 2, end)
        if meaning == nil, let dot = (start..<end).last(where: { self.bytes[$0] == UInt8(ascii: ".") }) {
            // `-Dsonar.login=X` is a token.
            meaning =
                self.meaning(dot + 1, end) ?? (self.text.isWord("sonar.login", endingAt: end) ? SecretNames.Meaning(kind: "token") : nil)
        }
        guard var meaning, !meaning.needsCompany, meaning.syntax == .value else { return }
        if self.text.isQuote(self.text.byte(end + 1)) { return self.literal(end + 1, meaning, hasDigit: true) }
        var words = CommandSurvey.Words(self.text, from: end + 1, limit: 4096)
        guard self.text.byte(end + 1).map({ $0 > 32 }) ?? false, let value = words.next() else { return }
        meaning.needsKeyShape = false
        if self.isLikely(value, meaning) { self.addFree(value, meaning) }
    }

    // MARK: Standard input

    /// Options of commands that read a secret from their standard input.
    private static let inputOptions: Set<String> = [
        "with-token", "password-stdin", "stdin", "passphrase-fd", "data-file", "api-token-stdin", "token-stdin",
    ]

    /// Handles `echo X | command --password-stdin` and `command --with-token <<< X`.
    ///
    /// - Parameter name: the name of an option, without its hyphens.
    mutating func input(ofOption name: Range<Int>) {
        guard name.count >= 5, name.count <= 16,
            Self.inputOptions.contains(String(decoding: self.bytes[name], as: UTF8.self).lowercased())
        else { return }
        self.input(ofCommandAt: name.lowerBound)
    }

    /// Handles `echo X | sudo -S`.
    mutating func input(ofFlag hyphen: Int) {
        guard self.text.byte(hyphen + 1) == UInt8(ascii: "S"), self.text.isWord("sudo ", endingAt: hyphen) else { return }
        self.input(ofCommandAt: hyphen)
    }

    /// Words after `secret`, as in `docker secret create s -` and `wrangler secret put X`.
    private static let secretCommands: [StaticString] = ["create", "put", "set"]

    /// Handles `echo X | docker secret create s -`, and `echo user:X | chpasswd`.
    ///
    /// - Parameter end: the end of a name, before a blank or the end of the line.
    mutating func input(ofName start: Int, _ end: Int) -> Bool {
        let next = self.text.skipBlanks(end)
        let isSecret =
            self.text.isWord("secret", endingAt: end) && end - start == 6
            && Self.secretCommands.contains { self.text.isWord($0, endingAt: next + $0.utf8CodeUnitCount) }
        guard isSecret else { return false }
        return self.input(ofCommandAt: start)
    }

    /// Handles the value that a command reads: before a bar in front of it, or after `<<<` behind it. Returns whether there is one.
    @discardableResult
    private mutating func input(ofCommandAt offset: Int) -> Bool {
        let least = max(0, offset - Self.reach)
        var bar = offset - 1
        while bar >= least, self.bytes[bar] != 10, self.bytes[bar] != UInt8(ascii: "|"), self.bytes[bar] != UInt8(ascii: ";") { bar -= 1 }
        self.work += offset - bar
        if bar > least, self.bytes[bar] == UInt8(ascii: "|") { return self.echoed(before: bar) }
        var end = offset
        let most = min(self.bytes.count, offset + Self.reach)
        while end < most, self.bytes[end] != 10, self.bytes[end] != UInt8(ascii: "<") { end += 1 }
        self.work += end - offset
        guard self.text.isWord("<<<", endingAt: end + 3) else { return false }
        return self.addInput(self.text.skipBlanks(end + 3))
    }

    /// Handles the last word of `echo X` and `printf '%s' X`.
    private mutating func echoed(before bar: Int) -> Bool {
        var start = bar
        let least = max(0, bar - Self.reach)
        while start > least, self.bytes[start - 1] != 10, !";|&".utf8.contains(self.bytes[start - 1]) { start -= 1 }
        self.work += bar - start
        let line = UnsafeRawBufferPointer(rebasing: self.bytes[start..<bar])
        for word in ["echo ", "printf "] {
            guard let place = Self.place(of: word, in: line) else { continue }
            var words = CommandSurvey.Words(self.text, from: start + place + word.utf8.count, limit: bar - start)
            var value: Range<Int>?
            for _ in 0..<4 {
                guard let next = words.next() else { break }
                value = next
            }
            return value.map { self.addInput($0.lowerBound) } ?? false
        }
        return false
    }

    private static func place(of word: String, in line: UnsafeRawBufferPointer) -> Int? {
        (0..<max(0, line.count - word.utf8.count)).first { line[$0...].starts(with: word.utf8) }
    }

    private mutating func addInput(_ start: Int) -> Bool {
        var words = CommandSurvey.Words(self.text, from: start, limit: 4096)
        guard let value = words.next(), value.lowerBound >= self.inputEnd else { return false }
        self.inputEnd = value.upperBound
        let meaning = SecretNames.Meaning(kind: "password")
        guard self.text.isWhole(value), self.isLikely(value, meaning), self.bytes[value.lowerBound] != UInt8(ascii: "$") else {
            return false
        }
        self.addFree(value, meaning)
        return true
    }
}
