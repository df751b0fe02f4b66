public import Foundation
internal import TapeBytes
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

    /// The largest file that is read, in bytes; a file with all public authorities has a quarter of a megabyte.
    public static let sizeLimit = 4 << 20

    /// Reads one certificate in DER, or any number in PEM (RFC 7468, 5).
    ///
    /// - Throws: `ServerTrustError` with the code `badCertificate`, or an error of reading the file.
    public init(contentsOf url: URL) throws {
        let size = try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int ?? 0
        guard size <= Self.sizeLimit else {
            throw ServerTrustError(
                .badCertificate, "\"\(url.path)\" has \(size) bytes, too many for certificates: choose a file of at most \(Self.sizeLimit)")
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

    static func certificates(in bytes: [UInt8], named name: String) throws(ServerTrustError) -> [[UInt8]] {
        let text = String(decoding: bytes, as: UTF8.self)
        let (begin, end) = ("-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----")
        guard text.contains(begin) else {
            guard Certificate(bytes) != nil else {
                throw ServerTrustError(.badCertificate, "\"\(name)\" contains no certificate in DER or PEM: choose a file that does")
            }
            return [bytes]
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

/// The parts of an X.509 certificate (RFC 5280, 4.1) that pinning needs: its public key and the hosts that it names.
///
/// Checks no signature and no dates.
struct Certificate: Sendable, Hashable {
    /// The SubjectPublicKeyInfo in DER.
    let publicKey: [UInt8]
    /// The DNS names of subjectAltName, in lower case.
    let hosts: [String]
    /// The IP addresses of subjectAltName, 4 or 16 bytes each.
    let addresses: [[UInt8]]

    /// Nil if the bytes are not a certificate.
    init?(_ der: [UInt8]) {
        var outer = DERReader(der[...])
        guard let certificate = outer.next(DERReader.sequence), outer.isAtEnd else { return nil }
        var parts = DERReader(certificate.content)
        guard let signed = parts.next(DERReader.sequence) else { return nil }
        var fields = DERReader(signed.content)
        _ = fields.next(0xA0)  // version
        guard fields.next(DERReader.integer) != nil else { return nil }  // serialNumber
        for _ in 0..<4 {  // signature, issuer, validity, subject
            guard fields.next(DERReader.sequence) != nil else { return nil }
        }
        guard let key = fields.next(DERReader.sequence) else { return nil }
        self.publicKey = Array(key.whole)
        _ = fields.next(0x81)  // issuerUniqueID
        _ = fields.next(0x82)  // subjectUniqueID
        (self.hosts, self.addresses) = Self.names(inExtensions: fields.next(0xA3)?.content ?? [])
    }

    /// Never nil: SHA-256 has 32 bytes.
    var publicKeyPin: PublicKeyPin? {
        var digest = PortableSHA256()
        self.publicKey.withUnsafeBytes { digest.update($0) }
        return PublicKeyPin(digest: digest.finalize())
    }

    /// Whether it names a host (RFC 9525, 6.3): the leftmost label may be `*`, before at least two others. The subject's common name is
    /// ignored.
    func names(_ host: String) -> Bool {
        if let address = HostPattern.address(host) { return self.addresses.contains(address) }
        let labels = Self.labels(host)
        guard !labels.isEmpty else { return false }
        return self.hosts.contains { name in
            let own = Self.labels(name)
            guard own.first == "*", own.count >= 3 else { return own == labels }
            return own.dropFirst() == labels.dropFirst()
        }
    }

    private static func labels(_ host: String) -> [Substring] {
        let name = host.lowercased()
        return (name.hasSuffix(".") ? name.dropLast() : name[...]).split(separator: ".", omittingEmptySubsequences: false)
    }

    private static func names(inExtensions bytes: ArraySlice<UInt8>) -> (hosts: [String], addresses: [[UInt8]]) {
        var (hosts, addresses): ([String], [[UInt8]]) = ([], [])
        var outer = DERReader(bytes)
        var list = DERReader(outer.next(DERReader.sequence)?.content ?? [])
        while let element = list.next(DERReader.sequence) {
            var parts = DERReader(element.content)
            // id-ce-subjectAltName (RFC 5280, 4.2.1.6)
            guard let identifier = parts.next(DERReader.objectIdentifier), Array(identifier.content) == [0x55, 0x1D, 0x11] else { continue }
            _ = parts.next(DERReader.boolean)  // critical
            var value = DERReader(parts.next(DERReader.octetString)?.content ?? [])
            var names = DERReader(value.next(DERReader.sequence)?.content ?? [])
            while let name = names.next() {
                switch name.tag {
                case 0x82: hosts.append(String(decoding: name.content, as: UTF8.self).lowercased())
                case 0x87: addresses.append(Array(name.content))
                default: continue
                }
            }
        }
        return (hosts, addresses)
    }
}

/// Reads the elements of DER one after the other (X.690, 8.1 and 10.1).
///
/// Supports only lengths of up to four bytes and tags of one byte, because certificates have no others.
struct DERReader {
    struct Element {
        var tag: UInt8
        var content: ArraySlice<UInt8>
        /// With tag and length.
        var whole: ArraySlice<UInt8>
    }

    static let boolean: UInt8 = 0x01
    static let integer: UInt8 = 0x02
    static let octetString: UInt8 = 0x04
    static let objectIdentifier: UInt8 = 0x06
    static let sequence: UInt8 = 0x30

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { self.rest = bytes }

    var isAtEnd: Bool { self.rest.isEmpty }

    /// Nil at the end, or if the bytes are not an element.
    mutating func next() -> Element? {
        var rest = self.rest
        guard let tag = rest.popFirst(), tag & 0x1F != 0x1F, let first = rest.popFirst() else { return nil }
        var length = Int(first)
        if first >= 0x80 {
            let count = Int(first & 0x7F)
            guard (1...4).contains(count), rest.count >= count else { return nil }
            length = rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(count)
        }
        guard rest.count >= length else { return nil }
        let content = rest.prefix(length)
        let whole = self.rest[self.rest.startIndex..<content.endIndex]
        self.rest = rest.dropFirst(length)
        return Element(tag: tag, content: content, whole: whole)
    }

    /// The next element if it has this tag; else nothing is read.
    mutating func next(_ tag: UInt8) -> Element? {
        guard self.rest.first == tag else { return nil }
        return self.next()
    }
}

extension HTTPSession {
    /// The pin of a certificate's key; nil if the bytes are not a certificate in DER.
    package static func publicKeyPin(ofCertificate der: Data) -> PublicKeyPin? { Certificate([UInt8](der))?.publicKeyPin }
}
