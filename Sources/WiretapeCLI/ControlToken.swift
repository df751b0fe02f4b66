internal import Platform
internal import TapeProxy

/// The token of the control API: out of a file, which is made where there is none, or out of WIRETAPE_TOKEN; never out of the command
/// line, which everybody on the machine sees.
enum ControlToken {
    static let variable = "WIRETAPE_TOKEN"
    /// Octets: below is soon guessed, above is no token but another file.
    static let sizes = 16...256

    /// - Parameters:
    ///   - file: goes before the variable.
    ///   - notice: gets what a person should know though all is well.
    static func find(
        file: String?, environment: [String: String] = ChildEnvironment.parent, notice: (String) -> Void
    ) throws(TrustError) -> Secret {
        if let file { return try self.read(file, notice: notice) }
        if let text = environment[self.variable], !text.isEmpty { return try self.check(text, "the variable \(self.variable)") }
        throw TrustError(
            "the control API wants a token: give --token-file FILE, which is made where there is none, or set \(self.variable).")
    }

    private static func read(_ file: String, notice: (String) -> Void) throws(TrustError) -> Secret {
        var status = stat()
        if lstat(file, &status) != 0, errno == ENOENT {
            let secret = Secret.random()
            try WholeFile.replace(file, with: Array("\(secret.revealed)\n".utf8), mode: 0o600)
            notice("made a token for the control API in \"\(file)\".")
            return secret
        }
        let text = String(decoding: try WholeFile.read(file), as: UTF8.self)
        if stat(file, &status) == 0, status.st_mode & 0o077 != 0 {
            notice("others than you can open \"\(file)\": run \"chmod 600 \(file)\", or they may start sessions as well.")
        }
        return try self.check(text.hasSuffix("\n") ? String(text.dropLast()) : text, "\"\(file)\"")
    }

    private static func check(_ text: String, _ place: String) throws(TrustError) -> Secret {
        guard self.sizes.contains(text.utf8.count), text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw TrustError(
                "\(place) holds no token: it takes \(self.sizes.lowerBound) to \(self.sizes.upperBound) visible ASCII characters and no space, as \"openssl rand -hex 24\" prints them."
            )
        }
        return Secret(text)
    }
}
