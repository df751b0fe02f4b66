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
