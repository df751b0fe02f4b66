import Foundation
import TapeTrust
import Testing
@testable import WiretapeCLI
import TapeTestSupport

/// `ca install`: the announced actions, and a dry run that does nothing. The system's own store stays untouched: the commands that run are
/// the test's own programs.
@Suite(.enabled(if: SystemStore.current() != nil)) struct CAInstallCommandTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func caDir(_ name: String = "ca") -> [String] { ["--ca-dir", self.folder.file(name)] }

    @Test func aDryRunPrintsAndMakesNothing() throws {
        for options in [[], ["--uninstall"]] {
            let end = try Wiretape.run(["ca", "install", "--dry-run"] + options + self.caDir())
            #expect(end.status == 0 && end.errors.isEmpty, "\(end.errors)")
            #expect(end.outputText.contains("wiretape") && end.outputText.contains("# Programs with a store of their own:"))
        }
        #expect(try self.folder.names() == [])
    }

    #if os(Linux)
    /// A PATH on which each program logs its invocation.
    private func recordingPath(status: Int = 0) throws -> String {
        let script = "#!/bin/sh\necho \"${0##*/}${*:+ }$*\" >> '\(self.folder.file("log"))'\nexit \(status)"
        for name in ["install", "update-ca-certificates", "update-ca-trust", "rm"] {
            // A separate process writes it: a program that this one starts in the meantime would hold the file open for writing.
            let end = try ExternalProgram.run(
                "/bin/sh",
                [
                    "-c", "mkdir -p \"${0%/*}\" && printf '%s\\n' \"$1\" >\"$0\" && chmod 755 \"$0\"", self.folder.file("bin/\(name)"),
                    script,
                ])
            try #require(end.status == 0, "\(end.errors)")
        }
        return self.folder.file("bin") + ":/usr/bin:/bin"
    }

    @Test(.enabled(if: getuid() == 0)) func printedCommandsAreTheOnesThatRun() throws {
        for options in [[], ["--uninstall"]] {
            try? FileManager.default.removeItem(atPath: self.folder.file("log"))
            let end = try Wiretape.run(["ca", "install"] + options + self.caDir(), environment: ["PATH": try self.recordingPath()])
            #expect(end.status == 0, "\(end.errors)")
            let log = String(decoding: try self.folder.read("log"), as: UTF8.self)
            #expect(log.split(separator: "\n").count == 2 && end.outputText.hasPrefix(log), "\(log)\(end.outputText)")
        }
        #expect(self.folder.exists("ca/ca-cert.pem"))
    }

    @Test(.enabled(if: getuid() == 0)) func aCommandThatFailsEndsIt() throws {
        let end = try Wiretape.run(["ca", "install"] + self.caDir(), environment: ["PATH": try self.recordingPath(status: 3)])
        #expect(end.status == 1 && end.errors.contains("\"install\" ended with exit code 3"), "\(end.errors)")
        #expect(String(decoding: try self.folder.read("log"), as: UTF8.self).split(separator: "\n").count == 1)
    }

    @Test func withoutRootTheLineForSudoIsPrinted() throws {
        let arguments = ["ca", "install"] + self.caDir("it is ca")
        let wiretape = try Programs.wiretape()
        let end: ExternalProgram.Ended
        if getuid() == 0 {
            // Another user may access the parts of this folder that the command needs.
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: self.folder.path)
            end = try ExternalProgram.run(
                try Programs.find("setpriv"), ["--reuid", "65534", "--regid", "65534", "--clear-groups", wiretape] + arguments)
        } else {
            end = try Wiretape.run(arguments)
        }
        #expect(end.status == 1)
        #expect(
            end.errors.contains("sudo \(AuthorityLocation.absolute(wiretape)) ca install --ca-dir '\(self.folder.file("it is ca"))'"),
            "\(end.errors)")
    }
    #endif
}

@Suite struct OwnStoresTests {
    @Test func eachLineIsACommentSoThatTheOutputCanBeAScript() {
        for line in OwnStores.installation(of: "/a b/ca.pem") + OwnStores.removal() { #expect(line.hasPrefix("#")) }
    }

    @Test func commandsNameTheFileAsOneWord() {
        let lines = OwnStores.installation(of: "/a b/ca.pem")
        #expect(lines.filter { $0.contains("'/a b/ca.pem'") }.count == 2)
        for word in ["Firefox", "certutil", "keytool"] {
            #expect(lines.contains { $0.contains(word) })
            #expect(OwnStores.removal().contains { $0.contains(word) })
        }
    }
}

@Suite struct SystemStoreTests {
    @Test func aFolderGetsTheFileAndItsProgramMakesTheStore() {
        let store = SystemStore.folder("/anchors", update: "update-ca-certificates")
        #expect(store.needsRoot)
        #expect(
            store.installation(of: "/ca.pem") == [
                ["install", "-m", "644", "/ca.pem", "/anchors/wiretape.crt"], ["update-ca-certificates"],
            ])
        #expect(store.removal(of: "/ca.pem") == [["rm", "-f", "/anchors/wiretape.crt"], ["update-ca-certificates", "--fresh"]])
        #expect(SystemStore.folder("/anchors", update: "update-ca-trust").removal(of: "/ca.pem").last == ["update-ca-trust"])
    }

    @Test func aKeychainTakesTheCertificateAsARoot() {
        let own = SystemStore.keychain("/Users/bori/Library/Keychains/login.keychain-db")
        #expect(!own.needsRoot)
        #expect(
            own.installation(of: "/ca.pem") == [
                ["security", "add-trusted-cert", "-r", "trustRoot", "-k", "/Users/bori/Library/Keychains/login.keychain-db", "/ca.pem"]
            ])
        #expect(own.removal(of: "/ca.pem") == [["security", "remove-trusted-cert", "/ca.pem"]])
        let system = SystemStore.keychain("/Library/Keychains/System.keychain")
        #expect(system.installation(of: "/ca.pem")[0].contains("-d") && system.removal(of: "/ca.pem")[0].contains("-d"))
    }

    @Test(.enabled(if: Programs.isInstalled("update-ca-certificates") && Programs.isInstalled("dpkg")))
    func debianIsKnown() {
        #expect(SystemStore.current() == .folder("/usr/local/share/ca-certificates", update: "update-ca-certificates"))
    }
}
