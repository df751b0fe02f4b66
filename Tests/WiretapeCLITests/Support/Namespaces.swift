#if os(Linux)
import Glibc

/// Whether tests may use mount namespaces on this machine; containers often forbid them.
enum Namespaces {
    static let reason: String = "mount namespaces are forbidden here (unshare)"

    /// Checked with a program that shares no code with the tested one.
    static let arePermitted = Self.permits((getuid() == 0 ? [] : ["--user", "--map-root-user"]) + ["--mount"])

    /// Whether user namespaces are allowed too.
    static let areForUsers = Self.permits(["--user", "--map-root-user", "--mount"])

    private static func permits(_ options: [String]) -> Bool {
        guard let program = try? Programs.find("unshare") else { return false }
        return (try? ExternalProgram.run(program, options + ["true"]).status) == 0
    }
}
#endif
