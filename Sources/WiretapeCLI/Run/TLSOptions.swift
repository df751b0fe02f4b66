public import ArgumentParser
internal import Platform
internal import TapeProxy
public import TapeTLS

/// The HTTPS options of `record`, `replay`, `run` and `serve`: the authority that clients must trust, and what they may use.
struct TLSOptions: ParsableArguments {
    @Option(help: AuthorityOptions.folderHelp, completion: .directory)
    var caDir: String?

    @Option(help: AuthorityOptions.certificateHelp, completion: .file())
    var caCert: String?

    @Option(help: ArgumentHelp("The key of --ca-cert, a PEM file without a password.", valueName: "file"), completion: .file())
    var caKey: String?

    @Option(help: ArgumentHelp("Minimum TLS version for clients.", valueName: "version"))
    var tlsMin = TLSVersion.tls12

    @Option(
        name: .customLong("client-http2"),
        help: ArgumentHelp(
            "Which clients that offer HTTP/2 in TLS get it: \"mirror\" those whose origin speaks it, \"always\" all, \"never\" none.",
            valueName: "when"))
    var clientHTTP2 = ClientHTTP2.mirror

    func validate() throws {
        guard (self.caCert == nil) == (self.caKey == nil) else {
            throw ValidationError("--ca-cert and --ca-key must be used together: pass both, or neither for Wiretape's own authority.")
        }
    }

    var authority: AuthorityOptions { AuthorityOptions(caDir: self.caDir, caCert: self.caCert) }

    // MARK: Settings of the proxy

    /// - Parameters:
    ///   - place: the place of Wiretape's own authority, which is created there if necessary.
    ///   - upstream: nil if no origin is reached.
    ///   - notice: receives a line that a person should know although nothing failed.
    func settings(
        in place: AuthorityPlace, upstream: UpstreamTLSOptions?, environment: [String: String] = ChildEnvironment.parent,
        notice: (String) -> Void
    ) throws(TrustError) -> TLSSettings {
        var settings = TLSSettings(authority: .loaded(try self.loadAuthority(place, notice: notice)), clientMinimum: self.tlsMin)
        settings.clientHTTP2 = self.clientHTTP2
        if let upstream { try upstream.apply(to: &settings) }
        if let path = environment["SSLKEYLOGFILE"], !path.isEmpty {
            settings.keyLog = KeyLog(path: path)
            if settings.keyLog == nil {
                notice(
                    "the file \"\(path)\" that SSLKEYLOGFILE names cannot be written (\(String(cString: strerror(errno)))): no keys are logged."
                )
            }
        }
        return settings
    }

    private func loadAuthority(_ place: AuthorityPlace, notice: (String) -> Void) throws(TrustError) -> LoadedAuthority {
        let files = self.files(place)
        let isNew = access(files.certificatePath, F_OK) != 0
        let authority: LoadedAuthority
        do throws(CertificateError) {
            authority = LoadedAuthority(try files.loadOrCreate(now: Int64(time(nil))))
        } catch {
            throw TrustError(error.message)
        }
        if let warning = files.warning { notice(warning) }
        if let said = place.notice {
            notice(said)
        } else if isNew {
            notice(
                "created a certificate authority in \"\(files.certificatePath)\": a program after \"--\" trusts it automatically, others by \"wiretape env\" or \"wiretape ca install\"."
            )
        }
        return authority
    }

    private func files(_ place: AuthorityPlace) -> AuthorityFiles {
        guard let certificate = self.caCert, let key = self.caKey else { return AuthorityFiles(folder: place.folder) }
        return AuthorityFiles(certificateFile: certificate, keyFile: key)
    }

    /// The certificate that the program has to trust; call after `settings`.
    func certificate(in place: AuthorityPlace) throws(TrustError) -> AuthorityCertificate {
        try AuthorityCertificate(file: self.files(place).certificatePath)
    }
}

extension TLSVersion: ExpressibleByArgument {}
extension ClientHTTP2: ExpressibleByArgument {}

/// How `record`, `replay` and `run` make their program trust the authority.
struct TrustOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How the program is made to trust the authority: \"env\" by variables; \"namespace\" also by the system's roots as only it sees them, for libraries that read no variable, such as URLSession (Linux). \"auto\" uses a namespace if it is available.",
            valueName: "means"))
    var trust = TrustMeans.auto

    func validate() throws {
        #if !os(Linux)
        guard self.trust != .namespace else {
            throw ValidationError("--trust namespace works only on Linux: run \"wiretape ca install\" instead.")
        }
        #endif
    }

    func validate(with command: [String]) throws {
        guard self.trust != .namespace || !command.isEmpty else {
            throw ValidationError("--trust namespace needs a program: pass one after \"--\".")
        }
    }
}

/// How the program is made to trust the authority.
enum TrustMeans: String, CaseIterable, ExpressibleByArgument {
    /// `namespace` if the system permits it, otherwise `env`.
    case auto
    /// By variables that name a file of roots, which some libraries do not read.
    case env
    /// By the variables, and by a mount namespace in which the system's roots include the authority.
    case namespace
}
