internal import CassetteFormat
package import CassetteModel
internal import CassetteStore

/// What is in a cassette.
package enum RecordedExchanges {
    /// In the order of the file.
    package static func read(_ path: String) throws -> [Interaction] {
        let reader = try CassetteReader(path: path)
        return try (0..<reader.count).map { try InteractionDecoder.decode(try reader.bytes(at: $0)) }
    }
}
