internal import Platform

/// Finds the roots that the programs of this system trust.
package enum SystemRoots {
    /// In the order of Go's crypto/x509.
    package static let places = [
        "/etc/ssl/certs/ca-certificates.crt",  // Debian, Ubuntu, Alpine, Arch
        "/etc/pki/tls/certs/ca-bundle.crt",  // Fedora, Red Hat
        "/etc/ssl/ca-bundle.pem",  // SUSE
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // Fedora, Red Hat
        "/etc/ssl/cert.pem",  // Alpine, macOS, the BSDs
    ]

    /// The file of roots: `SSL_CERT_FILE` if readable, or else the first readable one of `places`.
    package static func file(environment: [String: String], places: [String] = Self.places) -> String? {
        let named = environment["SSL_CERT_FILE"].map { [$0] } ?? []
        return (named + places).first { access($0, R_OK) == 0 }
    }

    /// The real paths of the places that exist, without duplicates.
    package static func files(places: [String] = Self.places) -> [String] {
        var files: [String] = []
        for place in places {
            guard let pointer = realpath(place, nil) else { continue }
            let path = String(cString: pointer)
            free(pointer)
            if !files.contains(path) { files.append(path) }
        }
        return files
    }

    /// The files in which Java looks for roots, to which the `cacerts` of each JVM leads.
    package static let javaPlaces = [
        "/etc/ssl/certs/java/cacerts",  // Debian, Ubuntu, Alpine
        "/etc/pki/ca-trust/extracted/java/cacerts", "/etc/pki/java/cacerts",  // Fedora, Red Hat
        "/var/lib/ca-certificates/java-cacerts",  // SUSE
    ]

    /// The folders where OpenSSL and programs built on it look up a root by its hash.
    package static let hashPlaces = [
        "/etc/ssl/certs",  // Debian, Ubuntu, Alpine, Arch, SUSE
        "/etc/pki/tls/certs",  // Fedora, Red Hat
        "/usr/lib/ssl/certs", "/usr/local/ssl/certs",  // OpenSSL's own defaults
    ]

    /// The real paths of the folders that exist, without duplicates.
    package static func folders(places: [String] = Self.hashPlaces) -> [String] {
        self.files(places: places).filter {
            var status = stat()
            return stat($0, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        }
    }

    // MARK: Keychains

    /// On macOS, the first contains an administrator's roots; the second comes with the system.
    private static let keychains = ["/Library/Keychains/System.keychain", "/System/Library/Keychains/SystemRootCertificates.keychain"]

    /// Changes whenever the keychains do. Cheaper than reading them, which takes a tenth of a second. Empty if there are none.
    package static func keychainStamp() -> [UInt8] {
        #if os(macOS)
        var stamp: [UInt8] = []
        for keychain in self.keychains {
            var status = stat()
            if stat(keychain, &status) == 0 { stamp += "\(keychain) \(status.st_size) \(status.st_mtimespec.tv_sec)\n".utf8 }
        }
        return stamp
        #else
        return []
        #endif
    }

    /// The certificates in the keychains as PEM.
    package static func keychainCertificates() -> [UInt8] {
        #if os(macOS)
        return self.output("/usr/bin/security find-certificate -a -p " + self.keychains.joined(separator: " ") + " 2>/dev/null")
        #else
        return []
        #endif
    }

    /// The output of a shell command.
    package static func output(_ line: String) -> [UInt8] {
        guard let stream = popen(line, "r") else { return [] }
        defer { pclose(stream) }
        var output: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = fread(&block, 1, block.count, stream)
            guard count > 0 else { return output }
            output += block[..<count]
        }
    }
}

/// The certificates of a PEM text (RFC 7468), without duplicates.
///
/// Looks only for the lines around them, and does not check that the contents are certificates.
package struct PEMCertificates {
    private static let begin = Array("-----BEGIN CERTIFICATE-----".utf8)
    private static let end = Array("-----END CERTIFICATE-----".utf8)

    /// Base64 without line ends, in order of first appearance.
    package private(set) var contents: [[UInt8]] = []
    private var seen: Set<[UInt8]> = []

    package init() {}

    package var isEmpty: Bool { self.contents.isEmpty }

    /// Adds the certificates that are new. Ignores anything outside of certificates, such as comments and keys.
    package mutating func add(_ text: [UInt8]) {
        var content: [UInt8]?
        // Lines end in CRLF, LF, or a bare CR.
        for line in text.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            let line = Self.trimmed(line)
            if line.elementsEqual(Self.begin) {
                content = []
            } else if line.elementsEqual(Self.end) {
                if let content, !content.isEmpty, self.seen.insert(content).inserted { self.contents.append(content) }
                content = nil
            } else {
                content?.append(contentsOf: line)
            }
        }
    }

    private static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var line = line
        while let last = line.last, last == 0x20 || last == 0x09 { line.removeLast() }
        while let first = line.first, first == 0x20 || first == 0x09 { line.removeFirst() }
        return line
    }

    /// Whether `text` contains all certificates of `other`, which must have at least one.
    package static func contains(_ text: [UInt8], _ other: [UInt8]) -> Bool {
        var wanted = PEMCertificates()
        wanted.add(other)
        // Most bundles lack the certificate, which is told without reading all of theirs.
        guard !wanted.isEmpty, wanted.contents.allSatisfy({ Self.mayContain(text, $0) }) else { return false }
        var all = PEMCertificates()
        all.add(text)
        return wanted.seen.isSubset(of: all.seen)
    }

    /// Whether a text contains the end of a content's first line. Lines have 64 characters (RFC 7468, 2), or 76 (RFC 2045, 6.8).
    private static func mayContain(_ text: [UInt8], _ content: [UInt8]) -> Bool {
        // Certificates begin alike: with their length, version and serial number.
        let probe = content.dropFirst(32).prefix(32)
        guard probe.count == 32, let first = probe.first else { return true }
        return text.withUnsafeBufferPointer { text in
            var offset = 0
            while offset + probe.count <= text.count {
                offset = text[offset...].firstIndex(of: first) ?? text.count
                guard offset + probe.count <= text.count else { return false }
                if text[offset..<offset + probe.count].elementsEqual(probe) { return true }
                offset += 1
            }
            return false
        }
    }

    /// A PEM text with lines of 64 characters (RFC 7468, 2).
    package var text: [UInt8] { self.contents.reduce(into: []) { Self.append($1, to: &$0) } }

    /// Each certificate as its own PEM text.
    package var texts: [[UInt8]] {
        self.contents.map { content in
            var text: [UInt8] = []
            Self.append(content, to: &text)
            return text
        }
    }

    private static func append(_ content: [UInt8], to text: inout [UInt8]) {
        text += self.begin
        text.append(0x0A)
        var rest = content[...]
        while !rest.isEmpty {
            text += rest.prefix(64)
            text.append(0x0A)
            rest = rest.dropFirst(64)
        }
        text += self.end
        text.append(0x0A)
    }
}
