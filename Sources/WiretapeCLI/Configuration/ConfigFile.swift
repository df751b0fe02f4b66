internal import CassetteTools
internal import Platform
internal import TapeProxy

/// A configuration file: settings for all cassettes, and for cassettes by name.
struct ConfigFile: Sendable {
    /// Settings for cassettes whose name matches.
    struct Section: Sendable {
        let glob: CassetteGlob
        let settings: RunSettings
    }

    /// Much larger than any file that people write.
    static let sizeLimit = 256 << 10

    let path: String
    let settings: RunSettings
    let sections: [Section]
    /// What tokens of language models cost.
    let prices: [TokenPrice]

    init(path: String) throws(SettingError) {
        let bytes: [UInt8]
        do {
            bytes = try WholeFile.read(path)
        } catch {
            throw SettingError(error.message)
        }
        guard bytes.count <= Self.sizeLimit else {
            throw SettingError("\"\(path)\" has more than \(Quantity.bytes(Self.sizeLimit)): is it the right file?")
        }
        try self.init(path: path, bytes: bytes)
    }

    /// - Parameter path: a name that ends with `.json` means JSON, any other YAML.
    init(path: String, bytes: [UInt8]) throws(SettingError) {
        let root = path.hasSuffix(".json") ? try ConfigNode.json(bytes, file: path) : try ConfigNode.yaml(bytes, file: path)
        let reader = ConfigReader(file: path)
        var sections: [Section] = []
        self.settings = try reader.settings(root) { (part) throws(SettingError) in
            let settings = try reader.settings(part.value, section: part.name) { _ in }
            sections.append(Section(glob: CassetteGlob(part.name), settings: settings))
        }
        self.prices = try reader.prices(root)
        self.sections = sections
        self.path = path
    }

    /// The settings for a cassette: later sections override earlier ones, and all sections override the general settings.
    func settings(for cassette: String, in folder: String) -> RunSettings {
        let folderOfFile = CassetteGlob.folder(of: CassetteGlob.absolute(self.path, in: folder))
        let name = CassetteGlob.name(of: cassette, in: folder, seenFrom: folderOfFile)
        return self.sections.filter { $0.glob.fits(name) }.reduce(self.settings) { $0.adding($1.settings) }
    }
}

/// A shell pattern for cassette names: `pets*.json`, `Cassettes/*/login.json`.
///
/// `*` and `?` do not match a slash. A pattern without a slash matches the last component, in any folder.
struct CassetteGlob: Sendable, Hashable, CustomStringConvertible {
    let description: String

    init(_ text: String) {
        self.description = text
    }

    /// - Parameter name: as `name(of:in:seenFrom:)` returns it.
    func fits(_ name: String) -> Bool {
        let pattern = self.description.hasPrefix("./") ? String(self.description.dropFirst(2)) : self.description
        let subject = pattern.contains("/") ? name : name.split(separator: "/").last.map(String.init) ?? ""
        return fnmatch(pattern, subject, FNM_PATHNAME) == 0
    }

    /// A cassette's path relative to a folder, or absolute if it is not below that folder. Does not resolve links.
    static func name(of path: String, in folder: String, seenFrom base: String) -> String {
        let whole = self.absolute(path, in: folder)
        let start = base == "/" ? base : base + "/"
        return whole.hasPrefix(start) ? String(whole.dropFirst(start.count)) : whole
    }

    /// Without `.` and `..`.
    static func absolute(_ path: String, in folder: String) -> String {
        var parts: [Substring] = []
        for part in (path.hasPrefix("/") ? path : folder + "/" + path).split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }

    /// - Parameter path: one that begins with a slash.
    static func folder(of path: String) -> String {
        let parts = path.split(separator: "/").dropLast()
        return "/" + parts.joined(separator: "/")
    }
}

/// Looks for the nearest configuration file: in a folder and its parents, up to the root of a repository or the home folder.
///
/// Rejects another user's file: in a folder such as /tmp, any user could place one above another user's work. The file must belong to the
/// user, to root, or to the owner of the working folder.
struct ConfigSearch {
    static let names = ["wiretape.yaml", "wiretape.yml", "wiretape.json"]

    /// The absolute path where the search begins.
    let folder: String
    let home: String?
    let user: uid_t

    /// The search for this process.
    static var system: ConfigSearch {
        ConfigSearch(folder: self.workingFolder, home: getenv("HOME").map { String(cString: $0) }, user: geteuid())
    }

    /// The working folder of this process, with links resolved.
    static var workingFolder: String {
        guard let path = getcwd(nil, 0) else { return "/" }
        defer { free(path) }
        return String(cString: path)
    }

    /// Nil if there is none.
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
                        "both \"\(path)\" and \"\(found[1])\" exist: keep one of them, or name one with --config.")
                }
                guard self.isTrusted(path) else {
                    throw SettingError("\"\(path)\" belongs to another user: name it with --config, or ignore it with --no-config.")
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
