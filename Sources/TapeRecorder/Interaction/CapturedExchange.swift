internal import CassetteModel
internal import CassetteRedaction
internal import CassetteStore
internal import TapeBytes
internal import TapeExchange

/// An exchange between the tap and the cassette, with bodies in wire form.
///
/// Not Sendable: lives on the recorder thread, or on the thread of a `PostponedSearch` while it is searched there.
struct CapturedExchange {
    var interaction: Interaction
    var request: CapturedBody?
    var response: CapturedBody?
    /// The tap's note on each body.
    var notes: (request: String?, response: String?)

    /// Whether searching its bodies for secrets may delay others, because they are coded, long or in files.
    var mayTakeLong: Bool {
        (self.request?.mayTakeLong ?? false) || (self.response?.mayTakeLong ?? false)
            || self.request != nil && self.interaction.request.headers.hasCodings
            || self.response != nil && self.interaction.response?.headers.hasCodings == true
    }
}

/// A body between its wire form and its readable form: bytes in memory, or in a file that is still open.
///
/// Not Sendable: lives on the recorder thread, or on the thread of a `PostponedSearch` while it is searched there. Its copies share an open
/// file, which only one thread may use at a time.
struct CapturedBody {
    enum Place {
        case memory([UInt8])
        case spool(OpenSpool)
    }

    var place: Place
    var arrival: Arrival?
    /// How far the client had come at each gRPC message.
    var marks: ConversationMarks?
    var isComplete: Bool
    /// A sentence for people about anything that could not be redacted.
    var note: String?

    /// Whether the body is long, in a file, or coded according to its first bytes.
    fileprivate var mayTakeLong: Bool {
        switch self.place {
        case .memory(let bytes):
            // gzip and zstd are recognised even if no field names them.
            bytes.count > ExchangeRedaction.textAtOnce || bytes.starts(with: [0x1F, 0x8B]) || bytes.starts(with: [0x28, 0xB5])
        case .spool: true
        }
    }

    init(_ place: Place, arrival: Arrival?, marks: ConversationMarks? = nil, isComplete: Bool) {
        self.place = place
        self.arrival = arrival
        self.marks = marks
        self.isComplete = isComplete
    }

    /// - Parameter spool: the file with its earlier blocks; nil if there were none.
    init(_ taped: TapedBody, _ spool: OpenSpool?) throws(CassetteError) {
        if taped.isSpilled, let spool {
            try spool.write(taped.bytes)
            self.init(.spool(spool), arrival: taped.arrival, marks: taped.marks, isComplete: taped.isComplete)
        } else {
            self.init(.memory(taped.bytes), arrival: taped.arrival, marks: taped.marks, isComplete: taped.isComplete)
        }
    }

    /// All bytes; nil if they are in a file longer than `limit`.
    func wire(upTo limit: Int) throws -> WireBody? {
        switch self.place {
        case .memory(let bytes): WireBody(bytes, arrival: self.arrival, isComplete: self.isComplete)
        case .spool(let spool) where spool.size <= limit:
            WireBody(try spool.source.load(), arrival: self.arrival, isComplete: self.isComplete)
        case .spool: nil
        }
    }

    /// Replaces its bytes. Does not discard a file, because a search that ends early returns to it.
    mutating func take(_ wire: WireBody) {
        self.place = .memory(wire.bytes)
        self.arrival = wire.arrival
    }
}

/// A large body that is being written to disk, and its digest.
///
/// Not Sendable: one thread has it at a time. The recorder thread writes it, passes it with its exchange to the thread of a
/// `PostponedSearch`, and gets it back. Copies of a `CapturedBody` share it, so a thread that passes one on must not keep another.
final class OpenSpool {
    private let spool: BodySpool
    private var digest: any ContentDigest
    /// nil until `sha256` is called.
    private var finished: [UInt8]?
    /// The first bytes, from which the type is guessed if none is given.
    private(set) var beginning: [UInt8] = []

    /// - Parameter digest: a SHA-256 that has not received any bytes.
    init(_ spool: BodySpool, digest: any ContentDigest) {
        self.spool = spool
        self.digest = digest
    }

    var size: Int { self.spool.size }

    func write(_ bytes: [UInt8]) throws(CassetteError) {
        try bytes.withUnsafeBufferPointer { (buffer) throws(CassetteError) in try self.write(UnsafeRawBufferPointer(buffer)) }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(CassetteError) {
        if self.beginning.isEmpty { self.beginning = Array(bytes.prefix(512)) }
        assert(self.finished == nil, "nothing can be written after the digest")
        try self.spool.write(bytes)
        self.digest.update(bytes)
    }

    func finish(fileExtension: String) throws(CassetteError) -> Sidecar {
        try self.spool.finish(sha256: Hex.encode(self.sha256()), ext: fileExtension)
    }

    /// The digest of its bytes. Nothing can be written after this call.
    func sha256() -> [UInt8] {
        if let finished { return finished }
        let digest = self.digest.finalize()
        self.finished = digest
        return digest
    }

    func discard() {
        self.spool.discard()
    }

    /// The written bytes.
    var source: ByteSource {
        ByteSource(size: self.spool.size) { [spool] offset, buffer in try spool.read(into: buffer, at: offset) }
    }
}
