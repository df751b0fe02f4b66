internal import Platform
internal import TapeTLS
internal import TapeTrust

/// The files that make a program trust the recorder in addition to the authorities that it trusts anyway.
///
/// Made once from the authority, the system's roots and the files that the parent's variables name; later runs reuse them.
struct ChildTrust: Hashable {
    /// All roots as PEM.
    var bundle: String
    /// The same as a PKCS#12 store for Java; nil if it could not be made.
    var javaStore: String?
    /// The user's settings for wget and the bundle's path: wget with GnuTLS reads no variable that names a bundle.
    var wgetSettings: String
    /// A folder of PHP settings that name the bundle, since no variable names it to PHP's curl. Nil if PHP is not configured.
    var phpSettings: String?
    /// Notices about what the program will not trust, and why.
    var notices: [String]

    /// Java's default password for trust stores, which hold no secrets.
    static let javaPassword = "changeit"

    fileprivate static let phpFile = "wiretape.ini"

    /// Variables that name a file of roots.
    static let names = [
        "SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO", "AWS_CA_BUNDLE", "PIP_CERT",
        "CARGO_HTTP_CAINFO", "DENO_CERT", "PERL_LWP_SSL_CA_FILE", "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", "BUNDLE_SSL_CA_CERT",
        "NIX_SSL_CERT_FILE", "SYSTEM_CERTIFICATE_PATH",
    ]
    /// Variables that are set only if the parent has set them, since they would override the others.
    static let namesIfSet = ["HTTPLIB2_CA_CERTS", "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE", "HEX_CACERTS_PATH", "npm_config_cafile"]

    /// - Parameter authority: the recorder's certificate as PEM, with the chain to a root.
    static func prepare(
        authority: [UInt8], folder: TrustFolder, parent: [String: String], places: [String] = SystemRoots.places
    ) throws(TrustError) -> Self {
        let systemFile = SystemRoots.file(environment: parent, places: places)
        var inputs: [[UInt8]] = []
        // A company's authority is often in a file of its own that one variable names.
        var paths: [String] = []
        for path in [systemFile] + (Self.names + Self.namesIfSet).map({ parent[$0] }) {
            guard let path, !path.isEmpty, !paths.contains(path) else { continue }
            paths.append(path)
            // The program could not read an unreadable file before either.
            if let input = try? WholeFile.read(path), !inputs.contains(input) { inputs.append(input) }
        }
        inputs.append(authority)
        let name = try Self.name(of: inputs + [SystemRoots.keychainStamp()])

        let bundle = try folder.file("bundle-\(name).pem") { () throws(TrustError) in Self.bundle(of: inputs) }
        var notices: [String] = []
        if systemFile == nil {
            notices.append(
                "no bundle of the system's roots was found, so the program trusts only Wiretape's authority: install ca-certificates.")
        }
        var javaStore: String?
        do throws(TrustError) {
            javaStore = try folder.file("java-\(name).p12") { () throws(TrustError) in try Self.store(of: bundle) }
        } catch {
            notices.append("there is no trust store for Java programs: \(error.message)")
        }
        let settings = WgetSettings.text(user: WgetSettings.read(parent), bundle: bundle)
        // A user's settings can contain passwords.
        let wgetSettings = try folder.file("wgetrc-\(try Self.name(of: [settings]))", mode: 0o600) { () throws(TrustError) in settings }
        let phpFolder = TrustFolder(path: folder.file("php-\(name)"))
        _ = try folder.file("php-\(name)/\(Self.phpFile)") { () throws(TrustError) in
            guard phpFolder.exists() else { throw phpFolder.problem }
            return Array("curl.cainfo = \"\(bundle)\"\nopenssl.cafile = \"\(bundle)\"\n".utf8)
        }
        return Self(
            bundle: bundle, javaStore: javaStore, wgetSettings: wgetSettings, phpSettings: phpFolder.path, notices: notices)
    }

    private static func bundle(of inputs: [[UInt8]]) -> [UInt8] {
        var certificates = PEMCertificates()
        for input in inputs { certificates.add(input) }
        certificates.add(SystemRoots.keychainCertificates())
        return certificates.text
    }

    private static func store(of bundle: String) throws(TrustError) -> [UInt8] {
        let text = try WholeFile.read(bundle)
        do throws(CertificateError) {
            return try TrustStore.pkcs12(certificatesPEM: text, password: Self.javaPassword)
        } catch {
            throw TrustError(error.message)
        }
    }

    /// Twelve hex digits that identify the inputs.
    private static func name(of inputs: [[UInt8]]) throws(TrustError) -> String {
        guard var digest = SHA256Digest() else {
            throw TrustError("OpenSSL offers no SHA-256: check the configuration that \"openssl version -a\" names.")
        }
        for input in inputs {
            // The length before each input keeps their boundaries apart.
            withUnsafeBytes(of: UInt64(input.count).littleEndian) { digest.update($0) }
            input.withUnsafeBytes { digest.update($0) }
        }
        return digest.finalize().prefix(6).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

/// The settings file of wget (WGETRC), which replaces the user's own and therefore repeats it.
///
/// wget built on GnuTLS, as on Debian, trusts the system's store and the file in `ca_certificate`, and reads no variable but WGETRC.
enum WgetSettings {
    private static let mark = "# by wiretape: trusts the recorder beside the rest"

    /// - Parameter user: the settings that it replaces. Additions by an outer run are left out.
    static func text(user: [UInt8], bundle: String) -> [UInt8] {
        var text = Array(Self.withoutOurs(user))
        if let last = text.last, last != 0x0A { text.append(0x0A) }
        text += "\(self.mark)\nca_certificate = \(bundle)\n".utf8
        return text
    }

    private static func withoutOurs(_ user: [UInt8]) -> ArraySlice<UInt8> {
        let mark = Array(self.mark.utf8)
        var start = user.startIndex
        while start + mark.count <= user.endIndex {
            if user[start...].starts(with: mark) { return user[..<start] }
            guard let end = user[start...].firstIndex(of: 0x0A) else { break }
            start = end + 1
        }
        return user[...]
    }

    /// The user's own settings, found as wget finds them; empty if there are none.
    static func read(_ environment: [String: String]) -> [UInt8] {
        let path = environment["WGETRC"] ?? environment["HOME"].map { "\($0)/.wgetrc" }
        return path.flatMap { try? WholeFile.read($0) } ?? []
    }
}

/// The folder next to an authority for files made from it. Their names identify their inputs.
///
/// A file is created if it is missing, and never changed; a bundle of roots to which a program has written is made again, so that no later one
/// trusts them. If it is unused for a month, it is removed when another is created; if it were
/// removed earlier, a program that is still running could lose it.
struct TrustFolder {
    let path: String
    private static let day: time_t = 24 * 3600
    private static let lifetime: time_t = 30 * day

    func file(_ name: String) -> String { "\(self.path)/\(name)" }

    /// The path of a file of that name. Creates the file if it is missing.
    func file(
        _ name: String, mode: mode_t = 0o644, now: time_t = time(nil), make: () throws(TrustError) -> [UInt8]
    ) throws(TrustError) -> String {
        let path = self.file(name)
        var status = stat()
        var made: [UInt8]?
        if stat(path, &status) == 0, status.st_size > 0, try self.isAsMade(name, make, &made) {
            if now - Self.modified(status) > Self.day { utimes(path, nil) }
            return path
        }
        let bytes: [UInt8]
        if let made { bytes = made } else { bytes = try make() }
        guard self.exists() else { throw self.problem }
        self.removeOld(now)
        try WholeFile.replace(path, with: bytes, mode: mode)
        return path
    }

    /// Whether an existing file is what would be made. Only bundles are compared: their variables, such as `SSL_CERT_FILE`, invite programs to
    /// append roots.
    private func isAsMade(_ name: String, _ make: () throws(TrustError) -> [UInt8], _ made: inout [UInt8]?) throws(TrustError) -> Bool {
        guard name.hasPrefix("bundle-") else { return true }
        let bytes = try make()
        made = bytes
        return (try? WholeFile.read(self.file(name))) == bytes
    }

    /// Creates the folder if it is missing.
    func exists() -> Bool { Self.create(self.path) }

    var problem: TrustError {
        TrustError("cannot create the folder \"\(self.path)\" (\(String(cString: strerror(errno)))): name another with --ca-dir.")
    }

    /// Creates the parents as well: if a certificate is given, no authority has created them.
    private static func create(_ path: String) -> Bool {
        if mkdir(path, 0o700) == 0 || errno == EEXIST { return true }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return false }
        return self.create(String(path[..<slash])) && (mkdir(path, 0o700) == 0 || errno == EEXIST)
    }

    private func removeOld(_ now: time_t) {
        guard let stream = opendir(self.path) else { return }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            // SAFETY: readdir's name ends with a NUL and is valid until the next call.
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: pointer.pointee)) { String(cString: $0) }
            }
            var status = stat()
            if name.hasPrefix("php-") {
                let file = "\(self.file(name))/\(ChildTrust.phpFile)"
                guard lstat(file, &status) == 0, now - Self.modified(status) > Self.lifetime else { continue }
                unlink(file)
                rmdir(self.file(name))
            }
            guard ["bundle-", "cacerts-", "dated-", "java-", "wgetrc-", "root-"].contains(where: name.hasPrefix) else { continue }
            if lstat(self.file(name), &status) == 0, now - Self.modified(status) > Self.lifetime { unlink(self.file(name)) }
        }
    }

    private static func modified(_ status: stat) -> time_t {
        #if canImport(Darwin)
        status.st_mtimespec.tv_sec
        #else
        status.st_mtim.tv_sec
        #endif
    }
}
