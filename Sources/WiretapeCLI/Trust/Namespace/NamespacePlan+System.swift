internal import Platform
internal import TapeBytes
internal import TapeTLS
internal import TapeTrust

extension NamespacePlan {
    /// The plan for this system, with what it needs put into the folder of trust.
    ///
    /// - Parameter authority: the recorder's certificate as PEM, with those that lead to a root.
    static func prepare(
        _ trust: ChildTrust, authority: [UInt8], folder: TrustFolder, files: [String] = SystemRoots.files(),
        folders: [String] = SystemRoots.folders()
    ) throws(TrustError) -> NamespacePlan {
        let holder = folder.file("holder")
        guard mkdir(holder, 0o700) == 0 || errno == EEXIST else {
            throw TrustError("cannot make the folder \"\(holder)\" (\(String(cString: strerror(errno)))): give another with --ca-dir.")
        }
        return NamespacePlan(
            bundle: trust.bundle, holder: holder, files: files, folders: folders, roots: try self.roots(of: authority, in: folder))
    }

    private static func roots(of authority: [UInt8], in folder: TrustFolder) throws(TrustError) -> [Root] {
        var certificates = PEMCertificates()
        certificates.add(authority)
        var roots: [Root] = []
        for pem in certificates.texts {
            let (hash, fingerprint) = try self.names(of: pem)
            roots.append(Root(hash: hash, path: try folder.file("root-\(fingerprint).pem") { () throws(TrustError) in pem }))
        }
        return roots
    }

    private static func names(of pem: [UInt8]) throws(TrustError) -> (hash: String, fingerprint: String) {
        do throws(CertificateError) {
            let certificate = try Certificate(pem: pem)
            return (certificate.subjectHash, Hex.encode(certificate.summary.fingerprint.prefix(8)))
        } catch {
            throw TrustError("the authority's certificate cannot be read: \(error.message)")
        }
    }
}
