internal import CassetteFormat
internal import CassetteModel
internal import TapeBytes

/// Assembles the bodies of an exchange that is recorded piece by piece, like events, from the pieces in its journal.
///
/// Knows no events or messages: the assembled body is decoded like that of any exchange.
struct JournalBodies {
    /// How many bytes of a journal are read for display; a recorder reads everything.
    static let shownLimit = ConversationMessages.inlineLimit

    /// The received part of a body.
    private struct Part {
        var spool: BodySpool?
        var bytes: [UInt8] = []
        var pieces: [Arrival.Piece] = []
        var size = 0
        var isComplete = false
        var isThinned = false
    }

    /// Where bodies are assembled; nil for in memory, for a view that writes nothing.
    private let store: BodyStore?
    private let digest: () -> any ContentDigest
    private var request: Part?
    private var response: Part?

    /// - Parameter size: the size of the messages, in complete lines.
    init(
        _ file: borrowing OpenFile, size: Int, store: BodyStore?, digest: @escaping () -> any ContentDigest
    ) throws(CassetteError) {
        self.store = store
        self.digest = digest
        var carry: [UInt8] = []
        try file.forEachPiece(in: 0..<(store == nil ? min(size, Self.shownLimit) : size)) { bytes, _ throws(CassetteError) in
            var start = 0
            while start < bytes.count {
                let end = ByteScan.index(of: 0x0a, in: bytes, from: start)
                carry += bytes[start..<end]
                guard end < bytes.count else { break }
                try self.add(carry, path: file.path)
                carry.removeAll(keepingCapacity: true)
                start = end + 1
            }
            return true
        }
    }

    private mutating func add(_ line: [UInt8], path: String) throws(CassetteError) {
        guard let piece = try? JSONDocument(line).root, let from = piece["from"]?.string, ["client", "server"].contains(from),
            let at = piece["at"]?.double
        else { throw Self.noPiece(path) }
        var part = (from == "client" ? self.request : self.response) ?? Part()
        if piece["end"] != nil {
            part.isComplete = true
        } else {
            guard let bytes = piece["text"]?.utf8 ?? piece["base64"]?.string.flatMap({ Base64.decode(Array($0.utf8)) }) else {
                throw Self.noPiece(path)
            }
            try self.append(bytes, at: at, to: &part)
        }
        if from == "client" { self.request = part } else { self.response = part }
    }

    private func append(_ bytes: [UInt8], at: Double, to part: inout Part) throws(CassetteError) {
        if let store {
            if part.spool == nil { part.spool = try store.makeSpool() }
            try part.spool?.write(bytes)
        } else {
            part.bytes += bytes
        }
        part.size += bytes.count
        guard !bytes.isEmpty else { return }
        if part.pieces.count < Arrival.pieceLimit {
            part.pieces.append(Arrival.Piece(at: at, size: bytes.count))
        } else {
            part.pieces[part.pieces.count - 1].size += bytes.count
            part.isThinned = true
        }
    }

    private static func noPiece(_ path: String) -> CassetteError {
        CassetteError(
            .damaged, "\"\(path)\" has a line that is not a piece of a body: remove the file, and the \".json\" file with the same name")
    }

    /// Gives an interaction its bodies.
    consuming func add(to interaction: inout Interaction) throws(CassetteError) {
        if let request { interaction.request.body = try self.body(request, interaction.request.headers) }
        if let response, let headers = interaction.response?.headers { interaction.response?.body = try self.body(response, headers) }
    }

    private func body(_ part: Part, _ headers: HeaderFields) throws(CassetteError) -> Body {
        var decoder = WireBodyDecoder(makeDigest: self.digest)
        var sink = Sink(store: self.store, digest: self.digest)
        let source = part.spool.map { spool in ByteSource(size: part.size) { try spool.read(into: $1, at: $0) } } ?? ByteSource(part.bytes)
        var body: Body
        do {
            body = try decoder.decode(source, headers: headers, origin: "", isComplete: part.isComplete, sink: &sink)
        } catch is Sink.NoStore {
            // Only displayed, never written: a recorder puts it into a file.
            let isText = UTF8Validator.isValid(part.bytes)
            body = Body(size: part.size, isComplete: part.isComplete, content: isText ? .text(part.bytes) : .binary(part.bytes))
        } catch {
            throw CassetteError(restoring: error)
        }
        part.spool?.discard()
        let isChunked = headers.values("transfer-encoding").contains { $0.lowercased().hasSuffix("chunked") }
        body.arrival = Arrival(isChunked: isChunked, pieces: part.pieces, isThinned: part.isThinned)
        return body
    }

    private struct Sink: SidecarSink {
        struct NoStore: Error {}

        let store: BodyStore?
        let digest: () -> any ContentDigest

        mutating func store(
            fileExtension: String, _ write: (_ piece: (UnsafeRawBufferPointer) throws -> Void) throws -> Void
        ) throws -> Sidecar {
            guard let store else { throw NoStore() }
            let spool = try store.makeSpool()
            var digest = self.digest()
            try write { piece in
                try spool.write(piece)
                digest.update(piece)
            }
            return try spool.finish(sha256: Hex.encode(digest.finalize()), ext: fileExtension)
        }
    }
}
