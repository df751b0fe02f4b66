import Foundation
import TapeTestSupport
import Testing

/// Runs the program `ClientProbe`, whose process may crash.
enum ProbeProcess {
    enum Ending: Equatable, CustomStringConvertible {
        case says(String)
        case dies
        case hangs

        var description: String {
            switch self {
            case .says(let text): "says \(text)"
            case .dies: "dies"
            case .hangs: "hangs"
            }
        }

        /// The lines of a behaviour's run.
        var lines: [String]? {
            guard case .says(let text) = self else { return nil }
            return try? JSONDecoder().decode([String].self, from: Data(text.utf8))
        }
    }

    /// Next to the bundle or the program that runs the tests.
    private static let path: String = {
        #if os(Linux)
        let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        #else
        let program = CommandLine.arguments.first { $0.contains(".xctest") } ?? CommandLine.arguments[0]
        #endif
        let parts = program.components(separatedBy: "/")
        let bundle = parts.firstIndex { $0.hasSuffix(".xctest") } ?? parts.count - 1
        return (parts[..<bundle] + ["ClientProbe"]).joined(separator: "/")
    }()

    /// - Parameters:
    ///   - environment: variables in addition to those of this process; nil removes one.
    ///   - seconds: the time after which a running process counts as hanging.
    static func run(
        _ arguments: String..., environment: [String: String?] = [:], seconds: Double = 60
    ) async throws -> (ending: Ending, errors: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Self.path)
        process.arguments = arguments
        // An expected crash needs no backtrace, and its temporary files are removed with the folder.
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no", "TMPDIR": folder.path]) { $1 }
        for (name, value) in environment { process.environment?[name] = value }
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        let (ends, end) = AsyncStream.makeStream(of: Bool.self)
        process.terminationHandler = { _ in end.yield(true) }
        try process.run()
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { end.yield(false) }
        // The output fits into the buffer of a pipe.
        for await hasEnded in ends {
            if !hasEnded { kill(process.processIdentifier, SIGKILL) }
            process.waitUntilExit()
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            let problems = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            guard hasEnded else { return (.hangs, problems) }
            guard process.terminationReason == .exit else { return (.dies, problems) }
            let said = text.trimmingCharacters(in: .whitespacesAndNewlines)
            return (.says(process.terminationStatus == 0 ? said : "\(process.terminationStatus): \(said) \(problems)"), problems)
        }
        throw CancellationError()
    }

    /// Expects that a process has crashed with this message; one that has not shows that a row of a table is wrong.
    static func expectDeath(
        _ ending: Ending, _ errors: String, of name: String, saying words: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(
            ending == .dies, "\"\(name)\" ends no process any more: remove its row from Expectations, and run it with the others",
            sourceLocation: sourceLocation)
        #expect(errors.contains(words), sourceLocation: sourceLocation)
    }
}
