import Testing

@testable import WiretapeCLI

#if os(Linux)
import Glibc

@Suite struct PrivateTrustTests {
    private let folder: TemporaryFolder
    private let bundle: String
    private let files: [String]

    init() throws {
        self.folder = try TemporaryFolder()
        self.bundle = try self.folder.write("ours".utf8, to: "bundle.pem")
        self.files = try [self.folder.write("theirs".utf8, to: "a b.crt"), self.folder.write("theirs".utf8, to: "c.crt")]
    }

    /// Not where the tests run in a container that forbids namespaces.
    private static let isPermitted =
        (try? ExternalProgram.run("/usr/bin/unshare", (getuid() == 0 ? [] : ["--user", "--map-root-user"]) + ["--mount", "true"]).status)
        == 0

    private func run(_ command: [String], user: uid_t = getuid(), group: gid_t = getgid()) throws -> ExternalProgram.Ended {
        let words = PrivateTrust.command(command, bundle: self.bundle, files: self.files, user: user, group: group)
        return try ExternalProgram.run(try Programs.find(words[0]), Array(words.dropFirst()))
    }

    @Test(.enabled(if: Self.isPermitted)) func theProgramSeesOurBundleAndNobodyElseDoes() throws {
        let end = try self.run(["cat"] + self.files)
        #expect(end.status == 0 && end.outputText == "oursours", "\(end.errors)")
        #expect(try self.folder.read("c.crt") == Array("theirs".utf8))
    }

    @Test(.enabled(if: Self.isPermitted)) func theExitCodeAndTheArgumentsAreTheProgramsOwn() throws {
        let end = try self.run(["sh", "-c", "printf '%s|' \"$@\"; exit 9", "sh", "--", "a b", "", "$HOME"])
        #expect(end.status == 9 && end.outputText == "--|a b||$HOME|", "\(end.errors)")
        #expect(try self.run(["no-such-program-of-wiretape"]).status == 127)
    }

    /// The way of those who are not root, which root can go as well.
    @Test(.enabled(if: Self.isPermitted)) func aUserKeepsHisOwnNumber() throws {
        let words = PrivateTrust.command(["id", "-u"], bundle: self.bundle, files: self.files, user: 4321, group: 4321)
        #expect(words.starts(with: ["unshare", "--user", "--map-root-user", "--mount"]))
        let end = try ExternalProgram.run(try Programs.find(words[0]), Array(words.dropFirst()))
        #expect(end.status == 0 && end.outputText == "4321\n", "\(end.errors)")
    }

    @Test(.enabled(if: Self.isPermitted)) func theProgramIsTheSameProcessSoThatSignalsReachIt() throws {
        let words = PrivateTrust.command(["sh", "-c", "echo $$"], bundle: self.bundle, files: self.files, user: getuid(), group: getgid())
        let program = try ExternalProgram(try Programs.find(words[0]), Array(words.dropFirst()))
        defer { program.stop() }
        #expect(try program.wait().outputText == "\(program.id)\n")
    }

    @Test func whatIsNotPermittedIsToldWithWhatToDo() throws {
        let missing = [self.folder.file("none.crt")]
        let path = ["PATH": "/usr/bin:/bin"]
        let message = trustProblem {
            try PrivateTrust.check(bundle: self.bundle, files: missing, user: getuid(), group: getgid(), environment: path)
        }
        #expect(message?.contains("wiretape ca install") == true)
        let nothing = trustProblem { try PrivateTrust.check(bundle: self.bundle, files: [], user: 0, group: 0, environment: path) }
        #expect(nothing?.contains("ca-certificates") == true)
    }

    @Test(.enabled(if: Self.isPermitted)) func whatIsPermittedPasses() {
        #expect(
            trustProblem {
                try PrivateTrust.check(
                    bundle: self.bundle, files: self.files, user: getuid(), group: getgid(), environment: ["PATH": "/usr/bin:/bin"])
            } == nil)
    }
}
#endif
