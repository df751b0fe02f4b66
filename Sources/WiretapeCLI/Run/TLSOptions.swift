public import ArgumentParser
internal import Platform
internal import TapeBytes
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
    ///   - instant: a time at which the certificates have to be valid, in seconds since 1970; nil for now.
    ///   - notice: receives a line that a person should know although nothing failed.
    func settings(
        in place: AuthorityPlace, upstream: UpstreamTLSOptions?, validAt instant: Int64? = nil,
        environment: [String: String] = ChildEnvironment.parent, notice: (String) -> Void
    ) throws(TrustError) -> TLSSettings {
        var settings = TLSSettings(authority: try self.loadAuthority(place, validAt: instant, notice: notice), clientMinimum: self.tlsMin)
        settings.clientHTTP2 = self.clientHTTP2
        settings.leafTime = instant
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

    private func loadAuthority(
        _ place: AuthorityPlace, validAt instant: Int64?, notice: (String) -> Void
    ) throws(TrustError) -> TLSSettings.Authority {
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
        guard let instant else { return .loaded(authority) }
        let key: [UInt8]
        do throws(CertificateError) {
            key = try authority.authority.keyPEM()
        } catch {
            throw TrustError(error.message)
        }
        return .pem(certificate: try WholeFile.read(self.certificateFile(in: place, validAt: instant)), key: key)
    }

    /// The authority's certificate, or the same with an earlier beginning if it is not valid at `instant`.
    private func certificateFile(in place: AuthorityPlace, validAt instant: Int64?) throws(TrustError) -> String {
        let files = self.files(place)
        guard let instant else { return files.certificatePath }
        do throws(CertificateError) {
            let authority = try files.load(now: Int64(time(nil)))
            guard !authority.signs(at: instant) else { return files.certificatePath }
        } catch {
            throw TrustError(error.message)
        }
        guard self.caCert == nil else {
            let date = Timestamp(microseconds: instant * 1_000_000).formatted
            throw TrustError(
                "the certificate \"\(files.certificatePath)\" was not valid at the time of the recording (\(date)): leave out --ca-cert, so that Wiretape's own authority is used, or --clock."
            )
        }
        return try DatedAuthority(files: files, instant: instant).file(in: TrustFolder(path: place.trustFolder))
    }

    private func files(_ place: AuthorityPlace) -> AuthorityFiles {
        guard let certificate = self.caCert, let key = self.caKey else { return AuthorityFiles(folder: place.folder) }
        return AuthorityFiles(certificateFile: certificate, keyFile: key)
    }

    /// The certificate that the program has to trust; call after `settings`.
    ///
    /// - Parameter instant: as for `settings`.
    func certificate(in place: AuthorityPlace, validAt instant: Int64? = nil) throws(TrustError) -> AuthorityCertificate {
        try AuthorityCertificate(file: self.certificateFile(in: place, validAt: instant))
    }
}

/// The authority's certificate for a run in the past: the same name and key, valid from an earlier time on.
///
/// Its file is in the folder of files that are made from the authority, so that runs of one cassette trust the same bytes.
struct DatedAuthority {
    /// In seconds. Recordings of the same period share a certificate.
    private static let period: Int64 = 365 * 86_400
    /// In seconds, for the margin of leaves.
    private static let margin: Int64 = 7 * 86_400

    let files: AuthorityFiles
    /// A time at which it is valid, in seconds since 1970.
    let instant: Int64

    /// The path of its file, which is made if it is missing.
    func file(in folder: TrustFolder) throws(TrustError) -> String {
        let start = (self.instant - Self.margin) / Self.period * Self.period
        let original = try AuthorityCertificate(file: self.files.certificatePath)
        let name = Hex.encode(Array(original.summary.fingerprint.prefix(6)))
        return try folder.file("dated-\(name)-\(start).pem") { () throws(TrustError) in
            do throws(CertificateError) {
                return try self.files.load(now: Int64(time(nil))).certificatePEM(validFrom: start)
            } catch {
                throw TrustError(error.message)
            }
        }
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
