import Foundation
import Glibc
import Testing
@testable import WiretapeCLI
import TapeTestSupport

#if os(Linux)

@Suite struct NamespaceEntryTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func words(_ command: [String]) throws -> [String] {
        let bundle = try self.folder.write("ours".utf8, to: "bundle.pem")
        let file = try self.folder.write("theirs".utf8, to: "theirs.crt")
        let holder = self.folder.file("empty")
        try FileManager.default.createDirectory(atPath: holder, withIntermediateDirectories: true)
        return NamespacePlan(bundle: bundle, holder: holder, files: [file], folders: [], roots: []).arguments(for: command)
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

    @Test func anInvalidPlanExitsWith125() throws {
        let end = try ExternalProgram.run(try Programs.wiretape(), [NamespacePlan.word, "x"])
        #expect(end.status == 125 && end.errors.contains("--trust namespace"))
    }

    @Test func theHelpDoesNotSpeakOfIt() throws {
        #expect(try Wiretape.run(["--help"]).outputText.contains(NamespacePlan.word) == false)
    }

    @Test func otherCommandsGoOn() { NamespaceEntry.runIfAsked(["wiretape", "record"]) }
}
#endif

#if os(Linux)

@Suite struct NamespaceCallsTests {
    @Test func theCLibraryHasThem() throws {
        let calls = try #require(NamespaceCalls())
        #expect(throws: NamespaceCalls.SystemError.self) { try calls.unshare(-1) }
        #expect(throws: NamespaceCalls.SystemError.self) { try calls.mount(nil, at: "/no/such/folder", NamespaceCalls.isPrivate) }
        let bounding = calls.boundingSet
        calls.bound(to: bounding)
        #expect(calls.boundingSet == bounding)
    }
}
#endif

#if os(Linux)

@Suite struct NamespaceMountsTests {
    private let folder: TemporaryFolder
    private let plan: NamespacePlan

    init() throws {
        self.folder = try TemporaryFolder()
        for name in ["holder", "certs"] {
            try FileManager.default.createDirectory(atPath: self.folder.file(name), withIntermediateDirectories: false)
        }
        let bundle = try self.folder.write("ours".utf8, to: "bundle.pem")
        let files = try [self.folder.write("theirs".utf8, to: "a b.crt"), self.folder.write("theirs".utf8, to: "certs/all.crt")]
        try self.folder.write("one".utf8, to: "certs/one.pem")
        try FileManager.default.createSymbolicLink(atPath: self.folder.file("certs/aaaa0000.0"), withDestinationPath: "one.pem")
        let root = try self.folder.write("root".utf8, to: "root.pem")
        self.plan = NamespacePlan(
            bundle: bundle, holder: self.folder.file("holder"), files: files, folders: [self.folder.file("certs")],
            roots: [.init(hash: "aaaa0000", path: root), .init(hash: "bbbb1111", path: root)])
    }

    /// - Parameter prefix: a command that runs its arguments as another user.
    private func run(_ command: [String], prefix: [String] = []) throws -> ExternalProgram.Ended {
        let words = prefix + [try Programs.wiretape()] + self.plan.arguments(for: command)
        return try ExternalProgram.run(words[0], Array(words.dropFirst()))
    }

    private func text(_ path: String) throws -> String { String(decoding: try self.folder.read(path), as: UTF8.self) }

    private func expectCovered(_ prefix: [String] = [], sourceLocation: SourceLocation = #_sourceLocation) throws {
        let certs = self.folder.file("certs")
        let paths = self.plan.files + ["one.pem", "aaaa0000.0", "aaaa0000.1", "bbbb1111.0"].map { "\(certs)/\($0)" }
        let end = try self.run(["sh", "-c", "for f; do cat \"$f\"; echo; done", "sh"] + paths, prefix: prefix)
        #expect(end.status == 0 && end.outputText == "ours\nours\none\none\nroot\nroot\n", "\(end.errors)", sourceLocation: sourceLocation)
        // No other process sees it, and nothing was written.
        #expect(try self.text("a b.crt") == "theirs" && self.text("certs/all.crt") == "theirs", sourceLocation: sourceLocation)
        #expect(try self.folder.names(in: "certs") == ["aaaa0000.0", "all.crt", "one.pem"], sourceLocation: sourceLocation)
        #expect(try self.folder.names(in: "holder") == [], sourceLocation: sourceLocation)
    }

    @Test(.enabled(if: Namespaces.arePermitted, "mount namespaces are forbidden here")) func onlyTheProgramSeesOurRoots()
        throws
    {
        try self.expectCovered()
    }

    @Test(.enabled(if: Namespaces.arePermitted, "mount namespaces are forbidden here")) func filesOfTheProgramStayInItsNamespace() throws {
        let end = try self.run(["sh", "-c", "echo x > \"$1/new.pem\"; cat \"$1/new.pem\"", "sh", self.folder.file("certs")])
        #expect(end.outputText == "x\n", "\(end.errors)")
        #expect(try self.folder.names(in: "certs").contains("new.pem") == false)
    }

    @Test(.enabled(if: Namespaces.arePermitted, "mount namespaces are forbidden here")) func oneNamespaceWithinAnotherSeesAllToo() throws {
        let certs = self.folder.file("certs")
        let inner =
            [try Programs.wiretape()] + self.plan.arguments(for: ["cat", "\(certs)/one.pem", "\(certs)/aaaa0000.2", "\(certs)/all.crt"])
        let end = try self.run(inner)
        #expect(end.status == 0 && end.outputText == "onerootours", "\(end.errors)")
    }

    /// The way of users other than root: with a user namespace, and the same number and no rights in it.
    @Test(.enabled(if: Namespaces.areForUsers && getuid() == 0, "user namespaces are forbidden here, or the tests are not run as root"))
    func aUserKeepsHisNumberAndGainsNothing() throws {
        // The folders above belong to root and are closed.
        let made = try ExternalProgram.run(try Programs.find("chown"), ["-R", "4321:4321", self.folder.path])
        try #require(made.status == 0, "\(made.errors)")
        let user = [try Programs.find("setpriv"), "--reuid", "4321", "--regid", "4321", "--clear-groups"]
        let readable = try ExternalProgram.run(user[0], Array(user.dropFirst()) + ["test", "-x", try Programs.wiretape()]).status == 0
        try #require(readable, "wiretape lies in a folder that others cannot enter")
        try self.expectCovered(user)
        let end = try self.run(["sh", "-c", "id -u; grep -E 'Cap(Prm|Eff)' /proc/self/status"], prefix: user)
        #expect(end.outputText == "4321\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n", "\(end.errors)")
    }
}
#endif
