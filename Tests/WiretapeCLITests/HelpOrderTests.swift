import Testing
@testable import WiretapeCLI

@Suite struct HelpOrderTests {
    @Test(arguments: ["record", "replay", "run", "serve"]) func commonSectionsComeFirst(_ command: String) throws {
        for arguments in [["help", command], [command, "--help"]] {
            let end = try Wiretape.run(arguments)
            let titles = end.outputText.split(separator: "\n").filter { $0.hasSuffix(":") && $0 == $0.uppercased() }
            #expect(end.status == 0 && end.errors.isEmpty)
            #expect(titles.first == (command == "serve" ? "OPTIONS:" : "ARGUMENTS:"), "\(titles)")
            #expect(titles.firstIndex(of: "OPTIONS:").map { $0 <= 1 } == true && titles.count > 5, "\(titles)")
        }
    }

    @Test func sectionsMoveWhole() {
        let text = """
            OVERVIEW: a

            Examples:
              b

            USAGE: c

            ARGUMENTS:
              d

            GROUP:
              e

            OPTIONS:
              f
              g

            SUBCOMMANDS:
              h
            """
        let ordered = HelpOrder.common(first: text)
        #expect(ordered == text.replacing("GROUP:\n  e\n\nOPTIONS:\n  f\n  g", with: "OPTIONS:\n  f\n  g\n\nGROUP:\n  e"))
        #expect(HelpOrder.common(first: ordered) == ordered)
        #expect(HelpOrder.common(first: "1.0.0") == "1.0.0")
    }

    @Test func otherTextsAreAsTheyWere() throws {
        #expect(try Wiretape.run(["--version"]).outputText == "0.2.0\n")
        #expect(try Wiretape.run(["--generate-completion-script", "bash"]).status == 0)
        let wrong = try Wiretape.run(["record"])
        #expect(wrong.status == 64 && wrong.outputText.isEmpty && wrong.errors.contains("needs <file>"))
    }
}
