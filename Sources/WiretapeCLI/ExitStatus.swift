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
    /// The command line is wrong: EX_USAGE of sysexits.h, as swift-argument-parser has it.
    static let usage: Int32 = 64
    /// The command behind `--` was not found: the shell's convention.
    static let commandNotFound: Int32 = 127
}
