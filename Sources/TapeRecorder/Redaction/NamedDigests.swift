internal import CassetteFormat
internal import CassetteModel
public import CassetteRedaction
internal import CassetteStore
internal import TapeBytes

/// Digests of bodies that redaction changed which a closed recording still contains. A client that checks such a digest refuses the replay.
public struct NamedDigests: Sendable, Hashable {
    /// A changed body, and the exchanges that contain a digest of it.
    public struct Entry: Sendable, Hashable {
        public var body: RedactedDigests.Body
        public var algorithm: RedactedDigests.Algorithm
        /// Numbers of exchanges, at most `exchangeLimit`.
        public var exchanges: [Int]
    }

    /// The first `limit` entries.
    public private(set) var entries: [Entry] = []
    /// The number of bodies whose digests occur.
    public private(set) var count = 0

    private static let limit = 5
    private static let exchangeLimit = 3
    /// Bytes of a file next to the cassette that are searched again together with the following bytes.
    private static let overlap = 512

    public init() {}

    /// Searches a cassette and the files that it names.
    init(path: String, _ digests: RedactedDigests, digest: () -> any ContentDigest) throws {
        let cassette = try CassetteReader(path: path)
        let bodies = BodyReader(cassettePath: path)
        var found: [RedactedDigests.Body: Entry] = [:]
        var order: [RedactedDigests.Body] = []
        func add(_ text: UnsafeRawBufferPointer, of exchange: Int) {
            for reference in digests.references(in: text) {
                var entry = found[reference.body] ?? Entry(body: reference.body, algorithm: reference.algorithm, exchanges: [])
                if entry.exchanges.isEmpty { order.append(reference.body) }
                if !entry.exchanges.contains(exchange), entry.exchanges.count < Self.exchangeLimit { entry.exchanges.append(exchange) }
                found[reference.body] = entry
            }
        }
        var seen: Set<String> = []
        for position in 0..<cassette.count {
            let bytes = try cassette.bytes(at: position)
            let id = bytes.withUnsafeBytes { InteractionSummaryReader.read($0) }?.id ?? position + 1
            bytes.withUnsafeBytes { add($0, of: id) }
            guard bytes.withUnsafeBytes({ ByteSearch.contains(".bodies/", in: $0) }) else { continue }
            let interaction = try cassette.interaction(at: position)
            for body in [interaction.request.body, interaction.response?.body].compactMap({ $0 }) {
                for sidecar in body.content.sidecars where seen.insert(sidecar.path).inserted {
                    var window: [UInt8] = []
                    try bodies.source(sidecar, digest: digest()).forEachPiece { (piece) -> Void in
                        window.append(contentsOf: piece)
                        window.withUnsafeBytes { add($0, of: id) }
                        window.removeFirst(max(0, window.count - Self.overlap))
                    }
                }
            }
        }
        self.count = order.count
        self.entries = order.prefix(Self.limit).compactMap { found[$0] }
    }

    /// Lines for people, without the file's name.
    public var words: [String] {
        var lines = self.entries.map { entry in
            let ids = entry.exchanges.map(String.init).joined(separator: ", ")
            let exchanges = entry.exchanges.count == 1 ? "exchange \(ids) contains" : "exchanges \(ids) contain"
            let option = RedactionException.keeping(body: entry.body.digest).text
            return
                "\(exchanges) the \(entry.algorithm.rawValue) digest of a body that redaction changed (\(entry.body.request)): a client that "
                + "checks it rejects the replay; \"--keep \(option)\" records that body unchanged."
        }
        if self.count > self.entries.count {
            lines.append("it also contains the digests of \(self.count - self.entries.count) more changed bodies.")
        }
        return lines
    }
}
