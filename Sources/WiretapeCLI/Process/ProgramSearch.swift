internal import Platform

/// Finds the file of a program as a shell does: by a path, or by a name in the folders of `PATH` (POSIX, 8.3).
enum ProgramSearch {
    static var folders: String { getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin" }

    /// Nil if there is no such program, or it may not be run.
    static func file(_ name: String, in folders: String = Self.folders) -> String? { self.first(name, in: folders, X_OK) }

    /// Whether there is such a file, even if it may not be run.
    static func isThere(_ name: String, in folders: String = Self.folders) -> Bool { self.first(name, in: folders, F_OK) != nil }

    private static func first(_ name: String, in folders: String, _ mode: Int32) -> String? {
        if name.contains("/") { return access(name, mode) == 0 ? name : nil }
        return folders.split(separator: ":", omittingEmptySubsequences: false).lazy.map { "\($0.isEmpty ? "." : $0)/\(name)" }
            .first { access($0, mode) == 0 }
    }
}
