internal import CassetteFormat
internal import CassetteModel
internal import CassetteStore
internal import TapeBytes

/// Checks that bodies are as they were recorded: files next to the cassette against their digests, and the wire bytes against size and
/// digest.
///
/// Reads each file once, however many bodies refer to it. Never holds a body from a file in memory.
struct BodyVerifier {
    enum Problem: Hashable {
        /// A file is missing, or its bytes are wrong.
        case damaged(String)
        /// The bytes match the content, but are not the recorded ones.
        case changed(String)
    }

    /// Limit on `proven`: about ten megabytes. Beyond it, a file that is referred to again is read again.
    private static let provenLimit = 65_536

    private let reader: BodyReader
    private let digest: () -> any ContentDigest
    private var proven: [Sidecar: String?] = [:]

    init(cassettePath: String, digest: @escaping () -> any ContentDigest) {
        self.reader = BodyReader(cassettePath: cassettePath)
        self.digest = digest
    }

    mutating func problem(with body: Body) -> Problem? {
        for sidecar in body.content.sidecars + (body.original.map { [$0] } ?? []) {
            if let problem = self.problem(of: sidecar) { return .damaged(problem) }
        }
        do {
            return try self.restored(body) ?? self.decoded(body)
        } catch {
            return .damaged("\(error)")
        }
    }

    mutating func problem(of sidecar: Sidecar) -> String? {
        if let known = self.proven[sidecar] { return known }
        var problem: String?
        do {
            let stream = try self.open(sidecar)
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: ByteSource.pieceSize, alignment: 16)
            defer { buffer.deallocate() }
            while try stream.read(into: buffer) > 0 {}
        } catch {
            problem = error.message
        }
        if self.proven.count < Self.provenLimit { self.proven[sidecar] = problem }
        return problem
    }

    private func open(_ sidecar: Sidecar) throws(CassetteError) -> BodyStream {
        func open(_ digest: some ContentDigest) throws(CassetteError) -> BodyStream { try self.reader.open(sidecar, digest: digest) }
        return try open(self.digest())
    }

    /// Whether the wire bytes can be restored.
    private func restored(_ body: Body) throws -> Problem? {
        var size = 0
        var digest = self.digest()
        var isEdited = try BodyRestorer.streamWire(
            of: body, file: { try self.source($0) }, raw: { ByteSource(try self.reader.read($0)) }
        ) { piece in
            size += piece.count
            digest.update(piece)
        }
        guard size == body.size else { return .changed("it gives \(size) bytes, but \(body.size) were recorded") }
        if let recorded = body.sha256, Hex.encode(digest.finalize()) != recorded { isEdited = true }
        return isEdited ? .changed("it gives other bytes than those recorded: the SHA-256 differs") : nil
    }

    /// Checks that a content in a file is what the kept wire bytes decode to. For a content in the cassette, restoring has already compared
    /// them.
    private func decoded(_ body: Body) throws -> Problem? {
        guard case .file(let content) = body.content, let original = body.original, !body.codings.isEmpty else { return nil }
        let source = try self.source(original)
        let limits = InflateLimits(output: max(content.size, InflateLimits.file(codedSize: original.size).output), ratio: .max)
        guard let chain = DecoderChain(body.codings.map { ($0.name, $0.format) }, limits: limits) else { return nil }
        var digest = self.digest()
        try source.forEachPiece(while: { try chain.push($0) { digest.update($0) } })
        guard chain.finish(), Hex.encode(digest.finalize()) == content.sha256 else {
            return .changed("\"\(content.path)\" is not what \"\(original.path)\" holds without its codings")
        }
        return nil
    }

    private func source(_ sidecar: Sidecar) throws(CassetteError) -> ByteSource {
        func source(_ digest: some ContentDigest) throws(CassetteError) -> ByteSource { try self.reader.source(sidecar, digest: digest) }
        return try source(self.digest())
    }
}
