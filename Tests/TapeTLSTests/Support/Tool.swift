import Foundation

/// A program of this machine that checks our output: runs to its end, and gives its whole output.
///
/// Does not use Foundation's Process, in which LeakSanitizer finds a leak for each run.
struct Tool {
    private struct NotStarted: Error {}

    let path: String

    /// Nil if this machine does not have the program.
    init?(_ name: String) {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        guard let path = folders.map({ "\($0)/\(name)" }).first(where: FileManager.default.isExecutableFile(atPath:)) else { return nil }
        self.path = path
    }

    /// - Returns: the status, which is 0 for success, and the program's output and errors as one text.
    func run(_ arguments: [String]) throws -> (status: Int32, text: String) { try self.start(arguments).finish() }

    /// Starts the program concurrently; its output has to fit into a pipe until `finish`.
    func start(_ arguments: [String]) throws -> Running {
        let words = ([self.path] + arguments).map { "'" + $0.replacingOccurrences(of: "'", with: "'\\''") + "'" }
        guard let stream = popen(words.joined(separator: " ") + " 2>&1 </dev/null", "r") else { throw NotStarted() }
        return Running {
            var text: [UInt8] = []
            var piece = [UInt8](repeating: 0, count: 4096)
            while case let count = fread(&piece, 1, piece.count, stream), count > 0 { text += piece.prefix(count) }
            return (pclose(stream), String(decoding: text, as: UTF8.self))
        }
    }

    /// A running program.
    struct Running {
        /// Waits for its end; call it once.
        let finish: () -> (status: Int32, text: String)
    }
}
