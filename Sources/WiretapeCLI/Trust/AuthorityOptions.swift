internal import ArgumentParser
internal import Platform
internal import TapeTLS
internal import TapeTrust

/// The certificate authority to use: Wiretape's own in its folder, or a given certificate.
struct AuthorityOptions: ParsableArguments {
    static let folderHelp = ArgumentHelp(
        "Folder of the certificate authority, created on first use. Default: WIRETAPE_CA_DIR, or \"wiretape\" in the folder for programs' data.",
        valueName: "folder")
    static let certificateHelp = ArgumentHelp("Use this CA certificate, a PEM file, instead of Wiretape's own.", valueName: "file")

    @Option(help: Self.folderHelp, completion: .directory)
    var caDir: String?

    @Option(help: Self.certificateHelp, completion: .file())
    var caCert: String?

    init() {}

    init(caDir: String?, caCert: String?) {
        self.caDir = caDir
        self.caCert = caCert
    }

    /// The folder for files that Wiretape creates, even if a certificate is given.
    func folder(environment: [String: String] = ChildEnvironment.parent) throws(TrustError) -> String {
        if let caDir, !caDir.isEmpty { return AuthorityLocation.absolute(caDir) }
        guard let folder = AuthorityLocation.standard(environment: environment) else {
            throw TrustError(
                "there is no home folder to keep the certificate authority in: set HOME, or name a folder with --ca-dir or WIRETAPE_CA_DIR."
            )
        }
        return folder
    }

    /// The authority's place for a run, which can do without a permanent folder.
    func place(environment: [String: String] = ChildEnvironment.parent) throws(TrustError) -> AuthorityPlace {
        if let caDir, !caDir.isEmpty { return AuthorityPlace(folder: AuthorityLocation.absolute(caDir)) }
        return try AuthorityPlace(environment: environment, needsAuthority: self.caCert == nil)
    }

    /// The folder for files that are made from the certificate.
    func trustFolder() throws(TrustError) -> String { try self.folder() + "/trust" }

    /// The files that must never be overwritten.
    func files() throws(TrustError) -> [String] {
        if let caCert { return [AuthorityLocation.absolute(caCert)] }
        let files = AuthorityFiles(folder: try self.folder())
        return [files.certificatePath, files.keyPath]
    }

    /// The certificate's file. Does not create one.
    func certificateFile() throws(TrustError) -> String { try self.files()[0] }

    /// The certificate. Creates Wiretape's own authority if there is none.
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

/// The authority's certificate without its key, for others to trust.
struct AuthorityCertificate: Hashable {
    var file: String
    /// Only the certificate, whatever else its file contains.
    var pem: [UInt8]
    var der: [UInt8]
    /// All certificates of the file. If the first is an intermediate one, programs have to trust the root to which it leads.
    var chain: [UInt8]
    var summary: CertificateSummary
    /// A description of the key, for people.
    var key: String

    init(file: String) throws(TrustError) {
        let text = try WholeFile.read(file)
        do throws(CertificateError) {
            let certificate = try Certificate(pem: text)
            self.file = file
            self.pem = certificate.pem()
            self.der = certificate.der()
            var chain = PEMCertificates()
            chain.add(text)
            self.chain = chain.text
            self.summary = certificate.summary
            self.key = certificate.keyDescription
        } catch {
            throw TrustError("\"\(file)\": \(error.message)")
        }
    }
}
