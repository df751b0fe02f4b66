import Testing

@testable import CassetteTools
@testable import WiretapeCLI

@Suite struct ShellWordTests {
    @Test(arguments: [
        ("Cassettes/pets.json", "Cassettes/pets.json"), ("이름.json", "이름.json"), ("my pets.json", "'my pets.json'"), ("it's", #"'it'\''s'"#),
        ("$HOME", "'$HOME'"),
        ("", "''"),
        // With an accent behind it, the quote is one character for Swift and still a quote for a shell.
        ("a'\u{301};id'\u{301}", "'a'\\''\u{301};id'\\''\u{301}'"),
    ])
    func isOneWordToAShell(word: String, quoted: String) {
        #expect(ShellWord.quoted(word) == quoted)
    }
}
