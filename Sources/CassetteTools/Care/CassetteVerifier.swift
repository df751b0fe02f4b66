internal import CassetteFormat
public import CassetteModel
internal import CassettePlayback
internal import CassetteRedaction
internal import CassetteStore
public import TapeBytes

/// Checks a cassette and what lies beside it, and changes nothing.
///
/// Holds one exchange in memory at a time.
public struct CassetteVerifier {
    private let path: String
    private let reader: CassetteReader
    private let digest: () -> any ContentDigest
    private let unanswerable: (Interaction) -> String?

    /// - Parameters:
    ///   - digest: makes a fresh SHA-256.
    ///   - unanswerable: why a replay could not send an answer; nil where it could.
    /// - Throws: `CassetteError` where the file is no cassette, or cannot be read.
    public init(
        path: String, digest: @escaping () -> any ContentDigest = { PortableSHA256() },
        unanswerable: @escaping (Interaction) -> String? = { _ in nil }
    ) throws(CassetteError) {
        self.path = path
        self.unanswerable = unanswerable
        self.reader = try CassetteReader(path: path)
        self.digest = digest
    }

    /// How many exchanges the file holds.
    public var count: Int { self.reader.count }

    /// Looks at everything, in the order of the file.
    public func run(
        progress: (_ done: Int, _ of: Int) -> Void = { _, _ in }, _ found: (CareFinding) throws -> Void
    ) throws {
        if let damage = self.reader.damage {
            try found(CareFinding(.torn, text: damage.summary + ": \"wiretape develop\" mends it, and keeps beside it what it takes out"))
        }
        for text in self.headProblems() { try found(CareFinding(.malformed, text: text)) }
        var bodies = BodyVerifier(cassettePath: self.path, digest: self.digest)
        var numbers: [Int: Int] = [:]
        for position in 0..<self.reader.count {
            progress(position, self.reader.count)
            let bytes = try self.reader.bytes(at: position)
            let interaction: Interaction
            do {
                interaction = try InteractionDecoder.decode(bytes)
            } catch {
                try found(self.malformed(bytes, position))
                continue
            }
            if let other = numbers[interaction.id] {
                let text = "exchanges \(other) and \(position + 1) both have the id \(interaction.id): give one of them another"
                try found(CareFinding(.duplicateID, exchange: position + 1, id: interaction.id, text: text))
            } else {
                numbers[interaction.id] = position + 1
            }
            for text in self.problems(of: interaction) {
                try found(CareFinding(.malformed, exchange: position + 1, id: interaction.id, text: text))
            }
            for (message, body, headers) in interaction.bodies {
                guard let finding = self.finding(body, message, headers, &bodies) else { continue }
                try found(finding.of(position + 1, interaction.id))
            }
        }
        progress(self.reader.count, self.reader.count)
        try self.lookForUnusedFiles(found)
    }

    /// Rules that a replay would stumble over.
    private func headProblems() -> [String] {
        guard let head = try? self.reader.head() else { return [] }
        var problems: [String] = []
        do {
            _ = try CassetteHead(head).redactionRules()
        } catch {
            problems.append(error.message)
        }
        do throws(CassetteError) {
            _ = try RecordedCassette.matchRules(inHead: head, of: self.path)
        } catch {
            problems.append(error.message)
        }
        return problems
    }

    /// What reads, and is no HTTP.
    private func problems(of interaction: Interaction) -> [String] {
        var problems: [String] = []
        let request = interaction.request
        if request.method != "CONNECT", !Self.hasOrigin(request.url) {
            problems.append("request.url: no request can ask for it: write an http or https URL with a host")
        }
        let fields = [("request.headers", request.headers), ("response.headers", interaction.response?.headers ?? HeaderFields())]
        for (name, headers) in fields where (0..<headers.count).contains(where: { !headers.line(at: $0).contains(UInt8(ascii: ":")) }) {
            problems.append("\(name): a line has no name and colon: write NAME: VALUE")
        }
        if problems.isEmpty, request.method != "CONNECT", let problem = self.unanswerable(interaction) {
            problems.append("no replay can send its answer: \(problem)")
        }
        return problems
    }

    private static func hasOrigin(_ url: String) -> Bool {
        let lowercase = url.lowercased()
        guard let scheme = ["http://", "https://"].first(where: { lowercase.hasPrefix($0) }) else { return false }
        guard let first = url.utf8.dropFirst(scheme.utf8.count).first else { return false }
        return first != UInt8(ascii: "/") && url.utf8.allSatisfy { $0 > 32 && $0 != 127 }
    }

    private func malformed(_ bytes: [UInt8], _ position: Int) -> CareFinding {
        var text = "it does not read: restore the file from a copy"
        do throws(CassetteError) {
            let line = try self.reader.line(at: position)
            _ = try InteractionDecoder.decode(bytes, at: InteractionPlace(file: self.path, line: line))
        } catch {
            text = error.message
        }
        return CareFinding(.malformed, exchange: position + 1, text: text)
    }

    private func finding(_ body: Body, _ message: String, _ headers: HeaderFields, _ bodies: inout BodyVerifier) -> CareFinding? {
        switch bodies.judge(body) {
        case .damaged(let problem): return CareFinding(.damagedBody, message: message, text: problem)
        case .changed(let problem):
            return CareFinding(.changedBody, message: message, text: "\(problem): record it again, or keep it if it was edited on purpose")
        case nil:
            guard body.isUndeveloped(headers) else { return nil }
            return CareFinding(.undeveloped, message: message, text: "it was kept raw: \"wiretape develop\" gives it a readable form")
        }
    }

    private func lookForUnusedFiles(_ found: (CareFinding) throws -> Void) throws {
        let references: CassetteReferences
        do throws(CassetteError) {
            references = try CassetteReferences(familyOf: self.path)
        } catch {
            return try found(CareFinding(.unjudged, text: "which files are unused cannot be told: \(error.message)"))
        }
        for file in try UnusedFiles.find(beside: self.path, references) {
            try found(CareFinding(.unusedFile, file: file, text: "no exchange names it: it can be removed"))
        }
    }
}

extension CareFinding {
    fileprivate func of(_ exchange: Int, _ id: Int) -> Self {
        var finding = self
        (finding.exchange, finding.id) = (exchange, id)
        return finding
    }
}

/// The files in a cassette's folder of bodies that no cassette names.
enum UnusedFiles {
    /// Paths relative to the cassette's folder, in order of their names; none where there is no folder.
    static func find(beside path: String, _ references: CassetteReferences) throws(CassetteError) -> [String] {
        let location = FileLocation(path)
        var unused: [String] = []
        do {
            let folder = try OpenFolder(location.bodiesName, in: OpenFolder(location.folder))
            try folder.forEachName { name throws(CassetteError) in
                let path = "\(location.bodiesName)/\(name)"
                let isUsed = name == RawSpool.fileName ? references.usesRawSpool : references.sidecars.contains(path)
                if !isUsed { unused.append(path) }
            }
        } catch {
            guard error.code == .notFound else { throw error }
        }
        return unused.sorted()
    }
}

/// One thing that a check of a cassette has found.
public struct CareFinding: Sendable, Hashable {
    public enum Kind: String, Sendable, Hashable {
        /// The file is torn: exchanges are lost.
        case torn
        /// An exchange that is not as the format says.
        case malformed
        /// Two exchanges with one id.
        case duplicateID = "duplicate-id"
        /// A sidecar or a raw slice that is missing, or not what its digest says.
        case damagedBody = "damaged-body"
        /// Octets that are not the recorded ones any more, by size or digest: the content was edited, or cannot be coded as it was.
        case changedBody = "changed-body"
        /// A body that was kept raw and has no readable form yet.
        case undeveloped
        /// A file in the folder of bodies that nobody names.
        case unusedFile = "unused-file"
        /// The folder of bodies could not be judged, since a cassette beside this one cannot be read.
        case unjudged
    }

    public var kind: Kind
    /// The number in order of the file, from 1; nil where no exchange is concerned.
    public var exchange: Int?
    /// As in the file, where it can be read.
    public var id: Int?
    /// `request` or `response`, where a body is concerned.
    public var message: String?
    /// The file concerned, relative to the cassette's folder.
    public var file: String?
    /// What was found, with what it concerns, and what to do next.
    public var text: String

    public init(_ kind: Kind, exchange: Int? = nil, id: Int? = nil, message: String? = nil, file: String? = nil, text: String) {
        self.kind = kind
        self.exchange = exchange
        self.id = id
        self.message = message
        self.file = file
        self.text = text
    }

    /// Whether a replay could go wrong by it; else it is worth knowing.
    public var isProblem: Bool {
        switch self.kind {
        case .torn, .malformed, .duplicateID, .damagedBody, .changedBody: true
        case .undeveloped, .unusedFile, .unjudged: false
        }
    }
}

/// Checks that recorded bodies are still what was recorded: files beside the cassette against their digests, and the octets of the wire
/// against size and digest.
///
/// Reads each file once, however many bodies name it. Holds no body in memory that lies in a file.
struct BodyVerifier {
    enum Judgement: Hashable {
        /// A file is missing or not what it should be.
        case damaged(String)
        /// The octets are right for the content, and not those that were recorded.
        case changed(String)
    }

    /// Paths kept in `proven`: some ten megabytes. Past that a file that is named again is read again.
    private static let provenLimit = 65_536

    private let reader: BodyReader
    private let digest: () -> any ContentDigest
    private var proven: [Sidecar: String?] = [:]

    init(cassettePath: String, digest: @escaping () -> any ContentDigest) {
        self.reader = BodyReader(cassettePath: cassettePath)
        self.digest = digest
    }

    mutating func judge(_ body: Body) -> Judgement? {
        for sidecar in body.content.sidecars + (body.original.map { [$0] } ?? []) {
            if let problem = self.problem(of: sidecar) { return .damaged(problem) }
        }
        do {
            return try self.restored(body) ?? self.decoded(body)
        } catch {
            return .damaged("\(error)")
        }
    }

    private mutating func problem(of sidecar: Sidecar) -> String? {
        if let known = self.proven[sidecar] { return known }
        var problem: String?
        do {
            let stream = try self.open(sidecar)
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: OctetSource.pieceSize, alignment: 16)
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

    /// Whether the octets of the wire come back.
    private func restored(_ body: Body) throws -> Judgement? {
        var size = 0
        var digest = self.digest()
        var isEdited = try BodyRestorer.streamWire(
            of: body, file: { try self.source($0) }, raw: { OctetSource(try self.reader.read($0)) }
        ) { piece in
            size += piece.count
            digest.update(piece)
        }
        guard size == body.size else { return .changed("it gives \(size) octets where \(body.size) were recorded") }
        if let recorded = body.sha256, Hex.encode(digest.finalize()) != recorded { isEdited = true }
        return isEdited ? .changed("it gives other octets than were recorded: their SHA-256 differs") : nil
    }

    /// Whether a content in a file is what the kept octets of the wire hold; a content in the cassette was compared by restoring.
    private func decoded(_ body: Body) throws -> Judgement? {
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

    private func source(_ sidecar: Sidecar) throws(CassetteError) -> OctetSource {
        func source(_ digest: some ContentDigest) throws(CassetteError) -> OctetSource { try self.reader.source(sidecar, digest: digest) }
        return try source(self.digest())
    }
}
