internal import ArgumentParser
internal import Platform
internal import TapeTLS
internal import TapeTrust

/// Which certificate authority is meant: Wiretape's own in its folder, or a certificate that was given.
struct AuthorityOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Folder of the certificate authority, made on first use. Default: WIRETAPE_CA_DIR, or \"wiretape\" in the folder for programs' data.",
            valueName: "folder"))
    var caDir: String?

    @Option(help: ArgumentHelp("Use this CA certificate, a PEM file, in place of Wiretape's own.", valueName: "file"))
    var caCert: String?

    /// The folder for what Wiretape makes, also where a certificate was given.
    func folder(environment: [String: String] = ChildEnvironment.parent) throws(TrustError) -> String {
        if let caDir, !caDir.isEmpty { return AuthorityLocation.absolute(caDir) }
        guard let folder = AuthorityLocation.standard(environment: environment) else {
            throw TrustError(
                "there is no home folder to keep the certificate authority in: set HOME, or give a folder with --ca-dir or WIRETAPE_CA_DIR."
            )
        }
        return folder
    }

    /// Where a run has the authority, which has to do without a folder that keeps it where there is none.
    func place(environment: [String: String] = ChildEnvironment.parent) throws(TrustError) -> AuthorityPlace {
        if let caDir, !caDir.isEmpty { return AuthorityPlace(folder: AuthorityLocation.absolute(caDir)) }
        return try AuthorityPlace(environment: environment, needsAuthority: self.caCert == nil)
    }

    /// For what is made from the certificate.
    func trustFolder() throws(TrustError) -> String { try self.folder() + "/trust" }

    /// What must never be written over.
    func files() throws(TrustError) -> [String] {
        if let caCert { return [AuthorityLocation.absolute(caCert)] }
        let files = AuthorityFiles(folder: try self.folder())
        return [files.certificatePath, files.keyPath]
    }

    /// The certificate's file; none is made.
    func certificateFile() throws(TrustError) -> String { try self.files()[0] }

    /// The certificate; Wiretape's own authority is made where there is none.
    func certificate() throws(TrustError) -> AuthorityCertificate {
        let file = try self.certificateFile()
        if self.caCert == nil { try self.create(in: try self.folder()) }
        return try AuthorityCertificate(file: file)
    }

    private func create(in folder: String) throws(TrustError) {
        do throws(CertificateError) {
            _ = try AuthorityFiles(folder: folder).loadOrCreate(now: Int64(time(nil)))
        } catch {
            throw TrustError(error.message)
        }
    }
}
