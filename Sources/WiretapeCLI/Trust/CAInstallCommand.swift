internal import ArgumentParser
internal import CassetteTools
internal import Platform
internal import TapeTrust

struct CAInstallCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "install",
        abstract: "Make this system trust the authority, or stop trusting it.",
        discussion: """
            Prints each command before it is run. On a terminal, it asks first; without one, as in a script, it does not. On Linux \
            the certificate is added to the system's store, which requires root; on macOS to the login keychain, or as root to \
            the system's. Stores of single programs are not changed; instructions for Firefox, Chrome and Java are printed.

            Examples:
              wiretape ca install --dry-run
              wiretape ca install --uninstall
            """)

    @Flag(help: "Print what would be done, and do nothing.")
    var dryRun = false

    @Flag(help: "Remove the authority again.")
    var uninstall = false

    @Flag(help: "Do not ask on a terminal.")
    var yes = false

    @OptionGroup var authority: AuthorityOptions

    func validate() throws {
        if self.yes, self.dryRun { throw ValidationError("--dry-run asks nothing: omit --yes.") }
    }

    func run() throws {
        SignalThread.unblock()
        try TrustError.reporting { () throws(TrustError) in try self.install() }
    }

    private func install() throws(TrustError) {
        // Neither a dry run nor a removal creates an authority.
        let file = self.dryRun || self.uninstall ? try self.authority.certificateFile() : try self.authority.certificate().file
        guard let store = SystemStore.current() else {
            self.sayOthers(file)
            throw TrustError("this system's trust store is unknown: install \"\(file)\" with the system's own tools.")
        }
        let steps = self.uninstall ? store.removal(of: file) : store.installation(of: file)
        if !self.dryRun, store.needsRoot, getuid() != 0 {
            throw TrustError("changing the system's trust store requires root: \(try self.rootLine())")
        }
        guard try self.isWanted(steps) else { throw TrustError("nothing was changed: the answer was not \"y\".") }
        for step in steps {
            Terminal.output.line(step.map(ShellWord.quoted).joined(separator: " "))
            if !self.dryRun { try self.perform(step) }
        }
        self.sayOthers(file)
    }

    /// Asks a person, since all programs of the machine are concerned. Scripts have nobody to ask.
    private func isWanted(_ steps: [[String]]) throws(TrustError) -> Bool {
        guard !self.dryRun, !self.yes, Terminal.input.isTerminal, Terminal.error.isTerminal else { return true }
        for step in steps { Terminal.error.write("  " + VisibleText.line(step.map(ShellWord.quoted).joined(separator: " ")) + "\n") }
        let effect =
            self.uninstall
            ? "programs on this machine no longer trust Wiretape's authority"
            : "all programs on this machine trust Wiretape's authority, whose key is in its folder"
        Terminal.error.write("After these commands, \(effect). Run them? y or n: ")
        return readLine().map { ["y", "yes"].contains($0.lowercased()) } ?? false
    }

    private func perform(_ step: [String]) throws(TrustError) {
        let status: Int32
        do throws(ChildProcess.StartError) {
            status = try ChildProcess(command: step, environment: ChildEnvironment.parent).wait()
        } catch {
            switch error {
            case .notFound(let message), .failed(let message): throw TrustError(message)
            }
        }
        guard status == 0 else { throw TrustError("\"\(step[0])\" ended with exit code \(status): see its output above.") }
    }

    /// The command line to paste. It has absolute paths, since root has another home folder and PATH.
    private func rootLine() throws(TrustError) -> String {
        var words = ["sudo", AuthorityLocation.program, "ca", "install"]
        if self.uninstall { words.append("--uninstall") }
        if let certificate = self.authority.caCert {
            words += ["--ca-cert", AuthorityLocation.absolute(certificate)]
        } else {
            words += ["--ca-dir", try self.authority.folder()]
        }
        return words.map(ShellWord.quoted).joined(separator: " ")
    }

    private func sayOthers(_ file: String) {
        Terminal.output.line("")
        for line in self.uninstall ? OwnStores.removal() : OwnStores.installation(of: file) { Terminal.output.line(line) }
    }
}

/// The system's trust store, and the commands that add a certificate to it and remove it. Does not run them.
enum SystemStore: Hashable {
    /// A folder for the administrator's certificates, and the program that rebuilds the store.
    case folder(String, update: String)
    /// A keychain of macOS.
    case keychain(String)

    static let name = "wiretape.crt"

    /// Chosen by folder, since two kinds of system have a program of the same name.
    static let folders = [
        (folder: "/usr/local/share/ca-certificates", update: "update-ca-certificates"),  // Debian, Ubuntu, Alpine
        (folder: "/etc/pki/ca-trust/source/anchors", update: "update-ca-trust"),  // Fedora, Red Hat
        (folder: "/etc/pki/trust/anchors", update: "update-ca-certificates"),  // SUSE
    ]

    /// Nil if the system is not known.
    static func current() -> Self? {
        #if os(macOS)
        if getuid() == 0 { return .keychain("/Library/Keychains/System.keychain") }
        return getenv("HOME").map { .keychain(String(cString: $0) + "/Library/Keychains/login.keychain-db") }
        #else
        return self.folders.first { access($0.folder, F_OK) == 0 }.map { .folder($0.folder, update: $0.update) }
        #endif
    }

    var needsRoot: Bool {
        switch self {
        case .folder: true
        case .keychain: false
        }
    }

    func installation(of file: String) -> [[String]] {
        switch self {
        case .folder(let folder, let update): [["install", "-m", "644", file, "\(folder)/\(Self.name)"], [update]]
        case .keychain(let keychain):
            // -d: for all users, as the system keychain is.
            [
                ["security", "add-trusted-cert"] + (keychain.hasPrefix("/Library/") ? ["-d"] : []) + [
                    "-r", "trustRoot", "-k", keychain, file,
                ]
            ]
        }
    }

    func removal(of file: String) -> [[String]] {
        switch self {
        case .folder(let folder, let update):
            // Without --fresh, Debian's program leaves dangling links.
            [["rm", "-f", "\(folder)/\(Self.name)"], update == "update-ca-certificates" ? [update, "--fresh"] : [update]]
        case .keychain(let keychain):
            [["security", "remove-trusted-cert"] + (keychain.hasPrefix("/Library/") ? ["-d"] : []) + [file]]
        }
    }
}

/// Instructions for programs that have a trust store of their own. Does not carry them out.
enum OwnStores {
    static func installation(of file: String) -> [String] {
        let word = ShellWord.quoted(file)
        return [
            "# Programs with a store of their own:",
            "# Firefox: Settings > Privacy & Security > Certificates > View Certificates > Authorities > Import",
            "#   \(file)",
            "# Chrome and Chromium on Linux (certutil is in Debian's package libnss3-tools):",
            "#   certutil -A -d sql:$HOME/.pki/nssdb -n wiretape -t C,, -i \(word)",
            "# Java, for all programs of one installation:",
            "#   keytool -importcert -noprompt -cacerts -storepass changeit -alias wiretape -file \(word)",
            "# A program that is run after \"--\" needs none of this; for others: wiretape env",
        ]
    }

    static func removal() -> [String] {
        [
            "# Programs with a store of their own:",
            "# Firefox: Settings > Privacy & Security > Certificates > View Certificates > Authorities, \"Wiretape\", Delete or Distrust",
            "# Chrome and Chromium on Linux:",
            "#   certutil -D -d sql:$HOME/.pki/nssdb -n wiretape",
            "# Java:",
            "#   keytool -delete -cacerts -storepass changeit -alias wiretape",
        ]
    }
}
