public import Foundation
public import TapeTrust

extension ServerTrust {
    /// The platform's own evaluation: a trusted chain, valid now, for the host.
    public static var `default`: ServerTrust { .defaultEvaluation() }

    /// The chain must contain one of the certificates of a file.
    public static func pinnedCertificates(in file: CertificateFile, validatesChain: Bool = true, validatesHost: Bool = true) -> ServerTrust
    {
        .pinnedCertificates(file.certificates, validatesChain: validatesChain, validatesHost: validatesHost)
    }

    /// The chain must contain one of these keys.
    public static func pinnedKeys(_ pins: [PublicKeyPin], validatesChain: Bool = true, validatesHost: Bool = true) -> ServerTrust {
        .pinnedPublicKeys(pins.map(\.digest), validatesChain: validatesChain, validatesHost: validatesHost)
    }

    /// The chain must contain the key of one of the certificates of a file.
    public static func pinnedKeys(in file: CertificateFile, validatesChain: Bool = true, validatesHost: Bool = true) -> ServerTrust {
        .pinnedKeys(file.publicKeyPins, validatesChain: validatesChain, validatesHost: validatesHost)
    }
}

/// Certificates from files or a bundle, for pinning.
public struct CertificateFile: Sendable, Hashable {
    /// In DER, in the order of the files and within them.
    public let certificates: [[UInt8]]

    /// Bytes of the largest file that is read: one with all public authorities has a quarter of a megabyte.
    public static let sizeLimit = 4 << 20

    /// Reads one certificate in DER, or any number in PEM (RFC 7468, 5).
    ///
    /// - Throws: `ServerTrustError` with the code `badCertificate`, or an error of reading the file.
    public init(contentsOf url: URL) throws {
        let size = try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int ?? 0
        guard size <= Self.sizeLimit else {
            throw ServerTrustError(
                .badCertificate, "\"\(url.path)\" has \(size) bytes, too many for certificates: name a file of at most \(Self.sizeLimit)")
        }
        self.certificates = try Self.certificates(in: [UInt8](Data(contentsOf: url)), named: url.path)
    }

    /// Reads all `.cer`, `.crt`, `.der` and `.pem` files of a bundle, in order of their paths.
    ///
    /// - Throws: as for one file, and `badCertificate` if there is no file: pinning nothing would refuse every server.
    public init(bundle: Bundle) throws {
        let extensions = ["cer", "crt", "der", "pem"]
        let files = (extensions + extensions.map { $0.uppercased() })
            .flatMap { bundle.paths(forResourcesOfType: $0, inDirectory: nil) }
        // A file system that ignores case lists a file twice.
        let paths = Set(files.map { URL(fileURLWithPath: $0).standardizedFileURL.path }).sorted()
        guard !paths.isEmpty else {
            throw ServerTrustError(
                .badCertificate,
                "there is no .cer, .crt, .der or .pem file in \"\(bundle.bundlePath)\": add the certificates to the target's resources")
        }
        self.certificates = try paths.flatMap { try CertificateFile(contentsOf: URL(fileURLWithPath: $0)).certificates }
    }

    /// The pins of the public keys, which stay the same if a certificate is renewed with its key.
    public var publicKeyPins: [PublicKeyPin] { self.certificates.compactMap { Certificate($0)?.publicKeyPin } }

    static func certificates(in octets: [UInt8], named name: String) throws(ServerTrustError) -> [[UInt8]] {
        let text = String(decoding: octets, as: UTF8.self)
        let (begin, end) = ("-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----")
        guard text.contains(begin) else {
            guard Certificate(octets) != nil else {
                throw ServerTrustError(.badCertificate, "\"\(name)\" holds no certificate, neither in DER nor in PEM: name one that does")
            }
            return [octets]
        }
        var certificates: [[UInt8]] = []
        for block in text.components(separatedBy: begin).dropFirst() {
            let base64 = block.range(of: end).map { block[..<$0.lowerBound].filter { !$0.isWhitespace } }
            guard let base64, let der = Data(base64Encoded: String(base64)), Certificate([UInt8](der)) != nil else {
                throw ServerTrustError(
                    .badCertificate, "certificate \(certificates.count + 1) of \"\(name)\" is damaged: copy the file again")
            }
            certificates.append([UInt8](der))
        }
        return certificates
    }
}
