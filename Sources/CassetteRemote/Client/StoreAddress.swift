internal import TapeBytes

/// Where a store is: a bucket and a prefix in it, or a folder of a web server that is only read.
package struct StoreAddress: Sendable, Hashable, CustomStringConvertible {
    package enum Place: Sendable, Hashable {
        case bucket(String)
        /// `https://host/folder`, read without credentials.
        case web(String)
    }

    package var place: Place
    /// Without slashes at its ends; empty for the whole bucket.
    package var prefix: String

    /// - Parameter text: `s3://bucket/prefix` or `https://host/folder`.
    package init(_ text: String) throws(StoreError) {
        if text.hasPrefix("https://") || text.hasPrefix("http://") {
            _ = try ServerAddress(text)
            var base = text
            while base.hasSuffix("/") { base.removeLast() }
            self.place = .web(base)
            self.prefix = ""
            return
        }
        guard text.hasPrefix("s3://") else {
            throw StoreError(
                .settings, "\"\(text.prefix(200))\" is not a store: write s3://BUCKET/PREFIX, or https://HOST/FOLDER to read only.")
        }
        let parts = text.dropFirst(5).split(separator: "/", omittingEmptySubsequences: false)
        let bucket = parts.first.map(String.init) ?? ""
        guard Self.isBucket(bucket) else {
            throw StoreError(.settings, "\"\(text.prefix(200))\" has no valid bucket: write s3://BUCKET/PREFIX.")
        }
        var path = parts.dropFirst()
        if path.last == "" { path = path.dropLast() }
        guard path.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." }) else {
            throw StoreError(.settings, "\"\(text.prefix(200))\" has an empty or relative part in its prefix: write s3://BUCKET/PREFIX.")
        }
        // A key has at most 1,024 bytes, and the names of objects need about 90.
        let prefix = path.joined(separator: "/")
        guard prefix.utf8.count <= 800, prefix.utf8.allSatisfy({ $0 >= 32 && $0 != 127 }) else {
            throw StoreError(.settings, "the store's prefix is longer than 800 bytes or has control characters: choose another one.")
        }
        self.place = .bucket(bucket)
        self.prefix = prefix
    }

    private static func isBucket(_ name: String) -> Bool {
        let bytes = name.utf8
        return (1...255).contains(bytes.count) && name != "." && name != ".."
            && bytes.allSatisfy {
                (97...122).contains($0) || (65...90).contains($0) || (48...57).contains($0) || [45, 46, 95].contains($0)
            }
    }

    package var description: String {
        switch self.place {
        case .bucket(let bucket): "s3://\(bucket)\(self.prefix.isEmpty ? "" : "/\(self.prefix)")"
        case .web(let base): base
        }
    }

    /// The key of a name in the store.
    func key(_ name: String) -> String { self.prefix.isEmpty ? name : "\(self.prefix)/\(name)" }
}

/// The address of a server: scheme, host and port, and a path before the bucket if there is one.
package struct ServerAddress: Sendable, Hashable {
    package var isSecure: Bool
    /// With the port, if one is written.
    package var authority: String
    /// Without its last slash; empty in most cases.
    package var path: String

    /// - Throws: `settings` for anything but `https://`, or `http://` to this machine.
    package init(_ text: String) throws(StoreError) {
        let shown = text.prefix(200)
        let rest: Substring
        if text.hasPrefix("https://") {
            (self.isSecure, rest) = (true, text.dropFirst(8))
        } else if text.hasPrefix("http://") {
            (self.isSecure, rest) = (false, text.dropFirst(7))
        } else {
            throw StoreError(.settings, "\"\(shown)\" is not an endpoint: write https://HOST or https://HOST:PORT.")
        }
        let authority = rest.prefix { $0 != "/" }
        var path = rest.dropFirst(authority.count)
        while path.hasSuffix("/") { path = path.dropLast() }
        guard !authority.isEmpty, rest.utf8.allSatisfy({ $0 > 32 && $0 < 127 }), !rest.contains(where: { "@?#\\\"<>".contains($0) }) else {
            throw StoreError(
                .settings, "the endpoint is not a plain address: write https://HOST or https://HOST:PORT, without user, password or query.")
        }
        guard Self.isAuthority(authority) else {
            throw StoreError(.settings, "\"\(shown)\" has no valid host: write https://HOST or https://HOST:PORT.")
        }
        self.authority = String(authority)
        self.path = String(path)
        guard self.isSecure || self.isLoopback else {
            throw StoreError(
                .settings,
                "\"\(shown)\" is not encrypted, and http is used only on this machine (127.0.0.1, ::1, localhost): write https://."
            )
        }
    }

    /// Whether the host is this machine, by its name.
    package var isLoopback: Bool {
        let host = self.host.lowercased()
        if host == "localhost" || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// A name or an address, and perhaps a port; nothing may follow the bracket of an IPv6 address but that.
    private static func isAuthority(_ text: Substring) -> Bool {
        var rest = text
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return false }
            let inner = text[text.index(after: text.startIndex)..<end]
            guard !inner.isEmpty, inner.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }) else { return false }
            rest = text[text.index(after: end)...]
        } else {
            let name = text.prefix { $0 != ":" }
            guard !name.isEmpty, !name.contains(where: { $0 == "[" || $0 == "]" || $0 == "%" }) else { return false }
            rest = text.dropFirst(name.count)
        }
        return rest.isEmpty || rest.first == ":" && UInt16(rest.dropFirst()) != nil && rest.dropFirst().allSatisfy(\.isNumber)
    }

    private var host: Substring {
        if self.authority.hasPrefix("["), let end = self.authority.firstIndex(of: "]") { return self.authority[...end] }
        return self.authority.prefix { $0 != ":" }
    }

    var scheme: String { self.isSecure ? "https" : "http" }
}

/// Where a store is, and how to talk to it.
package struct StoreSettings: Sendable, Hashable {
    package var address: StoreAddress
    /// Nil for AWS.
    package var endpoint: ServerAddress?
    package var region: String
    /// Whether the bucket is in the path; if not, it is in the host's name.
    package var usesPathStyle: Bool

    /// - Parameter usesPathStyle: nil for the default: in the path with an endpoint, and in the host's name on AWS.
    package init(address: StoreAddress, endpoint: String?, region: String?, usesPathStyle: Bool?) throws(StoreError) {
        self.address = address
        self.endpoint = try endpoint.map { (text) throws(StoreError) in try ServerAddress(text) }
        let region = region ?? "us-east-1"
        guard (1...64).contains(region.utf8.count),
            region.utf8.allSatisfy({ (97...122).contains($0) || (65...90).contains($0) || (48...57).contains($0) || $0 == 45 || $0 == 95 })
        else { throw StoreError(.settings, "\"\(region.prefix(80))\" is not a region: write for example eu-central-1.") }
        self.region = region
        // A certificate for *.s3.amazonaws.com does not cover a name with a dot.
        var hasPlainName = true
        if case .bucket(let bucket) = address.place { hasPlainName = !bucket.contains(".") && bucket == bucket.lowercased() }
        self.usesPathStyle = usesPathStyle ?? (endpoint != nil || !hasPlainName)
    }

    /// The server, the host's name for its certificate and signature, and the path of a key, encoded.
    func target(key: String) throws(StoreError) -> (url: String, host: String, path: String, isSecure: Bool, isLoopback: Bool) {
        switch self.address.place {
        case .web(let base):
            let server = try ServerAddress(base)
            let path = server.path + "/" + RequestSigner.encodedPath(key)
            return ("\(server.scheme)://\(server.authority)\(path)", server.authority, path, server.isSecure, server.isLoopback)
        case .bucket(let bucket):
            let aws = try ServerAddress("https://s3.\(self.region).amazonaws.com")
            let server = self.endpoint ?? aws
            let host = self.usesPathStyle ? server.authority : "\(bucket).\(server.authority)"
            let folder = self.usesPathStyle ? "\(server.path)/\(bucket)" : server.path
            let path = key.isEmpty ? (folder.isEmpty ? "/" : folder) : "\(folder)/\(RequestSigner.encodedPath(key))"
            return ("\(server.scheme)://\(host)\(path)", host, path, server.isSecure, server.isLoopback)
        }
    }
}
