import ArgumentParser
import Testing
@testable import WiretapeCLI

@Suite struct CommandSuggestionTests {
    private func problem(_ arguments: String...) -> String? { CommandSuggestion.problem(arguments, in: WiretapeCommand.self) }

    @Test(arguments: [
        ("recrod", "record"), ("recod", "record"), ("rec", "record"), ("Replay", "replay"), ("inpsect", "inspect"), ("dif", "diff"),
        ("developp", "develop"), ("rnu", "run"), ("evn", "env"), ("inspekt", "inspect"),
    ]) func aMisspelledCommandIsNamed(_ word: String, _ wanted: String) {
        #expect(self.problem(word) == "there is no command \"wiretape \(word)\": did you mean \"wiretape \(wanted)\"?")
    }

    @Test func commandsBelowCommandsAreNamedToo() {
        #expect(self.problem("ca", "shwo") == "there is no command \"wiretape ca shwo\": did you mean \"wiretape ca show\"?")
        #expect(self.problem("help", "recrod")?.contains("did you mean \"wiretape record\"?") == true)
    }

    @Test func whatIsLikeNothingGetsTheList() {
        #expect(self.problem("nonsense") == "there is no command \"wiretape nonsense\": \"wiretape --help\" lists the commands.")
        #expect(self.problem(String(repeating: "x", count: 5000))?.count ?? 5000 < 200)
    }

    @Test(arguments: [
        ["record", "recrod"], ["--version"], ["--help"], ["help"], ["help", "record"], ["ca"], ["ca", "show"], ["develop", "a.json"],
    ])
    func whatIsRightIsLeftAlone(_ arguments: [String]) {
        #expect(CommandSuggestion.problem(arguments, in: WiretapeCommand.self) == nil)
    }

    /// The parser names options itself.
    @Test func aMisspelledOptionIsNamed() throws {
        let end = try Wiretape.run(["record", "a.json", "--lisen=127.0.0.1:0"])
        #expect(end.status == 64 && end.errors.contains("'--listen'"), "\(end.errors)")
    }

    @Test func withoutArgumentsThereAreFiveLinesToType() throws {
        let end = try Wiretape.run([])
        let lines = end.outputText.split(separator: "\n")
        #expect(end.status == 0 && lines.count == 5 && lines.allSatisfy { $0.hasPrefix("wiretape ") })
        for line in lines.dropLast() {
            let words = line.split(separator: " ").dropFirst().prefix { $0 != "--" }.map(String.init)
            #expect(CommandSuggestion.problem(words, in: WiretapeCommand.self) == nil, "\(line)")
        }
    }

    @Test func aWrongCommandIsWrongUsage() throws {
        let end = try Wiretape.run(["recrod", "a.json"])
        #expect(end.status == 64 && end.errors == "wiretape: there is no command \"wiretape recrod\": did you mean \"wiretape record\"?\n")
    }
}
