internal import CArguments

/// The arguments of this process, the program's name first.
///
/// Not `CommandLine.arguments` on Linux: Swift reads those from `/proc`, and without it, as in a bare chroot, every argument is lost.
enum ProgramArguments {
    static var all: [String] {
        let count = wiretape_argument_count()
        guard count > 0 else { return CommandLine.arguments }
        return (0..<count).map { String(cString: wiretape_argument($0)) }
    }
}
