import Testing

@testable import WiretapeCLI

@Suite struct ShellTests {
    private static let values = ["", "plain", "a b", "it's", "\"x\" $HOME `id` \\ \\' * ~", "a\nb", "-Dx='a b'", "한국어 é"]

    @Test(arguments: Self.values)
    func aRealShellReadsTheValueBack(value: String) throws {
        let line = Shell.sh.line("X", value)
        let end = try ExternalProgram.run("/bin/sh", ["-c", "\(line)\nexec sh -c 'printf %s \"$X\"'"])
        #expect(end.status == 0 && end.outputText == value, "\(line)")
    }

    @Test(arguments: [("it's \\ x", #"set -gx X 'it\'s \\ x';"#), ("$a", "set -gx X '$a';")])
    func fishEndsAStringAtAQuoteAlone(value: String, line: String) {
        #expect(Shell.fish.line("X", value) == line)
    }

    @Test(arguments: [("it's", "$env:X = 'it''s'"), ("a\u{2019}b", "$env:X = 'a\u{2019}\u{2019}b'"), ("$a `b", "$env:X = '$a `b'")])
    func powerShellDoublesEachOfItsQuotes(value: String, line: String) {
        #expect(Shell.powershell.line("X", value) == line)
    }

    @Test(arguments: [("/usr/bin/fish", Shell.fish), ("/bin/zsh", .sh), ("/bin/fish-like", .sh), (nil, .sh)] as [(String?, Shell)])
    func theShellIsTheUsers(path: String?, shell: Shell) {
        #expect(Shell.standard(environment: path.map { ["SHELL": $0] } ?? [:]) == shell)
    }

    @Test func eachShellHasAWayToTakeTheLinesOver() {
        #expect(Shell.sh.evaluation("wiretape env") == "eval \"$(wiretape env)\"")
        #expect(Shell.fish.evaluation("wiretape env") == "wiretape env | source")
        #expect(Shell.powershell.evaluation("wiretape env").hasSuffix("Invoke-Expression"))
    }
}
