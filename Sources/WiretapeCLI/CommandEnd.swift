internal import ArgumentParser
internal import CassetteRemote
internal import TapeInspector
internal import TapeIsolation
internal import TapeProxy

/// How a command ends. This is the only place that knows every error and its exit code.
enum CommandEnd {
    /// - Parameter body: returns the exit code of a success.
    static func run(_ body: () throws -> Int32) throws {
        let status: Int32
        do {
            status = try body()
        } catch {
            guard let message = self.message(of: error) else { throw error }
            Terminal.error.complain(message)
            throw ExitCode(self.status(of: error))
        }
        guard status == ExitStatus.done else { throw ExitCode(status) }
    }

    /// For people; nil if the error is not one of this tool's.
    static func message(of error: any Error) -> String? {
        if let error = error as? StoreError { return error.message }
        return switch error {
        case let error as CassetteError: ForeignRecording.advice(error.message) ?? error.message
        case let error as TrustError: error.message
        case let error as ProxyError: error.message
        case let error as SettingError: error.message
        case let error as MatchRuleError: error.message + "."
        case let error as SettingSyntaxError: error.message + "."
        case let error as IsolationError: error.description
        case let error as RunPlan.Expired: error.message
        case let error as InspectorServer.StartError: error.message
        default: nil
        }
    }

    static func status(of error: any Error) -> Int32 { error is RunPlan.Expired ? ExitStatus.expired : ExitStatus.failed }
}

/// A command that names the exit code of its failures, such as a cassette that cannot be had.
protocol HasFailureStatus {
    static var failure: Int32 { get }
}

/// The tool's exit codes. After `--`, the command's own exit code comes first.
enum ExitStatus {
    static let done: Int32 = 0
    /// Something could not be done: a damaged cassette, a port in use, a full disk.
    static let failed: Int32 = 1
    /// `different`: a comparison found differences, or a check found problems. As with diff(1) and cmp(1), `trouble` means that it failed.
    static let different: Int32 = 1
    static let trouble: Int32 = 2
    /// A replay had requests that the cassette does not hold.
    static let misses: Int32 = 3
    /// A replay left recorded exchanges unused, and `failOn` names that.
    static let unused: Int32 = 4
    /// Requests came out of order, and `failOn` names that.
    static let order: Int32 = 5
    /// A secret is still in the cassette.
    static let leak: Int32 = 6
    /// An upload is broken, and `failOn` names that: see `RunFailure.lint`.
    static let lint: Int32 = 11
    /// The cassette is older than `maxAge` allows.
    static let expired: Int32 = 7
    /// The command line is wrong: EX_USAGE of sysexits.h, as swift-argument-parser has it.
    static let usage: Int32 = 64
    /// The command after `--` was not found, as shells report it.
    static let commandNotFound: Int32 = 127
}
