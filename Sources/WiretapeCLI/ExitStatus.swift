/// The tool's exit codes; with a command behind `--`, the command's own code goes before `done`.
enum ExitStatus {
    static let done: Int32 = 0
    /// Something could not be done: a damaged cassette, a port in use, a disk that was full.
    static let failed: Int32 = 1
    /// What was compared differs, or what was checked has problems; as with diff(1) and cmp(1), 2 says that it could not be done.
    static let different: Int32 = 1
    static let trouble: Int32 = 2
    /// A replay had requests that the cassette does not hold.
    static let misses: Int32 = 3
    /// A replay left recorded exchanges over, and that was to fail.
    static let unused: Int32 = 4
    /// Requests came before or after their turn, and that was to fail.
    static let order: Int32 = 5
    /// A secret is still in the cassette.
    static let leak: Int32 = 6
    /// The cassette is older than it may be.
    static let expired: Int32 = 7
    /// The command line is wrong: EX_USAGE of sysexits.h, as swift-argument-parser has it.
    static let usage: Int32 = 64
    /// The command behind `--` was not found: the shell's convention.
    static let commandNotFound: Int32 = 127
}
