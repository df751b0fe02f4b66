internal import Platform

/// Finds the file of a program as a shell does: by a path, or by a name in the folders of `PATH` (POSIX, 8.3).
enum ProgramSearch {
    static var folders: String { getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin" }

    /// Nil if there is no such program, or it may not be run.
    static func file(_ name: String, in folders: String = Self.folders) -> String? {
        if name.contains("/") { return access(name, X_OK) == 0 ? name : nil }
        return folders.split(separator: ":", omittingEmptySubsequences: false).lazy.map { "\($0.isEmpty ? "." : $0)/\(name)" }
            .first { access($0, X_OK) == 0 }
    }
}
