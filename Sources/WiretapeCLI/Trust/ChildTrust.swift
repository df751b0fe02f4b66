internal import TapeTLS
internal import TapeTrust

/// The files through which a program comes to trust the recorder beside what it trusts anyway.
///
/// Made once from the authority, the system's roots and what the parent's own variables name; at later starts only looked for.
struct ChildTrust: Hashable {
    /// All roots as PEM.
    var bundle: String
    /// The same as a PKCS#12 store for Java; nil where it could not be made.
    var javaStore: String?
    /// The user's settings for wget and the bundle's path: wget with GnuTLS reads no variable that names a bundle.
    var wgetSettings: String
    /// What a person should know: what the program will not trust, and why.
    var notices: [String]

    /// Java's own for trust stores, which hold no secrets.
    static let javaPassword = "changeit"

    /// Variables that name a file of roots.
    static let names = [
        "SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO", "AWS_CA_BUNDLE", "PIP_CERT",
        "CARGO_HTTP_CAINFO", "DENO_CERT", "PERL_LWP_SSL_CA_FILE", "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", "BUNDLE_SSL_CA_CERT",
        "NIX_SSL_CERT_FILE",
    ]
    /// Variables that need a value only where the parent has given one, since it would go before the others.
    static let namesIfSet = ["HTTPLIB2_CA_CERTS", "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE", "HEX_CACERTS_PATH", "npm_config_cafile"]

    /// - Parameter authority: the recorder's certificate as PEM, with those that lead to a root.
    static func prepare(
        authority: [UInt8], folder: TrustFolder, parent: [String: String], places: [String] = SystemRoots.places
    ) throws(TrustError) -> Self {
        let systemFile = SystemRoots.file(environment: parent, places: places)
        var inputs: [[UInt8]] = []
        // A company's authority often lies in a file of its own that one variable names.
        var paths: [String] = []
        for path in [systemFile] + (Self.names + Self.namesIfSet).map({ parent[$0] }) {
            guard let path, !path.isEmpty, !paths.contains(path) else { continue }
            paths.append(path)
            // What cannot be read is the program's own matter: it could not read it before either.
            if let input = try? WholeFile.read(path), !inputs.contains(input) { inputs.append(input) }
        }
        inputs.append(authority)
        let name = try Self.name(of: inputs + [SystemRoots.keychainStamp()])

        let bundle = try folder.file("bundle-\(name).pem") { () throws(TrustError) in Self.bundle(of: inputs) }
        var notices: [String] = []
        if systemFile == nil {
            notices.append(
                "no bundle of the system's roots was found, so the program trusts Wiretape's authority alone: install ca-certificates.")
        }
        var javaStore: String?
        do throws(TrustError) {
            javaStore = try folder.file("java-\(name).p12") { () throws(TrustError) in try Self.store(of: bundle) }
        } catch {
            notices.append("there is no trust store for Java programs: \(error.message)")
        }
        let settings = WgetSettings.text(user: WgetSettings.read(parent), bundle: bundle)
        // A user's settings can hold passwords.
        let wgetSettings = try folder.file("wgetrc-\(try Self.name(of: [settings]))", mode: 0o600) { () throws(TrustError) in settings }
        return Self(bundle: bundle, javaStore: javaStore, wgetSettings: wgetSettings, notices: notices)
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

    /// Twelve digits that stand for some contents.
    private static func name(of inputs: [[UInt8]]) throws(TrustError) -> String {
        guard var digest = SHA256Digest() else {
            throw TrustError("OpenSSL has no SHA-256 to give: look at the configuration that \"openssl version -a\" names.")
        }
        for input in inputs {
            // The length in front tells two inputs from one.
            withUnsafeBytes(of: UInt64(input.count).littleEndian) { digest.update($0) }
            input.withUnsafeBytes { digest.update($0) }
        }
        return digest.finalize().prefix(6).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

/// The settings file of wget (WGETRC), which takes the place of the user's own and therefore repeats it.
///
/// wget built on GnuTLS, as Debian has it, trusts the system's store and what `ca_certificate` names, and reads no variable but WGETRC.
enum WgetSettings {
    private static let mark = "# by wiretape: trusts the recorder beside the rest"

    /// - Parameter user: the settings it takes the place of. What an outer run has added is left out.
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

    /// The user's own settings, as wget looks for them; empty where there are none.
    static func read(_ environment: [String: String]) -> [UInt8] {
        let path = environment["WGETRC"] ?? environment["HOME"].map { "\($0)/.wgetrc" }
        return path.flatMap { try? WholeFile.read($0) } ?? []
    }
}
