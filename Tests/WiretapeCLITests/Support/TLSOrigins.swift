import TapeTestSupport

/// One nginx with a TLS origin of every kind, each on a free port of 127.0.0.1; it ends with its owner at the latest.
///
/// All serve `pets.json`, `bytes.bin`, `large.bin` and `/tls`, which reports nginx's view: version, cipher, SNI, ALPN, "r" for a resumed
/// session, and the client certificate's subject; `/tls-closing` reports it and closes the connection.
final class TLSOrigins {
    enum Kind: String, Sendable, CaseIterable {
        case good
        case rsa
        case tls10Only
        case tls12Only
        case tls13Only
        /// nginx answers 400 over TLS to a client without a certificate; `tls_origin.py` aborts the handshake.
        case clientCertificate
        case expired
        case notYetValid
        case wrongName
        case selfSigned
        case unknownAuthority
        case intermediate
        case missingIntermediate

        /// The name of its certificate in `certificates.sh`.
        fileprivate var certificate: String {
            switch self {
            case .good, .tls10Only, .tls12Only, .tls13Only, .clientCertificate: "good"
            case .rsa: "rsa"
            case .expired: "expired"
            case .notYetValid: "not-yet-valid"
            case .wrongName: "wrong-name"
            case .selfSigned: "self-signed"
            case .unknownAuthority: "unknown-authority"
            case .intermediate: "intermediate"
            case .missingIntermediate: "missing-intermediate"
            }
        }

        fileprivate func options(authority: String) -> String {
            switch self {
            case .tls10Only: "ssl_protocols TLSv1; ssl_ciphers DEFAULT@SECLEVEL=0;"
            case .tls12Only: "ssl_protocols TLSv1.2;"
            case .tls13Only: "ssl_protocols TLSv1.3;"
            case .clientCertificate: "ssl_protocols TLSv1.2 TLSv1.3; ssl_client_certificate \(authority); ssl_verify_client on;"
            case .good, .rsa, .expired, .notYetValid, .wrongName, .selfSigned, .unknownAuthority, .intermediate, .missingIntermediate:
                "ssl_protocols TLSv1.2 TLSv1.3;"
            }
        }
    }

    /// 4 MiB that repeat only after 64 KiB and a byte: no TLS record and no read begins like the previous one.
    static let large: [UInt8] = {
        var block = (0...(64 << 10)).map { UInt8(truncatingIfNeeded: $0 &* $0 &>> 5) }
        for _ in 0..<6 { block += block }
        return block
    }()

    let certificates: TLSCertificates
    private let folder: TemporaryFolder
    private let process: NginxProcess

    init() throws {
        let certificates = try TLSCertificates()
        let folder = try TemporaryFolder()
        try folder.write(Nginx.pets.utf8, to: "site/pets.json")
        try folder.write(Array(0...255), to: "site/bytes.bin")
        try folder.write(Self.large, to: "site/large.bin")
        self.certificates = certificates
        self.folder = folder
        self.process = try NginxProcess(folder: folder, ports: Kind.allCases.count) { ports in
            zip(Kind.allCases, ports).map { kind, port in
                Self.server(kind, port: port, site: folder.file("site"), certificates: certificates)
            }.joined(separator: "\n")
        }
    }

    func stop() { self.process.stop() }

    func port(_ kind: Kind) -> Int {
        zip(Kind.allCases, self.process.ports).first { $0.0 == kind }?.1 ?? 0
    }

    func url(_ kind: Kind, _ path: String = "pets.json", host: String = "localhost") -> String {
        "https://\(host):\(self.port(kind))/\(path)"
    }

    private static func server(_ kind: Kind, port: Int, site: String, certificates: TLSCertificates) -> String {
        """
        server {
            listen 127.0.0.1:\(port) ssl;
            ssl_certificate \(certificates.certificate(kind.certificate));
            ssl_certificate_key \(certificates.key(kind.certificate));
            \(kind.options(authority: certificates.authority))
            ssl_session_cache shared:\(kind):128k;
            root \(site);
            default_type text/plain;
            set $seen "$ssl_protocol $ssl_cipher $ssl_server_name $ssl_alpn_protocol $ssl_session_reused $ssl_client_s_dn";
            location = /tls { return 200 "$seen\\n"; }
            location = /tls-closing { keepalive_timeout 0; return 200 "$seen\\n"; }
        }
        """
    }
}
