#if os(Linux)
import Glibc

/// Whether this machine lets the tests have mount namespaces; containers often do not.
enum Namespaces {
    static let reason: String = "mount namespaces are forbidden here (unshare)"

    /// By a program that shares no code with what is tested.
    static let arePermitted = Self.permits((getuid() == 0 ? [] : ["--user", "--map-root-user"]) + ["--mount"])

    /// Also those of users.
    static let areForUsers = Self.permits(["--user", "--map-root-user", "--mount"])

    private static func permits(_ options: [String]) -> Bool {
        guard let program = try? Programs.find("unshare") else { return false }
        return (try? ExternalProgram.run(program, options + ["true"]).status) == 0
    }
}
#endif
