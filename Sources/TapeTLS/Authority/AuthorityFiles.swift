/// Where an authority is kept: a certificate and a key in PEM form. It reads them, or creates both where there is neither, and changes nothing.
public struct AuthorityFiles: Sendable, Hashable {
    public static let certificateName = "ca-cert.pem"
    public static let keyName = "ca-key.pem"

    public let certificatePath: String
    public let keyPath: String
    /// Nil where the files were named one by one: those are never created.
    private let folder: String?

    /// The authority that is made on first use.
    public init(folder: String) {
        var folder = folder
        while folder.count > 1, folder.hasSuffix("/") { folder.removeLast() }
        self.folder = folder
        self.certificatePath = "\(folder)/\(Self.certificateName)"
        self.keyPath = "\(folder)/\(Self.keyName)"
    }

    /// An authority somebody else made; symbolic links are followed, as secrets are often mounted that way.
    public init(certificateFile: String, keyFile: String) {
        self.folder = nil
        self.certificatePath = certificateFile
        self.keyPath = keyFile
    }

    /// Why the key is not as safe as it should be, with the command that mends it; nil where it is.
    public var warning: String? {
        guard self.keyFile.isReadableByOthers else { return nil }
        return "others can read the key \"\(self.keyPath)\" and forge any site to whoever trusts it; run: chmod 600 '\(self.keyPath)'"
    }

    /// - Parameter now: seconds since 1970.
    public func load(now: Int64) throws(CertificateError) -> CertificateAuthority {
        for (file, other) in [(self.certificateFile, self.keyFile), (self.keyFile, self.certificateFile)] {
            guard !file.isPresent else { continue }
            throw CertificateError(.notFound, self.missing(file.path, beside: other.isPresent ? other.path : nil))
        }
        let certificatePEM = try self.certificateFile.read()
        let keyPEM = try self.keyFile.read()
        let chain = try self.naming(self.certificatePath) { () throws(CertificateError) in try CertificateChain(pem: certificatePEM) }
        let key = try self.naming(self.keyPath) { () throws(CertificateError) in try PrivateKey(pem: keyPEM) }
        do {
            return try CertificateAuthority(chain: chain, key: key, now: now)
        } catch {
            throw CertificateError(error.code, "\"\(self.certificatePath)\" with \"\(self.keyPath)\": \(error.message)\(self.renewal)")
        }
    }

    /// Loads the authority, or makes it where neither file is there; of two programs that start at once both end up with the same.
    ///
    /// - Parameter now: seconds since 1970.
    public func loadOrCreate(now: Int64) throws(CertificateError) -> CertificateAuthority {
        guard let folder = self.folder, !self.certificateFile.isPresent || !self.keyFile.isPresent else { return try self.load(now: now) }
        let lock = try AuthorityFolder(folder)
        // Another program may have made it before the lock was ours.
        if !self.certificateFile.isPresent, !self.keyFile.isPresent {
            let authority = try CertificateAuthority.make(now: now)
            try self.keyFile.create(authority.keyPEM(), mode: 0o600)
            do {
                try self.certificateFile.create(authority.certificatePEM(), mode: 0o644)
            } catch {
                // A key alone would stop every later start.
                self.keyFile.remove()
                throw error
            }
            lock.synchronize()
        }
        return try self.load(now: now)
    }

    private var certificateFile: AuthorityFile { AuthorityFile(path: self.certificatePath, followsLinks: self.folder == nil) }

    private var keyFile: AuthorityFile { AuthorityFile(path: self.keyPath, followsLinks: self.folder == nil) }

    /// What to do where the files are ours: nothing else depends on them but the trust somebody gave.
    private var renewal: String {
        self.folder == nil ? "" : "; or remove both files, start again, and have the new authority trusted"
    }

    private func missing(_ path: String, beside other: String?) -> String {
        guard let other else { return "there is no authority: \"\(path)\" is not there; name another or have one made" }
        let otherwise = self.folder == nil ? "name another" : "remove the other as well, start again, and have the new authority trusted"
        return "\"\(path)\" is missing beside \"\(other)\"; restore it or \(otherwise)"
    }

    private func naming<Value: ~Copyable>(
        _ path: String, _ body: () throws(CertificateError) -> Value
    ) throws(CertificateError) -> Value {
        do {
            return try body()
        } catch {
            throw CertificateError(error.code, "\"\(path)\": \(error.message)\(self.renewal)")
        }
    }
}
