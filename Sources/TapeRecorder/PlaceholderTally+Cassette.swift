internal import CassetteFormat
internal import CassetteModel
internal import CassetteRedaction
internal import CassetteStore
internal import TapeBytes

extension PlaceholderTally {
    /// More than the longest placeholder has octets, in any spelling.
    private static let overlap = 256

    /// The placeholders of a cassette and of the files that it names.
    ///
    /// A file that cannot be read counts for nothing: whoever needs its octets says so.
    init(_ cassette: CassetteReader, path: String, digest: () -> any ContentDigest) throws(CassetteError) {
        self.init()
        let bodies = BodyReader(cassettePath: path)
        var seen: Set<String> = []
        for position in 0..<cassette.count {
            let bytes = try cassette.bytes(at: position)
            bytes.withUnsafeBytes { self.add($0) }
            guard bytes.withUnsafeBytes({ ByteSearch.contains(".bodies/", in: $0) }),
                let interaction = try? InteractionDecoder.decode(bytes)
            else { continue }
            for body in [interaction.request.body, interaction.response?.body].compactMap({ $0 }) {
                for sidecar in body.content.sidecars where seen.insert(sidecar.path).inserted {
                    if let source = try? bodies.source(sidecar, digest: digest()) { try? self.add(source) }
                }
            }
        }
    }

    private mutating func add(_ source: OctetSource) throws {
        var window: [UInt8] = []
        try source.forEachPiece { (piece) -> Void in
            window.append(contentsOf: piece)
            window.withUnsafeBytes { self.add($0) }
            window.removeFirst(max(0, window.count - Self.overlap))
        }
    }
}
