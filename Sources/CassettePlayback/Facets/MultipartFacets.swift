internal import CassetteFormat
internal import CassetteModel
internal import TapeBytes

/// One level of a multipart body as facets, one for each part. The boundary, preamble and epilogue are not compared (RFC 2046, 5.1).
///
/// Holds at most one part in memory. A class, since a level may contain another.
final class MultipartFacets {
    enum Outcome {
        case parts(FacetCollector)
        /// The body has no delimiter, and thus no parts.
        case bytes(ByteFacet)
    }

    let plan: BodyPlan
    let digest: () -> any ContentDigest
    let path: UInt64
    /// Names of the parts that contain this level.
    let label: [UInt8]
    let depth: Int
    let isForm: Bool
    let boundary: MultipartBoundary
    /// Boundaries of this level and of those that contain it.
    private let marks: [BoundaryMark]
    private var parser: MultipartParser
    private var collector: FacetCollector
    /// Bytes before the first delimiter; nil after it.
    private var preamble: ByteFacet?
    private var part: PartFacet?
    private var partCount = 0
    private var innerCount = 0
    /// Everything beyond a limit, in one piece.
    private var rest: ByteFacet?
    private var isClosed = false

    /// - Parameter isForm: whether its parts are form fields. The parts of any other multipart body may have no names, and their order
    ///   matters (RFC 2046, 5.1.3).
    init(_ boundary: MultipartBoundary, isForm: Bool, plan: BodyPlan, digest: @escaping () -> any ContentDigest) {
        self.isForm = isForm
        self.plan = plan
        self.collector = plan.collector
        self.digest = digest
        self.boundary = boundary
        self.path = FacetHash.root
        self.label = []
        self.depth = 1
        self.marks = [BoundaryMark(boundary)]
        self.parser = MultipartParser(boundary: boundary)
        self.preamble = ByteFacet(digest: digest(), keeping: plan.valueLimit)
    }

    init(_ boundary: MultipartBoundary, isForm: Bool, within outer: MultipartFacets, path: UInt64, label: [UInt8]) {
        self.isForm = isForm
        self.plan = outer.plan
        self.collector = outer.plan.collector
        self.digest = outer.digest
        self.boundary = boundary
        self.path = path
        self.label = label
        self.depth = outer.depth + 1
        self.marks = outer.marks + [BoundaryMark(boundary)]
        self.parser = MultipartParser(boundary: boundary)
        self.preamble = ByteFacet(digest: outer.digest(), keeping: outer.plan.valueLimit)
    }

    /// A value from a part's header section, with marks for boundaries and placeholders.
    func neutral(_ bytes: [UInt8]) -> [UInt8] {
        let bytes = self.marks.reduce(bytes) { $1.replaced(in: $0) }
        return bytes.withUnsafeBytes { MatchMark.replaced(in: $0) } ?? bytes
    }

    /// The number of the next part that contains parts. Their order is compared.
    func nextInner() -> Int {
        self.innerCount += 1
        return self.innerCount
    }

    func push(_ bytes: UnsafeRawBufferPointer) {
        self.parser.push(bytes) { self.take($0) }
    }

    func finish() -> Outcome {
        self.parser.finish { self.take($0) }
        return self.outcome()
    }

    private func take(_ event: MultipartEvent) {
        switch event.kind {
        case .preamble: self.preamble?.push(event.bytes)
        case .epilogue: break
        case .opaque:
            self.endPart()
            if self.rest == nil { self.rest = ByteFacet(digest: self.digest(), keeping: self.plan.valueLimit) }
            self.rest?.push(event.bytes)
        case .delimiter(let delimiter):
            self.endPart()
            self.preamble = nil
            if delimiter.isClosing { self.isClosed = true } else { self.beginPart(PartHeaderSection(bytes: [])) }
        case .headers: self.part = PartFacet(PartHeaderSection(bytes: Array(event.bytes)), in: self, index: self.partCount)
        case .data: self.part?.push(event.bytes)
        }
    }

    private func beginPart(_ headers: PartHeaderSection) {
        self.part = PartFacet(headers, in: self, index: self.partCount)
    }

    private func endPart() {
        guard let part = self.part else { return }
        self.part = nil
        self.partCount += 1
        part.finish(into: &self.collector)
    }

    private func outcome() -> Outcome {
        if let preamble = self.preamble, self.rest == nil { return .bytes(preamble) }
        self.endPart()
        if var rest = self.rest {
            let digest = rest.finish()
            let hash = digest.withUnsafeBytes { FacetHash.value(self.path, .rest, $0) }
            rest.beginning.withUnsafeBytes {
                self.collector.add(hash, .part, name: self.label, value: $0, size: rest.size, hasMarks: rest.hasMarks)
            }
        } else if !self.isClosed {
            let none = UnsafeRawBufferPointer(start: nil, count: 0)
            self.collector.add(FacetHash.value(self.path, .notClosed, none), .unclosed, name: self.label, value: none)
        }
        return .parts(self.collector)
    }

    // MARK: Recorded parts

    /// Takes a recorded body that is already split into parts. `read` delivers the bytes of a part, unless `known` has their digest.
    func take(
        _ body: MultipartBody<PartContent>, known: (PartContent) -> (sha256: [UInt8], size: Int)?,
        read: (PartContent, (UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws -> Outcome {
        self.preamble = nil
        for part in body.parts {
            self.beginPart(part.headers)
            guard let facet = self.part else { continue }
            switch part.content {
            case .data(let data):
                if let known = known(data), facet.takesDigest(size: known.size) {
                    facet.take(sha256: known.sha256, size: known.size)
                } else {
                    try read(data) { facet.push($0) }
                }
            case .multipart(let inner):
                try MultipartSerializer.write(inner, to: { facet.push($0) }, data: { try read($0) { facet.push($0) } })
            }
            self.endPart()
        }
        self.isClosed = body.closing != nil
        return self.outcome()
    }
}

/// One part of a multipart body as a facet: its name, filename, type and decoded content (RFC 7578, 4.2; RFC 2045).
///
/// Digests the content as it arrives. Up to a limit, content is held in memory if it has to be decoded from base64 or quoted-printable, or
/// if it is compared by its kind, like JSON or XML.
final class PartFacet {
    private let plan: BodyPlan
    private let name: [UInt8]
    private let filename: [UInt8]?
    /// The media type with its charset, and on further lines the other fields that are compared.
    private let type: [UInt8]
    private let encoding: ContentTransferEncoding
    private let path: UInt64
    /// For display: the names of the parts that contain it, and its own.
    private let label: [UInt8]
    private let isIgnored: Bool
    private var content: ByteFacet
    /// The content to be decoded or parsed; nil if that is not needed, or if the content has grown too large.
    private var held: [UInt8]?
    /// A longer content is not held. If its type does not declare a structure, it is parsed only if it is short, so that files need not be
    /// read.
    private var holdLimit = BodyFacets.memoryLimit
    /// Parses the content by its kind; nil if it is text or bytes.
    private var structure: ContentFacets?
    /// The inner parts, if the part is declared as multipart.
    private var inner: MultipartFacets?

    init(_ headers: PartHeaderSection, in level: MultipartFacets, index: Int) {
        let fields = headers.fields
        let disposition = ContentDisposition(fields)
        self.plan = level.plan
        let isNameless = (disposition?.name ?? "").isEmpty && disposition?.filename == nil && !level.isForm
        self.name = isNameless ? Array("\(index + 1)".utf8) : level.neutral(Array((disposition?.name ?? "").utf8))
        let filename = (disposition?.filename).map { level.neutral(Array($0.utf8)) }
        self.encoding = ContentTransferEncoding(fields)
        self.label = level.label.isEmpty ? self.name : level.label + [UInt8(ascii: "/")] + self.name
        let others = Self.others(fields, level.plan.plan(ofPart: self.name, label: self.label)?.headers, isForm: level.isForm)
        self.type = level.neutral(Self.type(fields) + others)
        self.isIgnored = level.plan.parts.ignores(self.name) || level.plan.parts.ignores(self.label)
        let names = [self.name, self.label]
        self.filename = filename.map { Self.compared($0, of: names, level.plan) }
        // If order is not compared, parts are paired by name.
        self.path = self.name.withUnsafeBytes {
            FacetHash.path(level.path, $0, ordinal: level.plan.ordersParts ? index + 1 : 0)
        }
        self.content = ByteFacet(digest: level.digest(), keeping: level.plan.valueLimit)
        switch self.encoding {
        case .base64, .quotedPrintable: self.held = []
        case .identity, .other: self.held = nil
        }
        guard level.depth < WireMultipartDecoder.limits.depth, !self.isIgnored, let type = MultipartType(part: headers),
            let boundary = type.boundary
        else {
            self.holdStructure(fields, level)
            return
        }
        let path = self.name.withUnsafeBytes { FacetHash.path(level.path, $0, ordinal: -1 - level.nextInner()) }
        self.inner = MultipartFacets(boundary, isForm: type.isFormData, within: level, path: path, label: self.label)
    }

    /// Prepares to parse the content by its kind, if it has its own. A pattern applies to the bytes, so content with one is not parsed.
    private func holdStructure(_ fields: HeaderFields, _ level: MultipartFacets) {
        if case .other = self.encoding { return }
        guard !self.isIgnored, self.patterns == nil, self.label.count <= BodyFacets.nameLimit,
            let plan = self.plan.plan(ofPart: self.name, label: self.label)
        else { return }
        let structure = ContentFacets(plan, headers: fields, digest: level.digest)
        guard structure.mayBeStructured else { return }
        self.structure = structure
        self.holdLimit = structure.declaresStructure ? BodyFacets.memoryLimit : BodyFacets.valueLimit
        self.held = []
    }

    /// Encoded content is held in any case, to be decoded.
    private var limit: Int { if case .identity = self.encoding { self.holdLimit } else { BodyFacets.memoryLimit } }

    private var patterns: [NumberedPattern]? {
        guard let rules = self.plan.parts[self.name] ?? self.plan.parts[self.label], !rules.patterns.isEmpty else { return nil }
        return rules.patterns
    }

    /// The filename as the rules compare it: empty if it is ignored, or a substitute if a pattern matches it.
    ///
    /// - Parameter names: the part's names, by which a rule may refer to it.
    private static func compared(_ filename: [UInt8], of names: [[UInt8]], _ plan: BodyPlan) -> [UInt8] {
        guard !names.contains(where: plan.filenames.ignores) else { return [] }
        return names.lazy.compactMap { plan.filenames[$0]?.compared(filename) }.first ?? filename
    }

    /// Fields that are compared in their own way, or that say nothing about the part.
    private static let known: Set<String> = [
        "content-disposition", "content-type", "content-transfer-encoding", "content-length", "mime-version",
    ]

    /// The other fields of the part, as lines `name: value` sorted by name, each after a line feed. Leaves out those that change with each
    /// request, such as a random `Content-ID`, and any in a form, where nothing refers to it.
    ///
    /// - Parameter rules: by the names of fields.
    private static func others(_ fields: HeaderFields, _ rules: NamedRules?, isForm: Bool) -> [UInt8] {
        var lines: [[UInt8]] = []
        for index in 0..<fields.count {
            let name = fields.name(at: index).lowercased()
            switch RequestFieldNames.role(of: name) {
            case .neverDecides, .ignored: continue
            case .selecting, .other: break
            }
            var value = Array(fields.valueBytes(at: index))
            guard !self.known.contains(name), rules?.ignores(Array(name.utf8)) != true,
                name != "content-id" || !isForm && !self.isRandom(value)
            else { continue }
            value = rules?[Array(name.utf8)]?.compared(value) ?? value
            lines.append([10] + name.utf8 + [UInt8(ascii: ":"), 32] + value.map { $0 == 10 ? 32 : $0 })
        }
        return lines.sorted { $0.lexicographicallyPrecedes($1) }.flatMap { $0 }
    }

    /// The shortest random word in an id, in bytes.
    private static let randomLength = 8

    /// Whether an id has a long word with a digit, as those that programs make have. `<image1>` and `<2>` name something.
    private static func isRandom(_ id: [UInt8]) -> Bool {
        id.split { !FormSpelling.isAlphanumeric($0) }.contains { word in
            word.count >= Self.randomLength && word.contains { $0 >= 48 && $0 <= 57 }
        }
    }

    /// The type with its charset but no other parameter, if the meaning of the bytes depends on the charset.
    private static func type(_ fields: HeaderFields) -> [UInt8] {
        guard let index = fields.firstIndex(of: "content-type") else { return [] }
        let parameters = MIMEParameters(fields.valueBytes(at: index))
        var type = Array(parameters.value.utf8)
        guard let charset = parameters["charset"]?.value.map({ $0 >= 65 && $0 <= 90 ? $0 | 32 : $0 }) else { return type }
        // JSON is UTF-8 anyway, and its types have no such parameter (RFC 8259, 8.1 and 11).
        if charset.elementsEqual("utf-8".utf8), MediaType(fields.valueBytes(at: index)).kind == .json { return type }
        type += "; charset=".utf8 + charset
        return type
    }

    /// Whether the digest of the content replaces it, so that it need not be read.
    ///
    /// - Parameter size: the content's size.
    func takesDigest(size: Int) -> Bool {
        if self.isIgnored { return true }
        guard self.inner == nil, self.patterns == nil else { return false }
        // Content above the limit is too large to be parsed.
        if case .identity = self.encoding { return self.held == nil || size > self.holdLimit }
        return self.held == nil
    }

    func take(sha256: [UInt8], size: Int) {
        self.held = nil
        self.content.take(sha256: sha256, size: size)
    }

    func push(_ bytes: UnsafeRawBufferPointer) {
        guard !self.isIgnored else { return }
        if let inner = self.inner { return inner.push(bytes) }
        guard self.held != nil else { return self.content.push(bytes) }
        self.held?.append(contentsOf: bytes)
        guard let held = self.held, held.count > self.limit else { return }
        held.withUnsafeBytes { self.content.push($0) }
        self.held = nil
    }

    func finish(into collector: inout FacetCollector) {
        guard !self.isIgnored else { return }
        var tag = FacetHash.Tag.part
        if let inner = self.inner {
            switch inner.finish() {
            case .parts(let parts):
                collector.add(parts)
                return self.add(tag, [], [], size: 0, hasMarks: false, into: &collector)
            case .bytes(let bytes): self.content = bytes
            }
        } else if let held = self.held {
            let decoded = self.encoding.decode(held) ?? held
            let name = Array("part:".utf8) + self.label + [UInt8(ascii: "|")]
            if let content = self.structure?.structured(decoded, collector.within(self.path, name)) {
                collector.add(content.facets)
                return self.add(
                    .container, Array(content.kind.rawValue.utf8) + content.facets.digest, [], size: decoded.count,
                    hasMarks: content.facets.hasMarks, isContainer: true, into: &collector)
            }
            decoded.withUnsafeBytes { self.content.push($0) }
        } else if case .identity = self.encoding {
            // Identity: the bytes are the content.
        } else {
            tag = .undecoded
        }
        let digest = self.content.finish()
        if let patterns = self.patterns, let whole = self.content.whole,
            let substitute = whole.withUnsafeBytes({ NumberedPattern.substitute(for: $0, among: patterns) })
        {
            return self.add(.pattern, substitute, whole, size: whole.count, hasMarks: false, into: &collector)
        }
        self.add(tag, digest, self.content.beginning, size: self.content.size, hasMarks: self.content.hasMarks, into: &collector)
    }

    private func add(
        _ tag: FacetHash.Tag, _ digest: [UInt8], _ beginning: [UInt8], size: Int, hasMarks: Bool, isContainer: Bool = false,
        into collector: inout FacetCollector
    ) {
        var value: [UInt8] = []
        for bytes in [self.filename, self.type] {
            guard let bytes else { continue }
            value += "\(bytes.count):".utf8
            value += bytes
        }
        value.append(self.filename == nil ? 0 : 1)
        value += digest
        let hash = value.withUnsafeBytes { FacetHash.value(self.path, tag, $0) }
        let isMarked = hasMarks || [self.name, self.filename ?? []].contains { $0.withUnsafeBytes { MatchMark.isIn($0) } }
        beginning.withUnsafeBytes {
            collector.add(
                hash, .part, name: self.label, value: $0, size: size, filename: self.filename, type: self.type, hasMarks: isMarked,
                isContainer: isContainer)
        }
    }
}

/// Removes a multipart body's boundary from the compared values. It is different in every request, and some clients repeat it in names and
/// part headers.
struct BoundaryMark {
    /// A shorter boundary might also be a word in a name. Clients generate 16 bytes or more.
    static let shortest = 8
    /// Replaces the boundary.
    static let bytes: [UInt8] = Array("{{boundary}}".utf8)

    private let boundary: [UInt8]

    init(_ boundary: MultipartBoundary) {
        self.boundary = Array(boundary.bytes)
    }

    func replaced(in bytes: [UInt8]) -> [UInt8] {
        guard self.boundary.count >= Self.shortest, bytes.count >= self.boundary.count else { return bytes }
        var result: [UInt8] = []
        var offset = 0
        while offset < bytes.count {
            if bytes.count - offset >= self.boundary.count, bytes[offset] == self.boundary[0],
                bytes[offset..<offset + self.boundary.count].elementsEqual(self.boundary)
            {
                result += Self.bytes
                offset += self.boundary.count
            } else {
                result.append(bytes[offset])
                offset += 1
            }
        }
        return result
    }
}
