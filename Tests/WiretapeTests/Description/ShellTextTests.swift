import Foundation
import TapeTestSupport
import Testing

@testable import Wiretape

@Suite struct ShellTextTests {
    @Test func wordsAndCommands() {
        #expect(ShellText.quoted("") == "''")
        #expect(ShellText.quoted("it's $HOME `x` \"y\" \\") == #"'it'\''s $HOME `x` "y" \'"#)
        #expect(ShellText.printing("100% 'x'\n") == #"printf '%s' '100% '\''x'\'''"#.replacing("x'\\'''", with: "x'\\''\n'"))
        #expect(ShellText.printing("a\r\n%\\\u{0}1") == #"printf 'a\015\n%%\\\0001'"#)
        #expect(ShellText.printing("-n-\t") == #"printf '\055n-\011'"#)
        #expect(ShellText.isPlain("한 글\n") && !ShellText.isPlain("\t") && !ShellText.isPlain("\u{7F}"))
    }

    @Test(arguments: ["sh", "bash"]) func whatAShellPrintsIsTheText(shell: String) throws {
        var generator = SeededGenerator(seed: 6)
        let alphabet = Array("'\"\\%$`!#&|;<>(){}[]*?~ \n\r\t\u{0}\u{1}\u{7F}019nax한é-@".unicodeScalars)
        for _ in 0..<20 {
            let scalars = (0..<Int.random(in: 0...60, using: &generator)).compactMap { _ in alphabet.randomElement(using: &generator) }
            let text = String(String.UnicodeScalarView(scalars))
            let result = try ShellRun(shell, ShellText.printing(text))
            #expect(result.output == Data(text.utf8), "\(ShellText.printing(text)): \(result.errors)")
        }
    }
}
