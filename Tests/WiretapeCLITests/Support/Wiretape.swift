import Foundation

/// The tool under test.
enum Wiretape {
    /// Runs it to its end.
    static func run(
        _ arguments: [String], environment: [String: String] = [:], directory: String? = nil, seconds: Double = 60
    ) throws -> ExternalProgram.Ended {
        try ExternalProgram.run(try Programs.wiretape(), arguments, environment: environment, directory: directory, seconds: seconds)
    }

    /// Starts it without a command: it listens until it is signalled.
    static func listening(_ arguments: [String], environment: [String: String] = [:]) throws -> (program: ExternalProgram, port: Int) {
        let program = try ExternalProgram(try Programs.wiretape(), arguments + ["--listen", "127.0.0.1:0"], environment: environment)
        do {
            return (program, try program.port())
        } catch {
            program.stop()
            throw error
        }
    }

    static func start(_ arguments: [String], environment: [String: String] = [:]) throws -> ExternalProgram {
        try ExternalProgram(try Programs.wiretape(), arguments, environment: environment)
    }
}
