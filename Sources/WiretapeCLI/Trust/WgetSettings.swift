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
