import CassetteModel
import CassettePlayback
import CassetteStore
import Testing
@testable import TapeProxy

/// Has the same conversation with a proxy twice, recorded and replayed, and compares the client's bytes exactly.
enum LiveAndReplayed {
    struct Answer: Equatable, CustomStringConvertible {
        var bytes: [UInt8]
        var end: RawConnection.End?

        var text: String { String(decoding: self.bytes, as: UTF8.self) }

        var description: String { "\(RawError.text(self.bytes)), \(self.end.map { "\($0)" } ?? "open")" }
    }

    /// - Parameters:
    ///   - origin: its scripts run while recording. During the replay nobody may connect.
    ///   - talk: the client's part, returning what it read.
    /// - Returns: what the client read, and what was recorded.
    @discardableResult
    static func compare(
        _ origin: RawOrigin, configure: (inout ProxyConfiguration) -> Void = { _ in }, sourceLocation: SourceLocation = #_sourceLocation,
        talk: (RawConnection) throws -> Answer
    ) throws -> (answer: Answer, recorded: [Interaction]) {
        let live = try RunningProxy(configure: configure)
        let answer = try talk(live.connect())
        origin.finish(sourceLocation: sourceLocation)
        let recorded = try live.recorded()
        let accepted = origin.accepted
        let replay = try RunningProxy(.none, in: live.folder, configure: configure)
        let again = try talk(replay.connect())
        #expect(answer == again, "live against replayed", sourceLocation: sourceLocation)
        try replay.stop()
        #expect(origin.accepted == accepted, "a replay dials nobody", sourceLocation: sourceLocation)
        #expect(replay.session.verdict().misses == 0, sourceLocation: sourceLocation)
        return (answer, recorded)
    }

    /// The same for one request, reading everything up to the end of the connection.
    @discardableResult
    static func compare(
        _ origin: RawOrigin, asking request: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> (answer: Answer, recorded: [Interaction]) {
        try self.compare(origin, sourceLocation: sourceLocation) { client in
            try client.send(request)
            let (bytes, end) = try client.readToEnd()
            return Answer(bytes: bytes, end: end)
        }
    }
}
