internal import ArgumentParser
internal import CassetteModel
internal import CassettePlayback
internal import CassetteRedaction
internal import TapeProxy

/// How a command ends: the one place that knows the errors of all parts, and their exit codes.
enum CommandEnd {
    /// - Parameter body: gives the exit code where all goes well.
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

    /// For people; nil where the error is none of this tool's.
    static func message(of error: any Error) -> String? {
        switch error {
        case let error as CassetteError: error.message
        case let error as TrustError: error.message
        case let error as ProxyError: error.message
        case let error as SettingError: error.message
        case let error as LatencyError: error.message + "."
        case let error as MatchRuleError: error.message + "."
        case let error as RedactionRuleError: error.message + "."
        case let error as RunPlan.Expired: error.message
        default: nil
        }
    }

    static func status(of error: any Error) -> Int32 { error is RunPlan.Expired ? ExitStatus.expired : ExitStatus.failed }
}
