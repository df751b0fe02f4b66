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

    /// The file of roots: `SSL_CERT_FILE` if readable, else the first readable one of `places`.
    package static func file(environment: [String: String], places: [String] = Self.places) -> String? {
        let named = environment["SSL_CERT_FILE"].map { [$0] } ?? []
        return (named + places).first { access($0, R_OK) == 0 }
    }

    /// The places that exist, by their real paths, each file once.
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

    /// Where OpenSSL and programs built on it look up a root by its hash.
    package static let hashPlaces = [
        "/etc/ssl/certs",  // Debian, Ubuntu, Alpine, Arch, SUSE
        "/etc/pki/tls/certs",  // Fedora, Red Hat
        "/usr/lib/ssl/certs", "/usr/local/ssl/certs",  // OpenSSL's own defaults
    ]

    /// The folders that exist, by their real paths, each once.
    package static func folders(places: [String] = Self.hashPlaces) -> [String] {
        self.files(places: places).filter {
            var status = stat()
            return stat($0, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        }
    }

    // MARK: Keychains

    /// On macOS, an administrator's roots are in the first; the second comes with the system.
    private static let keychains = ["/Library/Keychains/System.keychain", "/System/Library/Keychains/SystemRootCertificates.keychain"]

    /// Changes whenever the keychains do; cheaper than reading them, which takes a tenth of a second. Empty if there are none.
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

/// The certificates of a PEM text (RFC 7468), each once.
///
/// Reads only the lines around them: does not check that they are certificates.
package struct PEMCertificates {
    private static let begin = Array("-----BEGIN CERTIFICATE-----".utf8)
    private static let end = Array("-----END CERTIFICATE-----".utf8)

    /// Base64 without line ends, in order of first appearance.
    package private(set) var contents: [[UInt8]] = []
    private var seen: Set<[UInt8]> = []

    package init() {}

    package var isEmpty: Bool { self.contents.isEmpty }

    /// Adds the certificates that are not there yet. Ignores what is outside of certificates, such as comments and keys.
    package mutating func add(_ text: [UInt8]) {
        var content: [UInt8]?
        // CRLF, LF, or CR alone.
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

    /// Whether `text` has all certificates of `other`, which has at least one.
    package static func contains(_ text: [UInt8], _ other: [UInt8]) -> Bool {
        var all = PEMCertificates()
        all.add(text)
        var wanted = PEMCertificates()
        wanted.add(other)
        return !wanted.isEmpty && wanted.seen.isSubset(of: all.seen)
    }

    /// As a PEM text with lines of 64 characters (RFC 7468, 2).
    package var text: [UInt8] { self.contents.reduce(into: []) { Self.append($1, to: &$0) } }

    /// Each certificate as a PEM text of its own.
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
