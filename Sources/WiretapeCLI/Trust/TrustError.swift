internal import ArgumentParser

/// Why trust could not be set up: what, with which file, and what to do next.
struct TrustError: Error, Hashable, CustomStringConvertible {
    var message: String

    init(_ message: String) { self.message = message }

    var description: String { self.message }

    /// Runs a command's body; an error is printed and becomes the exit code.
    static func reporting(_ body: () throws(TrustError) -> Void) throws {
        do throws(TrustError) {
            try body()
        } catch {
            Terminal.error.complain(error.message)
            throw ExitCode(ExitStatus.failed)
        }
    }
}
