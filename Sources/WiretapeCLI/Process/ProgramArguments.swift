internal import CArguments
internal import Platform
internal import TapeBytes

/// The arguments of this process, the program's name first.
///
/// Not `CommandLine.arguments` on Linux: Swift reads those from `/proc`, and without it, as in a bare chroot, every argument is lost.
enum ProgramArguments {
    static var all: [String] {
        let count = wiretape_argument_count()
        guard count > 0 else { return CommandLine.arguments }
        return (0..<count).map { String(cString: wiretape_argument($0)) }
    }

    /// An error for the first argument that is not UTF-8; nil if all are. It would name another file than the one that was meant.
    static var problem: String? {
        for index in 0..<wiretape_argument_count() {
            guard let argument = wiretape_argument(index), String(validatingCString: argument) == nil else { continue }
            let bytes = UnsafeRawBufferPointer(start: argument, count: strlen(argument))
            let shown = PlainText.escape(bytes.prefix(200), limit: 200)
            return
                "argument \(index), \"\(shown)\", is not UTF-8, so that no cassette can have this name: rename the file. A program that needs such an argument can be run by a script."
        }
        return nil
    }
}
