#if os(Linux)
import Glibc
import Testing

@testable import WiretapeCLI

@Suite struct NamespaceEntryTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func words(_ command: [String]) throws -> [String] {
        let bundle = try self.folder.write("ours".utf8, to: "bundle.pem")
        let file = try self.folder.write("theirs".utf8, to: "theirs.crt")
        return NamespacePlan(bundle: bundle, holder: self.folder.path, files: [file], folders: [], roots: []).arguments(for: command)
    }

    private func run(_ command: [String]) throws -> ExternalProgram.Ended {
        try ExternalProgram.run(try Programs.wiretape(), try self.words(command))
    }

    @Test(.enabled(if: Namespaces.arePermitted, "mount namespaces are forbidden here")) func theArgumentsAndTheExitCodeAreTheProgramsOwn()
        throws
    {
        let end = try self.run(["sh", "-c", "printf '%s|' \"$@\"; exit 9", "sh", "--", "a b", "", "$HOME"])
        #expect(end.status == 9 && end.outputText == "--|a b||$HOME|", "\(end.errors)")
        let signalled = try self.run(["sh", "-c", "kill -KILL $$"])
        #expect(signalled.status == 128 + SIGKILL)
    }

    @Test(.enabled(if: Namespaces.arePermitted, "mount namespaces are forbidden here"))
    func theProgramIsTheSameProcessSoThatSignalsReachIt() throws {
        let program = try ExternalProgram(
            try Programs.wiretape(), try self.words(["sh", "-c", "echo $$; cat /proc/$$/stat | cut -d' ' -f5"]))
        defer { program.stop() }
        #expect(try program.wait().outputText == "\(program.id)\n\(program.id)\n", "its number and its group's")
    }

    @Test(.enabled(if: Namespaces.arePermitted, "mount namespaces are forbidden here")) func aProgramThatIsNotThereIs127() throws {
        let end = try self.run(["no-such-program-of-wiretape"])
        #expect(end.status == 127 && end.errors.contains("\"no-such-program-of-wiretape\" cannot be started"))
        #expect(try self.run([self.folder.path]).status == 126)
    }

    @Test func wordsOfNobodysAre125() throws {
        let end = try ExternalProgram.run(try Programs.wiretape(), [NamespacePlan.word, "x"])
        #expect(end.status == 125 && end.errors.contains("--trust namespace"))
    }

    @Test func theHelpDoesNotSpeakOfIt() throws {
        #expect(try Wiretape.run(["--help"]).outputText.contains(NamespacePlan.word) == false)
    }

    @Test func otherCommandsGoOn() { NamespaceEntry.runIfAsked(["wiretape", "record"]) }
}
#endif
