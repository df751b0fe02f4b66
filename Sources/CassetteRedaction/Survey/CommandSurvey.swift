internal import CassetteModel
internal import TapeBytes

/// Finds passwords in command lines, as logs and scripts have them: `curl -u user:X`, `mysql -pX`, `sshpass -p X`, `docker login -p X`,
/// `redis-cli -a X`, `--password X`.
struct CommandSurvey {
    let text: SurveyText

    /// Bytes and words of one command.
    private static let lengthLimit = 4096
    private static let wordLimit = 64
    /// Bytes before `-p` in which `login` may be.
    private static let loginReach = 256

    enum Program {
        case curl, mysql, sshpass, redis
    }

    private static let programs: [(name: StaticString, program: Program)] = [
        ("curl", .curl), ("mysql", .mysql), ("mariadb", .mysql), ("sshpass", .sshpass), ("redis-cli", .redis),
    ]
    /// The first letters of options whose next word may be a secret.
    static let options: [StaticString] = [
        "--pa", "--pw", "--to", "--se", "--ap", "--cl", "--ac", "--au", "--pr", "--re", "--id", "--oa", "--bi", "--us",
    ]

    /// The passwords of the command that has a flag at a place, and where it ends.
    func passwords(flagAt flag: Int) -> [Range<Int>] {
        var start = flag
        let least = max(0, flag - Self.reach)
        while start > least, !Self.endsCommand(self.text.bytes[start - 1]) || self.isContinued(start - 1) { start -= 1 }
        // The last one, as in `sudo sshpass -p X ssh h`.
        var offset = flag
        while offset > start {
            offset -= 1
            guard offset == 0 || !SecretShape.Alphabet.word.contains(self.text.bytes[offset - 1]) else { continue }
            for (name, program) in Self.programs where self.begins(name, offset) { return self.passwords(of: program, at: offset) }
        }
        return []
    }

    /// Bytes before a flag in which the program's name is.
    private static let reach = 512

    private static func endsCommand(_ byte: UInt8) -> Bool { byte == 10 || byte == UInt8(ascii: ";") || byte == UInt8(ascii: "|") }

    /// Whether a line's end has a backslash before it.
    private func isContinued(_ offset: Int) -> Bool {
        guard self.text.bytes[offset] == 10 else { return false }
        let last = offset > 0 && self.text.bytes[offset - 1] == 13 ? offset - 2 : offset - 1
        return self.text.byte(last) == UInt8(ascii: "\\")
    }

    private func begins(_ name: StaticString, _ offset: Int) -> Bool {
        offset + name.utf8CodeUnitCount <= self.text.bytes.count
            && (0..<name.utf8CodeUnitCount).allSatisfy { self.text.bytes[offset + $0] == name.utf8Start[$0] }
    }

    private func passwords(of program: Program, at start: Int) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var words = Words(self.text, from: start, limit: Self.lengthLimit)
        guard words.next() != nil else { return [] }
        for _ in 0..<Self.wordLimit {
            guard let word = words.next() else { break }
            guard self.text.bytes[word.lowerBound] == UInt8(ascii: "-") else { continue }
            let option = self.text.bytes[word]
            switch program {
            case .curl:
                if self.isOption(option, ["-u", "-U", "--user", "--proxy-user"]) || self.isFlags(option, endingIn: UInt8(ascii: "u")) {
                    if let value = words.next(), let password = self.afterColon(value) { found.append(password) }
                } else if self.isOption(option, ["--pass", "--proxy-pass", "--oauth2-bearer"]) {
                    if let value = words.next() { found.append(value) }
                } else if option.starts(with: "-u".utf8), let password = self.afterColon(word) {
                    found.append(password)
                } else if option.starts(with: "--user=".utf8), let password = self.afterColon(word) {
                    found.append(password)
                }
            case .mysql:
                if option.starts(with: "-p".utf8), option.count > 2 { found.append(word.lowerBound + 2..<word.upperBound) }
            case .sshpass:
                if self.isOption(option, ["-p"]) {
                    if let value = words.next() { found.append(value) }
                    return found
                }
                if option.starts(with: "-p".utf8) { return [word.lowerBound + 2..<word.upperBound] }
            case .redis:
                if self.isOption(option, ["-a", "--pass"]), let value = words.next() { found.append(value) }
            }
        }
        return found
    }

    /// The word after ` -p ` on a line in which somebody logs in.
    func passwordOfLogin(optionAt blank: Int) -> Range<Int>? {
        var start = blank
        while start > 0, blank - start < Self.loginReach, self.text.bytes[start - 1] != 10 { start -= 1 }
        guard ByteSearch.contains(" login", in: UnsafeRawBufferPointer(rebasing: self.text.bytes[start..<blank + 1])) else { return nil }
        var words = Words(self.text, from: blank + 1, limit: Self.lengthLimit)
        _ = words.next()
        return words.next()
    }

    /// `--NAME VALUE`
    func option(at start: Int) -> (name: Range<Int>, value: Range<Int>)? {
        guard start == 0 || self.text.bytes[start - 1] <= 32 || self.text.isQuote(self.text.bytes[start - 1]) else { return nil }
        var end = start + 2
        while end < self.text.bytes.count, end - start <= SecretNames.lengthLimit,
            FormSpelling.isAlphanumeric(self.text.bytes[end]) || self.text.bytes[end] == UInt8(ascii: "-")
        { end += 1 }
        guard end > start + 2, let blank = self.text.byte(end), blank == 32 || blank == 9 else { return nil }
        var words = Words(self.text, from: start, limit: Self.lengthLimit)
        _ = words.next()
        guard let value = words.next(), self.text.bytes[value.lowerBound] != UInt8(ascii: "-") else { return nil }
        return (start + 2..<end, value)
    }

    private func isOption(_ word: Slice<UnsafeRawBufferPointer>, _ names: [StaticString]) -> Bool {
        names.contains { name in
            word.count == name.utf8CodeUnitCount && word.elementsEqual(UnsafeBufferPointer(start: name.utf8Start, count: word.count))
        }
    }

    /// `-sSu`
    private func isFlags(_ word: Slice<UnsafeRawBufferPointer>, endingIn letter: UInt8) -> Bool {
        word.count > 2 && word.count < 8 && word.last == letter && word.dropFirst().allSatisfy { ($0 | 32) >= 97 && ($0 | 32) <= 122 }
    }

    private func afterColon(_ word: Range<Int>) -> Range<Int>? {
        guard let colon = word.first(where: { self.text.bytes[$0] == UInt8(ascii: ":") }), colon + 1 < word.upperBound else { return nil }
        return colon + 1..<word.upperBound
    }

    /// Words of a command, without their quotes, up to the line's end. A backslash at the end goes on with the next line.
    struct Words {
        private let text: SurveyText
        private var offset: Int
        private let end: Int

        init(_ text: SurveyText, from start: Int, limit: Int) {
            self.text = text
            self.offset = start
            self.end = min(text.bytes.count, start + limit)
        }

        mutating func next() -> Range<Int>? {
            while self.offset < self.end {
                let byte = self.text.bytes[self.offset]
                if byte == UInt8(ascii: "\\"), let next = self.text.byte(self.offset + 1), next == 10 || next == 13 {
                    self.offset += next == 13 ? 3 : 2
                } else if byte == 32 || byte == 9 {
                    self.offset += 1
                } else {
                    break
                }
            }
            guard self.offset < self.end else { return nil }
            let first = self.text.bytes[self.offset]
            // The end of the command, or of the text that it is in.
            guard first > 32, !";|&<>`)".utf8.contains(first) else { return nil }
            if self.text.isQuote(first) {
                let start = self.offset + 1
                var end = start
                while end < self.end, self.text.bytes[end] != first, self.text.bytes[end] != 10 { end += 1 }
                guard end < self.end, end > start, self.text.bytes[end] == first else { return nil }
                self.offset = end + 1
                return start..<end
            }
            let start = self.offset
            while self.offset < self.end, self.text.bytes[self.offset] > 32, !self.text.isQuote(self.text.bytes[self.offset]),
                !";|<>`\\".utf8.contains(self.text.bytes[self.offset])
            { self.offset += 1 }
            guard self.offset > start else { return nil }
            return start..<self.offset
        }
    }

    // MARK: .netrc

    /// The word after `password ` in an entry of a .netrc file (`machine h login u password X`), on one line or on several.
    ///
    /// - Parameters:
    ///   - start: of `password`.
    ///   - end: after it.
    func passwordOfEntry(_ start: Int, _ end: Int) -> Range<Int>? {
        // Before it are pairs of words, and `machine` with a name, or `default`.
        var words: [Range<Int>] = []
        var offset = start
        let least = max(0, start - Self.reach)
        while offset > least, words.count < 8 {
            while offset > least, self.text.bytes[offset - 1] <= 32 { offset -= 1 }
            let last = offset
            while offset > least, self.text.bytes[offset - 1] > 32, !"\"'<>{}".utf8.contains(self.text.bytes[offset - 1]) { offset -= 1 }
            guard offset < last else { break }
            words.append(offset..<last)
        }
        func isWord(_ index: Int, _ word: StaticString) -> Bool {
            index < words.count && words[index].count == word.utf8CodeUnitCount && self.text.isWord(word, endingAt: words[index].upperBound)
        }
        var index = 0
        while isWord(index + 1, "login") || isWord(index + 1, "account") || isWord(index + 1, "port") { index += 2 }
        guard isWord(index, "default") || isWord(index + 1, "machine") else { return nil }
        var value = self.text.skipSpace(end)
        let isQuoted = self.text.byte(value) == UInt8(ascii: "\"")
        if isQuoted { value += 1 }
        var last = value
        let most = min(self.text.bytes.count, value + Self.lengthLimit)
        while last < most, self.text.bytes[last] > 32, !"\"<\\".utf8.contains(self.text.bytes[last]) { last += 1 }
        return last > value ? value..<last : nil
    }
}
