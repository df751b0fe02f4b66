internal import Platform
internal import TapeProxy

/// Looks for the nearest configuration file: in a folder and its parents, up to the root of a repository or the home folder.
///
/// A file of somebody else's is no configuration: in a folder like /tmp, anybody could put one above another's work. It has to belong to
/// the user, to root, or to whom the working folder belongs.
struct ConfigSearch {
    static let names = ["wiretape.yaml", "wiretape.yml", "wiretape.json"]

    /// Where to begin, from the root.
    let folder: String
    let home: String?
    let user: uid_t

    /// Of this process.
    static var system: ConfigSearch {
        ConfigSearch(folder: self.workingFolder, home: getenv("HOME").map { String(cString: $0) }, user: geteuid())
    }

    /// Of this process, without links.
    static var workingFolder: String {
        guard let path = getcwd(nil, 0) else { return "/" }
        defer { free(path) }
        return String(cString: path)
    }

    /// Nil where there is none.
    func path() throws(SettingError) -> String? {
        let home = self.home.map { CassetteGlob.absolute($0, in: "/") }
        var folder = CassetteGlob.absolute(self.folder, in: "/")
        while true {
            let base = folder == "/" ? "" : folder
            let paths: [String] = Self.names.map { "\(base)/\($0)" }
            let found = paths.filter { access($0, F_OK) == 0 }
            if let path = found.first {
                guard found.count == 1 else {
                    throw SettingError(
                        "there are \"\(path)\" and \"\(found[1])\": leave one of them, or name one with --config.")
                }
                guard self.isTrusted(path) else {
                    throw SettingError("\"\(path)\" belongs to another user: name it with --config, or leave it out with --no-config.")
                }
                return path
            }
            if folder == "/" || folder == home || access("\(base)/.git", F_OK) == 0 { return nil }
            folder = CassetteGlob.folder(of: folder)
        }
    }

    private func isTrusted(_ path: String) -> Bool {
        guard let owner = Self.owner(path) else { return false }
        return owner == self.user || owner == 0 || owner == Self.owner(self.folder)
    }

    private static func owner(_ path: String) -> uid_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_uid : nil
    }
}
