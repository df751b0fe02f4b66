internal import ArgumentParser
internal import CassetteModel
internal import CassettePlayback
internal import CassetteStore
internal import TapeBytes
internal import TapeProxy

/// What the commands for the care of cassettes share: how they fail, and what they read with.
enum CareCommand {
    /// - Parameter failure: the exit code where it cannot be done.
    static func run<Value>(failure: Int32 = ExitStatus.trouble, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch {
            guard let message = CommandEnd.message(of: error) else { throw error }
            Terminal.error.complain(message)
        }
        throw ExitCode(failure)
    }

    /// A torn cassette is read as far as it is intact, and that is told.
    static func cassette(_ path: String) throws(CassetteError) -> RecordedCassette {
        let cassette = try RecordedCassette(path: path)
        if let damage = cassette.damage { Terminal.error.complain(damage.summary + ".") }
        return cassette
    }

    static func digest() -> any ContentDigest { FastSHA256() }
}
