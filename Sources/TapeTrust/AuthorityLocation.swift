internal import Platform

/// The default folder of the certificate authority.
package enum AuthorityLocation {
    /// The filename of the certificate in that folder.
    package static let certificateName = "ca-cert.pem"

    /// The folder in `WIRETAPE_CA_DIR`, or else the platform's data folder; nil if there is no home folder.
    package static func standard(environment: [String: String]) -> String? {
        if let folder = environment["WIRETAPE_CA_DIR"], !folder.isEmpty { return self.absolute(folder) }
        #if !canImport(Darwin)
        // The XDG Base Directory Specification: relative paths are ignored.
        if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") { return self.inside(data, "wiretape") }
        #endif
        guard let home = self.home(environment: environment) else { return nil }
        #if canImport(Darwin)
        return self.inside(home, "Library/Application Support/wiretape")
        #else
        return self.inside(home, ".local/share/wiretape")
        #endif
    }

    /// A path that stays valid if the program changes its working directory.
    package static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let pointer = getcwd(nil, 0) else { return path }
        defer { free(pointer) }
        return self.inside(String(cString: pointer), path)
    }

    /// The path of this program, so that another user can start it.
    package static var program: String {
        #if os(Linux)
        if let pointer = realpath("/proc/self/exe", nil) {
            defer { free(pointer) }
            return String(cString: pointer)
        }
        #endif
        return CommandLine.arguments.first.map { $0.contains("/") ? self.absolute($0) : $0 } ?? "wiretape"
    }

    private static func inside(_ folder: String, _ name: String) -> String { folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)" }

    /// The user's home folder, which may not exist.
    package static func home(environment: [String: String]) -> String? {
        environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? self.home()
    }

    private static func home() -> String? {
        guard let entry = getpwuid(getuid()) else { return nil }
        let home = String(cString: entry.pointee.pw_dir)
        return home.hasPrefix("/") ? home : nil
    }
}
