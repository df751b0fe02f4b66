internal import ArgumentParser
internal import CassetteModel
internal import CassetteTools
internal import TapeBytes
internal import TapeTLS
internal import TapeTrust

struct CACommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ca",
        abstract: "Show, export or install the certificate authority that opens HTTPS.",
        discussion: """
            The authority is created on this machine on first use, and signs the certificates that the proxy's clients see. A program \
            after "--" trusts it automatically; others need "wiretape env" or "wiretape ca install". Keep its key secret: anyone who has it \
            can read the traffic of programs that trust the authority.

            Examples:
              wiretape ca show
              wiretape ca export --format der --output wiretape-ca.der
              wiretape ca install --dry-run
            """,
        subcommands: [CAPathCommand.self, CAShowCommand.self, CAExportCommand.self, CAInstallCommand.self])
}

struct CAPathCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "path",
        abstract: "Print the path of the authority's certificate, a PEM file.",
        discussion: """
            Example:
              curl --cacert "$(wiretape ca path)" --proxy 127.0.0.1:7070 https://example.test/
            """)

    @OptionGroup var authority: AuthorityOptions

    func run() throws {
        SignalThread.unblock()
        try TrustError.reporting { () throws(TrustError) in Terminal.output.line(try self.authority.certificate().file) }
    }
}

struct CAShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the authority: subject, fingerprint, validity, key, file.")

    @OptionGroup var authority: AuthorityOptions

    func run() throws {
        SignalThread.unblock()
        try TrustError.reporting { () throws(TrustError) in
            let authority = try self.authority.certificate()
            for line in Self.lines(authority) { Terminal.output.line(line) }
        }
    }

    static func lines(_ authority: AuthorityCertificate) -> [String] {
        [
            "subject      \(VisibleText.line(authority.summary.subject))",
            "fingerprint  SHA-256 \(self.fingerprint(authority.summary.fingerprint))",
            "valid        \(self.date(authority.summary.notBefore)) to \(self.date(authority.summary.notAfter))",
            "key          \(authority.key)",
            "file         \(VisibleText.line(authority.file))",
        ]
    }

    /// In the form in which browsers and `openssl x509 -fingerprint` show it.
    private static func fingerprint(_ digest: [UInt8]) -> String {
        digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined(separator: ":")
    }

    private static func date(_ seconds: Int64) -> String {
        // A certificate's times end in the year 9999.
        String(Timestamp(microseconds: seconds * 1_000_000).description.prefix(10))
    }
}

struct CAExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the authority's certificate for another program or device; never its key.",
        discussion: """
            pem is for most programs, Firefox and macOS; der (often named .crt or .cer) for Android, iOS and Windows; p12 for Java, as a \
            trust store of its own. A p12 file has a password because Java and iOS refuse one without; it protects nothing, since \
            the certificate is public.

            Examples:
              wiretape ca export > wiretape-ca.pem
              wiretape ca export --format der --output wiretape-ca.crt
              wiretape ca export --format p12 --output wiretape-ca.p12
            """)

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case pem, der, p12
    }

    @Option(help: "The format of the certificate.")
    var format = Format.pem

    @Option(name: .shortAndLong, help: ArgumentHelp("The file to write. Default: standard output.", valueName: "file"), completion: .file())
    var output: String?

    @Option(help: ArgumentHelp("The password of a p12 file, six characters or more for Java.", valueName: "password"))
    var password = ChildTrust.javaPassword

    @OptionGroup var authority: AuthorityOptions

    func run() throws {
        SignalThread.unblock()
        try TrustError.reporting { () throws(TrustError) in try self.export(to: .output) }
    }

    /// - Parameter terminal: receives the certificate if there is no --output.
    func export(to terminal: Terminal) throws(TrustError) {
        if self.output == nil, self.format != .pem, terminal.isTerminal {
            throw TrustError(
                "\(self.format.rawValue) is binary, which a terminal cannot show: pass --output wiretape-ca.\(self.format.rawValue), or redirect the output."
            )
        }
        let authority = try self.authority.certificate()
        let bytes = try self.bytes(of: authority)
        guard let output else { return terminal.write(bytes) }
        let path = AuthorityLocation.absolute(output)
        guard !(try self.authority.files()).contains(where: { WholeFile.areSame(path, $0) }) else {
            throw TrustError("\"\(output)\" is the authority itself: choose another --output.")
        }
        try WholeFile.replace(path, with: bytes, mode: 0o644)
    }

    private func bytes(of authority: AuthorityCertificate) throws(TrustError) -> [UInt8] {
        switch self.format {
        case .pem: return authority.pem
        case .der: return authority.der
        case .p12:
            do throws(CertificateError) {
                return try TrustStore.pkcs12(certificatesPEM: authority.pem, password: self.password)
            } catch {
                throw TrustError(error.message)
            }
        }
    }
}
