internal import CassetteFormat
package import CassetteModel
internal import CassetteStore
internal import TapeBytes

/// The contents of a cassette.
package enum RecordedExchanges {
    /// In file order.
    package static func read(_ path: String) throws -> [Interaction] {
        let reader = try CassetteReader(path: path)
        return try (0..<reader.count).map { try InteractionDecoder.decode(try reader.bytes(at: $0), at: .textAlone) }
    }

    /// Makes a new cassette.
    package static func write(_ interactions: [Interaction], to path: String) throws {
        let appender = try CassetteAppender.create(path, recorder: "wiretape 1.2.3")
        try appender.append(
            interactions.map { interaction in
                var writer = JSONWriter()
                InteractionEncoder.encode(interaction, into: &writer)
                return writer.bytes
            })
        _ = try appender.finish()
    }
}
