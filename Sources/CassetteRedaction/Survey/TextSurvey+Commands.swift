internal import CassetteModel
internal import TapeBytes

// Command lines, and entries of .netrc.
extension TextSurvey {
    /// A command with a flag before a password, or after it: each command is read once.
    mutating func command(flagAt offset: Int) {
        guard self.isFree, offset >= self.commandEnd else { return }
        let commands = CommandSurvey(text: self.text)
        var found = commands.passwords(flagAt: offset)
        if self.bytes[offset + 2] == UInt8(ascii: "p"), let password = commands.passwordOfLogin(optionAt: offset) { found.append(password) }
        for range in found {
            self.commandEnd = max(self.commandEnd, range.upperBound)
            self.addWord(range, kind: "password")
        }
    }

    mutating func option(at offset: Int) {
        guard self.isFree, let (name, range) = CommandSurvey(text: self.text).option(at: offset),
            let meaning = self.meaning(name.lowerBound, name.upperBound), !meaning.needsCompany, !meaning.needsKeyShape,
            meaning.syntax == .value
        else { return }
        self.addWord(range, kind: meaning.kind)
    }

    /// `password X` of an entry of a .netrc file.
    mutating func entry(_ start: Int, _ end: Int) {
        guard self.isFree, self.meaning(start, end)?.kind == "password",
            let range = CommandSurvey(text: self.text).passwordOfEntry(start, end)
        else { return }
        self.addWord(range, kind: "password")
    }

    mutating func addWord(_ range: Range<Int>, kind: String) {
        guard !range.isEmpty else { return }
        self.addFree(range, SecretNames.Meaning(kind: kind))
    }
}
