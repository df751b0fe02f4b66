import Foundation
import Testing
import TapeTestSupport

/// Runs without a home folder for an authority, as on build and test machines.
@Suite struct HomeTests {
    private let folder: TemporaryFolder

    init() throws {
        self.folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: self.folder.file("tmp"), withIntermediateDirectories: false)
    }

    private func environment(home: String) -> [String: String] {
        ["HOME": home, "XDG_DATA_HOME": "", "WIRETAPE_CA_DIR": "", "TMPDIR": self.folder.file("tmp")]
    }

    private static let said = "this run uses a temporary one."

    @Test(arguments: ["/dev/null", "/nonexistent/of/wiretape"]) func aRunWithoutAHomeTapesHTTPSAndLeavesNothing(home: String) throws {
        let origins = try TLSOrigins()
        defer { origins.stop() }
        let cassette = self.folder.file("tape.json")
        let command = ["--"] + Curl.get(origins.url(.good))
        let environment = self.environment(home: home)
        let recorded = try Wiretape.run(
            ["record", cassette, "--upstream-ca", origins.certificates.authority] + command, environment: environment)
        #expect(recorded.status == 0 && recorded.outputText == Nginx.pets, "\(recorded.errors)")
        #expect(recorded.errors.contains("in \"\(home)/.local/share/wiretape\" ("), "\(recorded.errors)")
        #expect(recorded.errors.components(separatedBy: Self.said).count == 2, "\(recorded.errors)")
        let replayed = try Wiretape.run(["replay", cassette] + command, environment: environment)
        #expect(replayed.status == 0 && replayed.outputText == Nginx.pets, "\(replayed.errors)")
        #expect(try self.folder.names(in: "tmp") == [])
        #expect(!FileManager.default.fileExists(atPath: "/nonexistent/of"))
    }

    @Test func theFolderIsThereDuringTheRunAndGoneThoughItFails() throws {
        let list = ["sh", "-c", "ls \"$TMPDIR\"/wiretape-*; exit 7"]
        let end = try Wiretape.run(
            ["record", self.folder.file("tape.json"), "--"] + list, environment: self.environment(home: "/dev/null"))
        #expect(end.status == 7 && end.outputText == "ca-cert.pem\nca-key.pem\ntrust\n", "\(end.outputText)\(end.errors)")
        let missing = try Wiretape.run(
            ["record", self.folder.file("tape.json"), "--", "no-such-program"], environment: self.environment(home: "/dev/null"))
        #expect(missing.status == 127)
        // An address that requires --allow-remote: the proxy does not start.
        let never = try Wiretape.run(
            ["record", self.folder.file("tape.json"), "--listen", "0.0.0.0:0", "--", "true"],
            environment: self.environment(home: "/dev/null"))
        #expect(never.status == 1)
        #expect(try self.folder.names(in: "tmp") == [])
    }

    @Test func aProxyThatIsStoppedRemovesItsFolder() throws {
        let environment = self.environment(home: "/dev/null")
        let proxy = try Wiretape.listening(["record", self.folder.file("tape.json")], environment: environment)
        defer { proxy.program.stop() }
        #expect(try self.folder.names(in: "tmp").count == 1)
        #expect(try proxy.program.end().status == 0)
        #expect(try self.folder.names(in: "tmp") == [])
    }

    @Test(arguments: [["--ca-dir", "/dev/null/ca"], []]) func aFolderThatWasNamedMustDo(options: [String]) throws {
        var environment = self.environment(home: "/dev/null")
        if options.isEmpty { environment["WIRETAPE_CA_DIR"] = "/dev/null/ca" }
        let end = try Wiretape.run(["record", self.folder.file("tape.json")] + options + ["--", "true"], environment: environment)
        #expect(end.status == 1 && end.errors.contains("/dev/null") && !end.errors.contains(Self.said), "\(end.errors)")
        #expect(try self.folder.names() == ["tmp"])
    }

    #if os(Linux)
    /// If the tests run as root, who may write everywhere, the program runs as nobody.
    private static let prefix = getuid() == 0 ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : ["env"]

    private static let isPermitted: Bool = {
        guard let tool = try? Programs.find(Self.prefix[0]), let wiretape = try? Programs.wiretape() else { return false }
        return (try? ExternalProgram.run(tool, Self.prefix.dropFirst() + [wiretape, "--version"]).status) == 0
    }()

    @Test(.enabled(if: Self.isPermitted)) func aHomeThatCannotBeWrittenIsNotNeeded() throws {
        let manager = FileManager.default
        for (name, mode) in [("home", 0o555), ("tmp", 0o777), ("out", 0o777)] {
            try manager.createDirectory(atPath: self.folder.file(name), withIntermediateDirectories: true)
            try manager.setAttributes([.posixPermissions: mode], ofItemAtPath: self.folder.file(name))
        }
        let home = self.folder.file("home")
        let line = Self.prefix.dropFirst() + [try Programs.wiretape(), "record", self.folder.file("out/tape.json"), "--", "true"]
        let end = try ExternalProgram.run(try Programs.find(Self.prefix[0]), Array(line), environment: self.environment(home: home))
        #expect(end.status == 0, "\(end.errors)")
        #expect(end.errors.contains("in \"\(home)/.local/share/wiretape\" (Permission denied): \(Self.said)"), "\(end.errors)")
        #expect(try self.folder.names(in: "tmp") == [] && self.folder.names(in: "home") == [])
    }
    #endif
}
