internal import CassetteModel
internal import CassetteStore
internal import TapeBytes

/// What a local cassette is made of.
struct CassetteContents {
    var exchanges: Int
    var recorded: Timestamp?
    /// By path, each once.
    var sidecars: [Sidecar]

    /// Reads the cassette, but of its bodies only the files with messages of WebSockets.
    ///
    /// - Throws: if the cassette is torn, still being recorded, or has bodies that were never decoded: it would be incomplete.
    init(path: String) throws {
        let reader = try CassetteReader(path: path)
        if let damage = reader.damage {
            throw StoreError(.damaged, "\(damage.summary): repair it with \"wiretape decode \(path)\" first.")
        }
        guard try OpenConversations(of: path).missing(in: reader).isEmpty else {
            throw StoreError(
                .damaged,
                "\"\(path)\" has exchanges whose recording has not ended: end its recorder, or run \"wiretape decode \(path)\" first.")
        }
        let bodies = BodyReader(cassettePath: path)
        var sidecars: [String: Sidecar] = [:]
        self.recorded = nil
        self.exchanges = reader.count
        for position in 0..<reader.count {
            let interaction = try reader.interaction(at: position)
            self.recorded = min(self.recorded ?? interaction.started, interaction.started)
            var found: [Sidecar] = []
            for body in [interaction.request.body, interaction.response?.body].compactMap({ $0 }) {
                if case .raw = body.content {
                    throw StoreError(.damaged, "\"\(path)\" has bodies that were stored raw: run \"wiretape decode \(path)\" first.")
                }
                found += body.content.sidecars + (body.original.map { [$0] } ?? [])
            }
            if let messages = interaction.webSocket { found += try bodies.sidecars(of: messages, digest: PortableSHA256()) }
            for sidecar in found {
                guard sidecars.updateValue(sidecar, forKey: sidecar.path).map({ $0 == sidecar }) ?? true else {
                    throw StoreError(
                        .damaged,
                        "\"\(path)\" names \"\(sidecar.path)\" with two digests: run \"wiretape verify \(path)\" to see which is wrong.")
                }
            }
        }
        self.sidecars = sidecars.values.sorted { $0.path < $1.path }
    }
}
