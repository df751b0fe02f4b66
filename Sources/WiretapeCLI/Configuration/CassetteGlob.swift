internal import Platform

/// A pattern for names of cassettes, as shells have them: `pets*.json`, `Cassettes/*/login.json`.
///
/// `*` and `?` stay within a folder. One without a slash is for the name alone, whatever the folder.
struct CassetteGlob: Sendable, Hashable, CustomStringConvertible {
    let description: String

    init(_ text: String) {
        self.description = text
    }

    /// - Parameter name: as `name(of:in:seenFrom:)` has it.
    func fits(_ name: String) -> Bool {
        let pattern = self.description.hasPrefix("./") ? String(self.description.dropFirst(2)) : self.description
        let subject = pattern.contains("/") ? name : name.split(separator: "/").last.map(String.init) ?? ""
        return fnmatch(pattern, subject, FNM_PATHNAME) == 0
    }

    /// A cassette's path below a folder, or from the root where it is not below it. No link is followed.
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
