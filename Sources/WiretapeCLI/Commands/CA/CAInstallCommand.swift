internal import ArgumentParser
internal import Platform
internal import TapeTrust

struct CAInstallCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "install",
        abstract: "Make this system trust the authority, or no longer.",
        discussion: """
            Prints each command before it is run. On Linux the certificate goes into the system's store, which takes root; on macOS into \
            the login keychain, or as root into the system's. Stores that programs keep for themselves are left alone; what to do for \
            Firefox, Chrome and Java is printed.

            Examples:
              wiretape ca install --dry-run
              wiretape ca install --uninstall
            """)

    @Flag(help: "Print what would be done, and do nothing.")
    var dryRun = false

    @Flag(help: "Take the authority out again.")
    var uninstall = false

    @OptionGroup var authority: AuthorityOptions

    func run() throws {
        SignalThread.unblock()
        try TrustError.told { () throws(TrustError) in try self.install() }
    }

    private func install() throws(TrustError) {
        // Nothing is made by a dry run, nor for something to take out.
        let file = self.dryRun || self.uninstall ? try self.authority.certificateFile() : try self.authority.certificate().file
        guard let store = SystemStore.current() else {
            self.sayOthers(file)
            throw TrustError("this system's trust store is not one that is known here: install \"\(file)\" by its own means.")
        }
        let steps = self.uninstall ? store.removal(of: file) : store.installation(of: file)
        if !self.dryRun, store.needsRoot, getuid() != 0 {
            throw TrustError("the system's trust store takes root: \(try self.rootLine())")
        }
        for step in steps {
            Terminal.output.line(step.map(ShellWord.quoted).joined(separator: " "))
            if !self.dryRun { try self.perform(step) }
        }
        self.sayOthers(file)
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
        guard status == 0 else { throw TrustError("\"\(step[0])\" ended with \(status): look at what it says above.") }
    }

    /// The line to paste: another user's folder and PATH are not these.
    private func rootLine() throws(TrustError) -> String {
        var words = ["sudo", AuthorityFolder.program, "ca", "install"]
        if self.uninstall { words.append("--uninstall") }
        if let certificate = self.authority.caCert {
            words += ["--ca-cert", AuthorityFolder.absolute(certificate)]
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
