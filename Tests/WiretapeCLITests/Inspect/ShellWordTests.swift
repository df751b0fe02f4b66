import Testing

@testable import WiretapeCLI

@Suite struct ShellWordTests {
    @Test(arguments: [
        ("Cassettes/pets.json", "Cassettes/pets.json"), ("이름.json", "이름.json"), ("my pets.json", "'my pets.json'"), ("it's", #"'it'\''s'"#),
        ("$HOME", "'$HOME'"),
        ("", "''"),
    ])
    func isOneWordToAShell(word: String, quoted: String) {
        #expect(ShellWord.quoted(word) == quoted)
    }
}
