internal import Platform

/// This system's trust store, and the commands that put a certificate into it and take it out. Runs none of them.
enum SystemStore: Hashable {
    /// A folder for the administrator's certificates, and the program that makes the store anew.
    case folder(String, update: String)
    /// A keychain of macOS.
    case keychain(String)

    static let name = "wiretape.crt"

    /// By the folder that is there, since two kinds of system name the program alike.
    static let folders = [
        (folder: "/usr/local/share/ca-certificates", update: "update-ca-certificates"),  // Debian, Ubuntu, Alpine
        (folder: "/etc/pki/ca-trust/source/anchors", update: "update-ca-trust"),  // Fedora, Red Hat
        (folder: "/etc/pki/trust/anchors", update: "update-ca-certificates"),  // SUSE
    ]

    /// Nil on a system that is not known.
    static func current() -> Self? {
        #if os(macOS)
        if getuid() == 0 { return .keychain("/Library/Keychains/System.keychain") }
        return getenv("HOME").map { .keychain(String(cString: $0) + "/Library/Keychains/login.keychain-db") }
        #else
        return self.folders.first { access($0.folder, F_OK) == 0 }.map { .folder($0.folder, update: $0.update) }
        #endif
    }

    var needsRoot: Bool {
        switch self {
        case .folder: true
        case .keychain: false
        }
    }

    func installation(of file: String) -> [[String]] {
        switch self {
        case .folder(let folder, let update): [["install", "-m", "644", file, "\(folder)/\(Self.name)"], [update]]
        case .keychain(let keychain):
            // -d: for all users, which the system's keychain is for.
            [
                ["security", "add-trusted-cert"] + (keychain.hasPrefix("/Library/") ? ["-d"] : []) + [
                    "-r", "trustRoot", "-k", keychain, file,
                ]
            ]
        }
    }

    func removal(of file: String) -> [[String]] {
        switch self {
        case .folder(let folder, let update):
            // Debian's program leaves links to what is gone, unless told.
            [["rm", "-f", "\(folder)/\(Self.name)"], update == "update-ca-certificates" ? [update, "--fresh"] : [update]]
        case .keychain(let keychain):
            [["security", "remove-trusted-cert"] + (keychain.hasPrefix("/Library/") ? ["-d"] : []) + [file]]
        }
    }
}
