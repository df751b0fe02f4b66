internal import ArgumentParser
internal import TapeProxy
internal import TapeTLS
internal import TapeTrust

/// The options for HTTPS towards origins, in the commands that reach them.
///
/// If several patterns match, the first one given applies. Pins precede --insecure-upstream.
struct UpstreamTLSOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Let CONNECT tunnels to these hosts pass unopened and unrecorded. Repeatable.", valueName: "pattern"),
        transform: { try HostPattern($0) })
    var passthrough: [HostPattern] = []

    @Option(
        help: ArgumentHelp("Answer CONNECT to these hosts with 403. Repeatable.", valueName: "pattern"), transform: { try HostPattern($0) })
    var refuse: [HostPattern] = []

    @Option(
        name: .customLong("upstream-ca"),
        help: ArgumentHelp("Trust the authorities in this PEM file in addition to the system's. Repeatable.", valueName: "file"),
        completion: .file())
    var upstreamCA: [String] = []

    @Option(
        help: ArgumentHelp("Do not check the certificates of these hosts. Repeatable.", valueName: "pattern"),
        transform: { try HostPattern($0) })
    var insecureUpstream: [HostPattern] = []

    @Option(
        help: ArgumentHelp(
            "Identify to these hosts with a certificate; the key is in the same PEM file or in a second one. Repeatable.",
            valueName: "pattern=cert.pem[,key.pem]"),
        completion: .file(), transform: { try HostIdentity($0) })
    var clientCert: [HostIdentity] = []

    @Option(
        help: ArgumentHelp(
            "Accept only this public key (its SHA-256) or a certificate in this PEM file from a host. Repeatable, also for one host.",
            valueName: "host=sha256/base64|host=file.pem"),
        completion: .file(), transform: { try HostPin($0) })
    var pin: [HostPin] = []

    @Option(name: .customLong("upstream-tls-min"), help: ArgumentHelp("Minimum TLS version for origins.", valueName: "version"))
    var upstreamTLSMin = TLSVersion.tls12

    @Option(help: UpstreamProxyOptions.proxyHelp)
    var upstreamProxy: String?

    @Option(help: UpstreamProxyOptions.exceptionHelp, transform: { try HostPattern($0) })
    var noUpstreamProxy: [HostPattern] = []

    @Option(help: UpstreamProxyOptions.fileHelp, completion: .file())
    var upstreamProxyAuthFile: String?

    /// The proxies in front of these origins.
    var proxies: UpstreamProxyOptions {
        UpstreamProxyOptions(
            upstreamProxy: self.upstreamProxy, noUpstreamProxy: self.noUpstreamProxy, upstreamProxyAuthFile: self.upstreamProxyAuthFile)
    }

    func validate() throws { try self.proxies.validate() }

    // MARK: Settings of the proxy

    /// The options with the configuration file's values first, which are more general.
    func laid(over settings: RunSettings) -> UpstreamTLSOptions {
        var laid = self
        laid.passthrough = settings[Settings.passthrough].map(\.value) + self.passthrough
        laid.refuse = settings[Settings.refuse].map(\.value) + self.refuse
        laid.upstreamCA = settings[Settings.upstreamCA].map(\.value) + self.upstreamCA
        laid.insecureUpstream = settings[Settings.insecureUpstream].map(\.value) + self.insecureUpstream
        return laid
    }

    func apply(to settings: inout TLSSettings) throws(TrustError) {
        settings.passthrough = self.passthrough
        settings.refused = self.refuse
        settings.upstreamMinimum = self.upstreamTLSMin
        for path in self.upstreamCA { _ = try Self.certificates(in: path) }
        settings.upstreamRoots = self.upstreamCA
        settings.trust = try self.trustRules()
        settings.identities = try self.identityRules()
    }

    /// Pins precede exceptions from all checks, whatever their order.
    private func trustRules() throws(TrustError) -> [TLSSettings.TrustRule] {
        var rules: [TLSSettings.TrustRule] = []
        for host in self.pin.map(\.host) where !rules.contains(where: { $0.hosts == host }) {
            rules.append(TLSSettings.TrustRule(hosts: host, trust: try self.pinned(host)))
        }
        return rules + self.insecureUpstream.map { TLSSettings.TrustRule(hosts: $0, trust: .disabled) }
    }

    private func identityRules() throws(TrustError) -> [TLSSettings.IdentityRule] {
        var rules: [TLSSettings.IdentityRule] = []
        for given in self.clientCert {
            let certificate = try WholeFile.read(given.certificateFile)
            let key = try WholeFile.read(given.keyFile)
            do throws(CertificateError) {
                let identity = try ClientIdentity(certificatePEM: certificate, keyPEM: key)
                rules.append(TLSSettings.IdentityRule(hosts: given.hosts, identity: identity))
            } catch {
                throw TrustError("\"\(given.certificateFile)\" with \"\(given.keyFile)\": \(error.message)")
            }
        }
        return rules
    }

    /// All pins of one host. Any one of them suffices.
    private func pinned(_ host: HostPattern) throws(TrustError) -> ServerTrust {
        var keys: [[UInt8]] = []
        var certificates: [[UInt8]] = []
        for pin in self.pin where pin.host == host {
            switch pin.pin {
            case .publicKey(let key): keys.append(key.digest)
            case .certificates(let path): certificates += try Self.certificates(in: path)
            }
        }
        guard keys.isEmpty || certificates.isEmpty else {
            throw TrustError("--pin names keys and certificates for \"\(host)\": use one kind for a host.")
        }
        return keys.isEmpty ? .pinnedCertificates(certificates) : .pinnedPublicKeys(keys)
    }

    private static func certificates(in path: String) throws(TrustError) -> [[UInt8]] {
        let text = try WholeFile.read(path)
        do throws(CertificateError) {
            guard let chain = try Certificate.chain(pem: text) else {
                throw CertificateError(.damaged, "there is no certificate in PEM form, which begins with \"-----BEGIN CERTIFICATE-----\"")
            }
            return chain.der()
        } catch {
            throw TrustError("\"\(path)\": \(error.message)")
        }
    }
}

/// `PATTERN=CERT.pem[,KEY.pem]` on the command line: the certificate with which the recorder identifies itself to hosts. Does not read
/// the files.
struct HostIdentity: Hashable {
    var hosts: HostPattern
    var certificateFile: String
    /// The same as the certificate's file if that contains both.
    var keyFile: String

    init(_ text: String) throws(TrustError) {
        let form = "PATTERN=CERT.pem or PATTERN=CERT.pem,KEY.pem"
        let (hosts, value) = try HostPattern.assignment(text, form)
        let files = value.split(separator: ",", omittingEmptySubsequences: false)
        guard files.count <= 2, files.allSatisfy({ !$0.isEmpty }) else {
            throw TrustError("\"\(value)\" is not one file or two with a comma between them: write \(form).")
        }
        self.hosts = hosts
        self.certificateFile = String(files[0])
        self.keyFile = String(files[files.count - 1])
    }
}

/// `HOST=sha256/BASE64` or `HOST=FILE.pem` on the command line: a requirement for the certificate of a host. Does not read the file.
struct HostPin: Hashable {
    enum Pin: Hashable {
        case publicKey(PublicKeyPin)
        case certificates(String)
    }

    var host: HostPattern
    var pin: Pin

    init(_ text: String) throws(TrustError) {
        let (host, value) = try HostPattern.assignment(text, "HOST=sha256/BASE64 or HOST=FILE.pem")
        self.host = host
        guard value.hasPrefix("sha256/") else {
            self.pin = .certificates(value)
            return
        }
        do {
            self.pin = .publicKey(try PublicKeyPin(value))
        } catch {
            throw TrustError(error.message)
        }
    }
}

extension HostPattern {
    /// Splits `PATTERN=VALUE`. A pattern cannot contain an equals sign, but a value can.
    static func assignment(_ text: String, _ form: String) throws(TrustError) -> (pattern: HostPattern, value: String) {
        guard let equals = text.firstIndex(of: "="), text.index(after: equals) < text.endIndex else {
            throw TrustError("there is no value for a host in \"\(text)\": write \(form).")
        }
        do throws(SettingSyntaxError) {
            return (try HostPattern(String(text[..<equals])), String(text[text.index(after: equals)...]))
        } catch {
            throw TrustError(error.message)
        }
    }
}
