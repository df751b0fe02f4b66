internal import CassetteModel
internal import TapeBytes

/// Makes facets of a body's content as it comes, behind content decoding: chooses by rule and type how it is understood.
///
/// The same for live and recorded bodies, so that both are understood alike. A class, since decoders hand octets to it.
final class ContentFacets {
    private enum Attempt { case graphQL, json, form, text }

    private enum Mode {
        case nothing
        case octets(OctetFacet)
        /// Held until its end, then read in the first of these ways that fits.
        case memory([UInt8], [Attempt])
        case parts(MultipartFacets)
    }

    private let plan: BodyPlan
    private let field: ArraySlice<UInt8>?
    private let digest: () -> any ContentDigest
    private var mode: Mode
    private var isEmpty = true

    init(_ plan: BodyPlan, headers: HeaderFields, digest: @escaping () -> any ContentDigest) {
        self.plan = plan
        self.field = headers.firstIndex(of: "content-type").map(headers.valueBytes)
        self.digest = digest
        let type = MediaType(self.field)
        switch plan.match {
        case nil: self.mode = .nothing
        case .bytes where !plan.isGraphQL: self.mode = .octets(OctetFacet(digest: digest(), keeping: plan.valueLimit))
        case .byKind, .multipart, .bytes, .json, .form, .text:
            let parts = plan.match == .byKind || plan.match == .multipart
            if parts, type.isMultipart, let boundary = MultipartType(headers)?.boundary {
                self.mode = .parts(MultipartFacets(boundary, plan: plan, digest: digest))
            } else {
                let attempts = Self.attempts(plan, type)
                self.mode = attempts.isEmpty ? .octets(OctetFacet(digest: digest(), keeping: plan.valueLimit)) : .memory([], attempts)
            }
        }
    }

    private static func attempts(_ plan: BodyPlan, _ type: MediaType) -> [Attempt] {
        let mayBeJSON = type.kind == .json || type.essence.isEmpty || type.isForm
        var attempts: [Attempt] = plan.isGraphQL && mayBeJSON ? [.graphQL] : []
        switch plan.match {
        case .json: attempts.append(.json)
        case .form: attempts.append(.form)
        case .text: attempts.append(.text)
        case .bytes, nil: return attempts
        case .byKind, .multipart: break
        }
        // curl's `-d` calls everything a form.
        if mayBeJSON { attempts.append(.json) }
        if type.isForm { attempts.append(.form) }
        if type.kind == .text || type.kind == .json || type.essence.isEmpty { attempts.append(.text) }
        return attempts
    }

    /// The level of parts, where the body is one.
    var parts: MultipartFacets? { if case .parts(let parts) = self.mode { parts } else { nil } }

    /// Whether the digest of so many octets stands for them, so that they need not be read.
    func takesDigest(size: Int) -> Bool {
        switch self.mode {
        case .nothing, .octets: true
        case .memory: size > BodyFacets.memoryLimit
        case .parts: false
        }
    }

    func take(sha256: [UInt8], size: Int) {
        self.isEmpty = size == 0
        guard case .nothing = self.mode else {
            var octets = OctetFacet(digest: self.digest(), keeping: self.plan.valueLimit)
            octets.take(sha256: sha256, size: size)
            self.mode = .octets(octets)
            return
        }
    }

    func push(_ octets: UnsafeRawBufferPointer) {
        guard !octets.isEmpty else { return }
        self.isEmpty = false
        switch self.mode {
        case .nothing: break
        case .parts(let parts): parts.push(octets)
        case .octets(var facet):
            self.mode = .nothing
            facet.push(octets)
            self.mode = .octets(facet)
        case .memory(var held, let attempts):
            self.mode = .nothing
            if held.count + octets.count > BodyFacets.memoryLimit {
                var facet = OctetFacet(digest: self.digest(), keeping: self.plan.valueLimit)
                held.withUnsafeBytes { facet.push($0) }
                facet.push(octets)
                self.mode = .octets(facet)
            } else {
                held.append(contentsOf: octets)
                self.mode = .memory(held, attempts)
            }
        }
    }

    /// The body has ended.
    func finish() -> (kind: BodyFacets.Kind, facets: FacetCollector) {
        guard !self.isEmpty else { return (.none, self.plan.collector) }
        switch self.mode {
        case .nothing: return (.none, self.plan.collector)
        case .octets(let facet): return Self.octets(facet, self.plan)
        case .memory(let octets, let attempts): return self.read(octets, attempts)
        case .parts(let parts): return Self.outcome(parts.finish(), self.plan)
        }
    }

    static func outcome(_ outcome: MultipartFacets.Outcome, _ plan: BodyPlan) -> (kind: BodyFacets.Kind, facets: FacetCollector) {
        switch outcome {
        case .parts(let collector): (.multipart, collector)
        case .octets(let facet): self.octets(facet, plan)
        }
    }

    static func octets(_ facet: OctetFacet, _ plan: BodyPlan) -> (kind: BodyFacets.Kind, facets: FacetCollector) {
        var facet = facet
        var collector = plan.collector
        let digest = facet.finish()
        let hash = digest.withUnsafeBytes { FacetHash.value(FacetHash.root, .octets, $0) }
        facet.beginning.withUnsafeBytes {
            collector.add(hash, .whole, name: [], value: $0, size: facet.size, hasMarks: facet.hasMarks)
        }
        return (.bytes, collector)
    }

    private func read(_ octets: [UInt8], _ attempts: [Attempt]) -> (kind: BodyFacets.Kind, facets: FacetCollector) {
        var collector = self.plan.collector
        for attempt in attempts {
            switch attempt {
            case .graphQL:
                if GraphQLFacets.read(octets, self.plan.pointers, into: &collector) { return (.graphQL, collector) }
            case .json:
                guard self.mayBeJSON(octets) else { continue }
                let isJSON = octets.withUnsafeBytes {
                    JSONFacets.read($0, at: JSONFacets.root(self.plan.pointers), self.plan.pointers, into: &collector)
                }
                if isJSON { return (.json, collector) }
            case .form:
                guard octets.withUnsafeBytes({ UTF8Validator.isValid($0) }) else { continue }
                octets.withUnsafeBytes { FormFacets(self.plan).read($0, into: &collector) }
                return (.form, collector)
            case .text:
                if TextFacet(field: self.field).read(octets, into: &collector) { return (.text, collector) }
            }
        }
        var facet = OctetFacet(digest: self.digest(), keeping: self.plan.valueLimit)
        octets.withUnsafeBytes { facet.push($0) }
        return Self.octets(facet, self.plan)
    }

    /// A body that says nothing of itself, or calls itself a form, is JSON only as an object or array: `1` and `a` are text.
    private func mayBeJSON(_ octets: [UInt8]) -> Bool {
        if MediaType(self.field).kind == .json || self.plan.match == .json { return true }
        return octets.first == UInt8(ascii: "{") || octets.first == UInt8(ascii: "[")
    }
}

/// A text in one piece as a facet: its characters, whatever the charset, without a byte order mark.
struct TextFacet {
    private let label: String

    /// `field` is the value of Content-Type.
    init(field: ArraySlice<UInt8>?) {
        let parameter = field.flatMap { MIMEParameters($0)["charset"] }
        self.label = parameter.map { String(decoding: $0.value.prefix(64), as: UTF8.self).lowercased() } ?? ""
    }

    /// False, with nothing added, where the octets are no text.
    func read(_ octets: [UInt8], into collector: inout FacetCollector) -> Bool {
        guard let text = self.characters(octets) else { return false }
        let marked = text.withUnsafeBytes { MatchMark.replaced(in: $0) }
        (marked ?? text).withUnsafeBytes { text in
            collector.add(
                FacetHash.value(FacetHash.root, .text, text), .whole, name: [], value: text, type: Array("text".utf8),
                hasMarks: marked != nil)
        }
        return true
    }

    /// As UTF-8; nil where the octets are not of the charset.
    private func characters(_ octets: [UInt8]) -> [UInt8]? {
        let text: [UInt8]
        if octets.withUnsafeBytes({ UTF8Validator.isValid($0) }) {
            text = octets
        } else {
            let charsets = octets.withUnsafeBytes { Charset.candidates(label: self.label, beginning: $0) }
            guard let decoded = charsets.lazy.compactMap({ $0.decode(octets) }).first else { return nil }
            text = decoded
        }
        return text.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(text.dropFirst(3)) : text
    }
}
