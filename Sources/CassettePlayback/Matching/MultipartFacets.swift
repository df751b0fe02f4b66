internal import CassetteModel
internal import TapeBytes

/// One level of a multipart body as facets, one for each part, without the boundary and what stands around the parts (RFC 2046, 5.1).
///
/// Holds no part in memory. A class, since a level holds another.
final class MultipartFacets {
    enum Outcome {
        case parts(FacetCollector)
        /// There is no delimiter: the octets are no parts.
        case octets(OctetFacet)
    }

    let plan: BodyPlan
    let digest: () -> any ContentDigest
    let path: UInt64
    /// Names of the parts around this level.
    let label: [UInt8]
    let depth: Int
    let boundary: MultipartBoundary
    /// Boundaries of this level and those around it.
    private let marks: [BoundaryMark]
    private var parser: MultipartParser
    private var collector: FacetCollector
    /// Octets in front of the first delimiter; nil behind it.
    private var preamble: OctetFacet?
    private var part: PartFacet?
    private var partCount = 0
    private var innerCount = 0
    /// What lies past a limit, in one piece.
    private var rest: OctetFacet?
    private var isClosed = false

    init(_ boundary: MultipartBoundary, plan: BodyPlan, digest: @escaping () -> any ContentDigest) {
        self.plan = plan
        self.collector = plan.collector
        self.digest = digest
        self.boundary = boundary
        self.path = FacetHash.root
        self.label = []
        self.depth = 1
        self.marks = [BoundaryMark(boundary)]
        self.parser = MultipartParser(boundary: boundary)
        self.preamble = OctetFacet(digest: digest(), keeping: plan.valueLimit)
    }

    init(_ boundary: MultipartBoundary, within outer: MultipartFacets, path: UInt64, label: [UInt8]) {
        self.plan = outer.plan
        self.collector = outer.plan.collector
        self.digest = outer.digest
        self.boundary = boundary
        self.path = path
        self.label = label
        self.depth = outer.depth + 1
        self.marks = outer.marks + [BoundaryMark(boundary)]
        self.parser = MultipartParser(boundary: boundary)
        self.preamble = OctetFacet(digest: outer.digest(), keeping: outer.plan.valueLimit)
    }

    /// A word of a part's header section without boundaries and with marks for placeholders.
    func neutral(_ octets: [UInt8]) -> [UInt8] {
        let octets = self.marks.reduce(octets) { $1.replaced(in: $0) }
        return octets.withUnsafeBytes { MatchMark.replaced(in: $0) } ?? octets
    }

    /// The number of the next part that holds parts: their order counts.
    func nextInner() -> Int {
        self.innerCount += 1
        return self.innerCount
    }

    func push(_ octets: UnsafeRawBufferPointer) {
        self.parser.push(octets) { self.take($0) }
    }

    func finish() -> Outcome {
        self.parser.finish { self.take($0) }
        return self.outcome()
    }

    private func take(_ event: MultipartEvent) {
        switch event.kind {
        case .preamble: self.preamble?.push(event.octets)
        case .epilogue: break
        case .opaque:
            self.endPart()
            if self.rest == nil { self.rest = OctetFacet(digest: self.digest(), keeping: self.plan.valueLimit) }
            self.rest?.push(event.octets)
        case .delimiter(let delimiter):
            self.endPart()
            self.preamble = nil
            if delimiter.isClosing { self.isClosed = true } else { self.beginPart(PartHeaderSection(octets: [])) }
        case .headers: self.part = PartFacet(PartHeaderSection(octets: Array(event.octets)), in: self, index: self.partCount)
        case .data: self.part?.push(event.octets)
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
        if let preamble = self.preamble, self.rest == nil { return .octets(preamble) }
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

    /// Takes a recorded body that was taken apart. `read` gives the octets of a part, unless `known` has the digest of them.
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
                if facet.takesDigest, let known = known(data) {
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
