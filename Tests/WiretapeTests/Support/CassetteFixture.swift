import CassetteFormat
import CassetteModel
import CassetteStore
import Foundation
import TapeBytes
import TapeTestSupport

@testable import Wiretape

/// Cassettes for tests: those of the repository, which the proxy recorded, and some that are created here.
enum CassetteFixture {
    /// Path of a cassette that the proxy recorded from the demo origin: `demo`, `pets`, `stream`.
    static func recorded(_ name: String) -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return root.appendingPathComponent("Cassettes/\(name).json").path
    }

    /// The origin of those recordings.
    static let origin = "http://127.0.0.1:42427"

    static func write(_ interactions: [Interaction], to path: String) throws {
        let appender = try CassetteAppender.create(path, recorder: "wiretape test")
        try appender.append(
            interactions.map { interaction in
                var writer = JSONWriter()
                InteractionEncoder.encode(interaction, into: &writer)
                return writer.bytes
            })
        _ = try appender.finish()
    }

    /// A GET answered with a text.
    static func interaction(
        _ id: Int = 1, method: String = "GET", url: String, requestBody: Body? = nil, requestHeaders: [String] = [], status: Int = 200,
        headers: [String] = [], body: Body? = nil
    ) -> Interaction {
        var interaction = Interaction(
            id: id, started: Timestamp(microseconds: 1_795_248_000_000_000 + Int64(id) * 1_000_000),
            request: RecordedRequest(method: method, url: url, headers: HeaderFields(requestHeaders), body: requestBody))
        interaction.response = RecordedResponse(
            status: status, reason: Array("OK".utf8), headers: HeaderFields(headers), body: body)
        interaction.timing = Timing(send: 0, wait: 40, receive: 100, total: 141)
        return interaction
    }

    static func text(_ text: String, pieces: [(at: Double, size: Int)] = [], isComplete: Bool = true) -> Body {
        var body = Body(size: text.utf8.count, isComplete: isComplete, content: .text(Array(text.utf8)))
        if !pieces.isEmpty { body.arrival = Arrival(isChunked: true, pieces: pieces.map { Arrival.Piece(at: $0.at, size: $0.size) }) }
        return body
    }

    /// One interaction in a cassette of its own.
    static func cassette(
        _ interactions: [Interaction], in folder: TemporaryFolder, settings: Cassette.Settings = Cassette.Settings()
    ) throws -> Cassette {
        let path = folder.file("made.json")
        try self.write(interactions, to: path)
        return try Cassette(path, settings: settings)
    }
}
