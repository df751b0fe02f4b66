import ArgumentParser
import Foundation
import TapeTestSupport
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

    @Test func unknownCommandGetsTheListOfCommands() {
        #expect(self.problem("nonsense") == "there is no command \"wiretape nonsense\": \"wiretape --help\" lists the commands.")
        #expect(self.problem(String(repeating: "x", count: 5000))?.count ?? 5000 < 200)
    }

    @Test(arguments: [
        ["record", "recrod"], ["--version"], ["--help"], ["help"], ["help", "record"], ["ca"], ["ca", "show"], ["develop", "a.json"],
    ])
    func correctArgumentsHaveNoProblem(_ arguments: [String]) {
        #expect(CommandSuggestion.problem(arguments, in: WiretapeCommand.self) == nil)
    }

    private func option(_ arguments: String...) -> String? { CommandSuggestion.unknownOption(arguments, in: WiretapeCommand.self) }

    @Test(arguments: [
        (["record", "a.json", "--lisen=127.0.0.1:0"], "--lisen", "wiretape record", "--listen"),
        (["record", "--lisen"], "--lisen", "wiretape record", "--listen"),
        (["record", "a.json", "--lisen", "1", "--", "true"], "--lisen", "wiretape record", "--listen"),
        (["record", "a.json", "-listen", "1"], "-listen", "wiretape record", "--listen"),
        (["replay", "a.json", "--fial-on", "none"], "--fial-on", "wiretape replay", "--fail-on"),
        (["run", "a.json", "--no-keep-on-failur"], "--no-keep-on-failur", "wiretape run", "--no-keep-on-failure"),
        (["run", "a.json", "--upstream-pro", "x"], "--upstream-pro", "wiretape run", "--upstream-proxy"),
        (["ca", "export", "--formt", "pem"], "--formt", "wiretape ca export", "--format"),
        (["--verison"], "--verison", "wiretape", "--version"), (["--lisen"], "--lisen", "wiretape", "wiretape record --listen"),
        (["--fodler", "x"], "--fodler", "wiretape", "wiretape serve --folder"),
        (["ca", "--formt"], "--formt", "wiretape ca", "wiretape ca export --format"),
    ])
    func aMisspelledOptionIsNamed(_ arguments: [String], word: String, command: String, wanted: String) throws {
        let problem = "there is no option \"\(word)\" of \"\(command)\": did you mean \"\(wanted)\"?"
        #expect(CommandSuggestion.unknownOption(arguments, in: WiretapeCommand.self) == problem)
        let end = try Wiretape.run(arguments)
        #expect(end.status == 64 && end.errors == "wiretape: \(problem)\n", "\(end.errors)")
    }

    @Test(arguments: [
        (["inspect", "a.json", "--web", "--web-port", "-1"], "--web-port takes a port from 0 to 65535, and not \"-1\"."),
        (["inspect", "a.json", "-1"], "\"-1\" is not the number of an exchange: they count from 1."),
        (["ping", "--wait", "-5"], "--wait does not take the negative number \"-5\"."),
        (["inspect", "a.json", "—web"], "\"—web\" begins with a dash that text editors make of two hyphens: write \"--web\"."),
        (
            ["record", "a.json", "–listen", "7070"],
            "\"–listen\" begins with a dash that text editors make of two hyphens: write \"--listen\"."
        ),
        (["inspect", "--har"], "there is no option \"--har\" of \"wiretape inspect\"; \"wiretape export\" has it."),
        (
            ["inspect", "a.json", "--sort"],
            "there is no option \"--sort\" of \"wiretape inspect\"; \"wiretape record\", \"wiretape replay\" and \"wiretape run\" have it."
        ),
        (["-v", "record"], "there is no option \"-v\" of \"wiretape\": write it after the command, as in \"wiretape record -v\"."),
        (["--inspect", "a.json"], "there is no option \"--inspect\" of \"wiretape\": did you mean \"wiretape inspect\"?"),
        (["version"], "there is no command \"wiretape version\": did you mean \"wiretape --version\"?"),
        (["record", "a.json", "--"], "nothing follows \"--\": write a command after it, or omit \"--\" to listen until Ctrl-C."),
        (
            ["diff", "a.json", "b.json", "--upload", "--exchanges", "1:x"],
            "--exchanges takes two numbers of exchanges, such as 3:7, or one for both, and not \"1:x\"."
        ),
    ])
    func whatIsNoOptionIsExplained(_ arguments: [String], problem: String) throws {
        let end = try Wiretape.run(arguments)
        #expect(end.status == 64 && end.errors == "wiretape: \(problem)\n", "\(end.errors)")
    }

    @Test func aChoiceNamesTheOthers() throws {
        let end = try Wiretape.run(["import", "t.har", "-o", "x.json", "--from", "harr"])
        #expect(end.status == 64 && end.errors.hasPrefix("wiretape: --from takes har, mitmproxy, vcrpy, "), "\(end.errors)")
        #expect(end.errors.contains("and not \"harr\": did you mean har?"), "\(end.errors)")
        let redacting = try Wiretape.run(["redact", "a.json", "--redact", "foo=bar"])
        #expect(redacting.status == 64 && !redacting.errors.contains("mean"), "\(redacting.errors)")
    }

    @Test func aSecondCassetteIsNotTakenForACommand() throws {
        let end = try Wiretape.run(["record", "a.json", "b.json", "--", "true"])
        #expect(end.status == 64 && end.errors.contains("\"b.json\" is one argument too many before \"--\""), "\(end.errors)")
    }

    @Test func aProgramThatIsNotFoundLeavesNothingBehind() throws {
        let folder = try TemporaryFolder()
        let end = try Wiretape.run(["record", folder.file("new/sub/a.json"), "--", "wiretape-no-such-program"])
        #expect(end.status == 127 && end.errors.contains("\"wiretape-no-such-program\" was not found"), "\(end.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder.file("new")))
    }

    @Test func anOptionThatIsLikeNoneGetsTheList() throws {
        #expect(
            self.option("serve", "--trust", "env")
                == "there is no option \"--trust\" of \"wiretape serve\"; \"wiretape record\", \"wiretape replay\" and \"wiretape run\" have it."
        )
        #expect(self.option("inspect", "-x")?.contains("\"wiretape inspect --help\" lists the options") == true)
        #expect(self.option("record", "--" + String(repeating: "x", count: 5000))?.count ?? 5000 < 200)
    }

    @Test(arguments: [
        ["record", "a.json", "--listen=x", "-qv", "--", "curl", "--lisen"], ["record", "a.json", "--review", "--no-review", "-h"],
        ["run", "a.json", "--no-keep-on-failure"], ["record", "--", "--lisen"], ["inspect", "a.json", "-"],
        ["--generate-completion-script", "x"],
        ["record", "--generate-completion-script", "bash"],
    ])
    func knownOptionsAreLeftAlone(_ arguments: [String]) {
        #expect(CommandSuggestion.unknownOption(arguments, in: WiretapeCommand.self) == nil)
    }

    /// Every option that a command lists is known here.
    @Test func everyOptionOfEveryCommandIsKnown() {
        func check(_ command: any ParsableCommand.Type, _ path: [String]) {
            let names = command.helpMessage(includeHidden: true, columns: 1000).matches(of: /(?m)^  (?:-\w, )?(--[a-z0-9-]+)/).map {
                String($0.1)
            }
            #expect(!names.isEmpty)
            for name in names {
                #expect(CommandSuggestion.unknownOption(path + [name], in: WiretapeCommand.self) == nil, "\(path) \(name)")
            }
            for next in command.configuration.subcommands { check(next, path + [next.configuration.commandName ?? ""]) }
        }
        check(WiretapeCommand.self, [])
    }

    @Test func invalidValueIsNotReportedAsAnUnknownOption() throws {
        let end = try Wiretape.run(["record", "a.json", "--listen", "nowhere", "--", "true"])
        #expect(end.status == 64 && end.errors.contains("nowhere") && !end.errors.contains("there is no option"))
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
