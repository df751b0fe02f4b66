import Foundation
import TapeTestSupport

/// The tool under test.
enum Wiretape {
    /// An existing authority with everything derived from it: a first use prints more, and needs room on the disk.
    private static let authority = Result {
        let folder = Programs.besideTests("test-authority")
        let end = try ExternalProgram.run(try Programs.wiretape(), ["env", "--proxy", "127.0.0.1:1", "--ca-dir", folder])
        guard end.status == 0 else { throw TestProblem("no authority for the tests: \(end.errors)") }
        return folder
    }

    /// Adds that authority, unless another is named.
    static func environment(_ environment: [String: String] = [:]) throws -> [String: String] {
        try ["WIRETAPE_CA_DIR": self.authority.get()].merging(environment) { $1 }
    }

    /// Runs it to the end.
    static func run(
        _ arguments: [String], environment: [String: String] = [:], directory: String? = nil, seconds: Double = 120
    ) throws -> ExternalProgram.Ended {
        try ExternalProgram.run(
            try Programs.wiretape(), arguments, environment: self.environment(environment), directory: directory, seconds: seconds)
    }

    /// Starts it without a command: it listens until it gets a signal.
    static func listening(_ arguments: [String], environment: [String: String] = [:]) throws -> (program: ExternalProgram, port: Int) {
        let program = try ExternalProgram(
            try Programs.wiretape(), arguments + ["--listen", "127.0.0.1:0"], environment: self.environment(environment))
        do {
            return (program, try program.port())
        } catch {
            program.stop()
            throw error
        }
    }

    static func start(_ arguments: [String], environment: [String: String] = [:]) throws -> ExternalProgram {
        try ExternalProgram(try Programs.wiretape(), arguments, environment: self.environment(environment))
    }
}
