internal import CassetteFormat
public import CassetteModel
public import TapeBytes

/// Makes the facets of a live body as it comes in.
///
/// Removes content codings. A body whose codings cannot be removed, or that decodes to more than 64 MiB, is compared as it was sent. JSON,
/// forms and text are held in memory up to a limit; multipart parts are digested as they arrive.
public struct BodyFacetBuilder: ~Copyable {
    /// Recorded bodies have the same limits.
    static let limits = InflateLimits()

    private let plan: BodyPlan
    private let url: String
    /// For the content, if it is kept; nil otherwise.
    private let kept: (rules: MatchRules, headers: HeaderFields)?
    private let content: ContentFacets
    /// Nil if there are no codings.
    private let decoder: DecoderChain?
    /// Nil if the body is not in `aws-chunked`.
    private var chunks: AWSChunks?
    /// The bytes as sent, kept in case the decoder fails.
    private var wire: ByteFacet
    private var hasBytes = false
    /// Whether the decoder has received bytes.
    private var hasPayload = false
    private var hasFailed = false

    /// - Parameters:
    ///   - headers: the request's header fields, which declare the type and the codings.
    ///   - url: the request's URL, for GraphQL in the query.
    ///   - digest: makes a SHA-256.
    public init(
        rules: MatchRules, headers: HeaderFields, url: String, digest: @escaping () -> any ContentDigest = { PortableSHA256() }
    ) {
        self.plan = rules.body
        self.url = url
        self.kept = rules.body.keepsContent ? (rules, headers) : nil
        self.chunks = rules.looksAtBody ? AWSChunks(headers) : nil
        let headers = self.chunks == nil ? headers : AWSChunks.removed(from: headers)
        self.content = ContentFacets(rules.body, headers: headers, messages: rules.schema?.types(ofURL: url)?.request, digest: digest)
        if rules.looksAtBody, case .coded(let names) = ContentEncoding(headers) {
            self.decoder = DecoderChain(names, limits: Self.limits)
        } else {
            self.decoder = nil
        }
        self.wire = ByteFacet(digest: digest(), keeping: rules.body.valueLimit)
    }

    /// The next wire bytes, after transfer decoding.
    public mutating func push(_ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty else { return }
        self.hasBytes = true
        guard self.chunks != nil || self.decoder != nil else { return self.content.push(bytes) }
        self.wire.push(bytes)
        guard !self.hasFailed else { return }
        let (content, decoder) = (self.content, self.decoder)
        var takesMore = true
        func decode(_ bytes: UnsafeRawBufferPointer) {
            guard takesMore else { return }
            guard let decoder else { return content.push(bytes) }
            self.hasPayload = self.hasPayload || !bytes.isEmpty
            takesMore = (try? decoder.push(bytes) { content.push($0) }) == true
        }
        if self.chunks != nil { self.chunks?.push(bytes) { decode($0) } } else { decode(bytes) }
        self.hasFailed = !takesMore || self.chunks?.isValid == false
    }

    public consuming func finish() -> BodyFacets {
        let isCut = self.chunks?.isEnded == false
        guard self.hasBytes, self.hasFailed || isCut || (self.hasPayload && self.decoder?.finish() == false) else {
            var facets = BodyFacets.make(self.content.finish(), url: self.url, self.plan)
            if let kept = self.kept, let bytes = self.content.held {
                facets.content = HeldContent(bytes, headers: kept.headers, url: self.url, rules: kept.rules)
            }
            return facets
        }
        return BodyFacets.make(ContentFacets.bytes(self.wire, self.plan), url: self.url, self.plan)
    }
}

extension BodyFacets {
    /// Adds the facets of the URL if the request is GraphQL.
    static func make(_ content: (kind: Kind, facets: FacetCollector), url: String, _ plan: BodyPlan) -> BodyFacets {
        var facets = content.facets
        if plan.isGraphQL { GraphQLFacets.read(url: url, plan, into: &facets) }
        var made = facets.facets(content.kind)
        made.mayLack = plan.hasOptional
        return made
    }
}

/// Makes facets of a body's decoded content as it comes in. The rule and the type decide how the content is parsed.
///
/// Live and recorded bodies both pass through it, so that they are parsed the same way. A class, since decoders deliver bytes to it.
final class ContentFacets {
    private enum Attempt {
        case graphQL, json, xml, form, text, grpc, messagePack, cbor, http, amazonFrames, skel
        /// Several JSON texts; `isDeclared` is false if the content type does not declare them.
        case jsonLines(isDeclared: Bool)

        var isStructured: Bool { if case .text = self { false } else { true } }
    }

    private enum Mode {
        case nothing
        case bytes(ByteFacet)
        /// Held until the end, then read by the first of these attempts that fits.
        case memory([UInt8], [Attempt])
        case parts(MultipartFacets)
    }

    private let plan: BodyPlan
    private let field: ArraySlice<UInt8>?
    /// For a body of gRPC, gRPC-Web or Connect.
    private let messages: GRPCFacets?
    private let digest: () -> any ContentDigest
    private var mode: Mode
    private var isEmpty = true
    /// The content, if the plan keeps it; nil if there is none, or if it is too long.
    private(set) var held: [UInt8]?

    /// - Parameter messages: the type of a gRPC body's messages, if it is known.
    init(_ plan: BodyPlan, headers: HeaderFields, messages: ProtoType? = nil, digest: @escaping () -> any ContentDigest) {
        self.plan = plan
        self.field = headers.firstIndex(of: "content-type").map(headers.valueBytes)
        self.digest = digest
        let type = MediaType(self.field)
        self.messages = MessageFraming(headers).map { GRPCFacets(plan, $0, schema: messages, digest: digest) }
        switch plan.match {
        case nil: self.mode = .nothing
        case .bytes where !plan.isGraphQL: self.mode = .bytes(ByteFacet(digest: digest(), keeping: plan.valueLimit))
        case .byKind, .multipart, .bytes, .json, .xml, .form, .text:
            let parts = plan.match == .byKind || plan.match == .multipart
            if parts, type.isMultipart, let multipart = MultipartType(headers), let boundary = multipart.boundary {
                self.mode = .parts(MultipartFacets(boundary, isForm: multipart.isFormData, plan: plan, digest: digest))
            } else {
                let attempts = self.messages != nil && plan.match != .bytes ? [.grpc] : Self.attempts(plan, type)
                self.mode = attempts.isEmpty ? .bytes(ByteFacet(digest: digest(), keeping: plan.valueLimit)) : .memory([], attempts)
            }
        }
    }

    private static func attempts(_ plan: BodyPlan, _ type: MediaType) -> [Attempt] {
        // Whatever the rule, content that is not a single JSON text, form or text is compared by its own kind.
        if plan.match == .byKind || plan.match == .multipart {
            if type.declaresMessagePack { return [.messagePack] }
            if type.declaresCBOR { return [.cbor] }
            if type.essence == "application/http" { return [.http] }
            if type.isAmazonEventStream { return [.amazonFrames] }
            if type.essence == "application/vnd.svn-skel" { return [.skel] }
        }
        let isAnything = type.essence.isEmpty || type.essence == "*/*" || type.isForm || type.essence == "text/plain"
        let mayBeJSON = type.declaresJSON || isAnything
        var attempts: [Attempt] = plan.isGraphQL && mayBeJSON ? [.graphQL] : []
        switch plan.match {
        case .json: attempts += [.json, .jsonLines(isDeclared: false)]
        case .xml: attempts.append(.xml)
        case .form: attempts.append(.form)
        case .text: attempts.append(.text)
        case .bytes, nil: return attempts
        case .byKind, .multipart: break
        }
        // curl's `-d` declares any body as a form.
        if type.declaresJSONTexts {
            attempts.append(.jsonLines(isDeclared: true))
        } else if mayBeJSON {
            attempts += [.json, .jsonLines(isDeclared: false)]
        } else if type.kind == .text, !type.declaresXML {
            // Servers and clients declare JSON as a script or a page as well.
            attempts.append(.json)
        }
        if type.declaresXML || isAnything { attempts.append(.xml) }
        if type.isForm { attempts.append(.form) }
        if type.kind == .text || type.declaresJSON || type.declaresJSONTexts || type.essence.isEmpty { attempts.append(.text) }
        return attempts
    }

    /// The parts, if the body is multipart.
    var parts: MultipartFacets? { if case .parts(let parts) = self.mode { parts } else { nil } }

    /// Whether the digest of a body of this size replaces its bytes, so that they need not be read.
    func takesDigest(size: Int) -> Bool {
        switch self.mode {
        case .nothing, .bytes: true
        case .memory: size > BodyFacets.memoryLimit
        case .parts: false
        }
    }

    func take(sha256: [UInt8], size: Int) {
        self.isEmpty = size == 0
        guard case .nothing = self.mode else {
            var bytes = ByteFacet(digest: self.digest(), keeping: self.plan.valueLimit)
            bytes.take(sha256: sha256, size: size)
            self.mode = .bytes(bytes)
            return
        }
    }

    func push(_ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty else { return }
        if self.plan.keepsContent, self.isEmpty || self.held != nil {
            let size = (self.held?.count ?? 0) + bytes.count
            if size > BodyFacets.memoryLimit { self.held = nil } else { self.held = (self.held.take() ?? []) + bytes }
        }
        self.isEmpty = false
        switch self.mode {
        case .nothing: break
        case .parts(let parts): parts.push(bytes)
        case .bytes(var facet):
            self.mode = .nothing
            facet.push(bytes)
            self.mode = .bytes(facet)
        case .memory(var held, let attempts):
            self.mode = .nothing
            if held.count + bytes.count > BodyFacets.memoryLimit {
                var facet = ByteFacet(digest: self.digest(), keeping: self.plan.valueLimit)
                held.withUnsafeBytes { facet.push($0) }
                facet.push(bytes)
                self.mode = .bytes(facet)
            } else {
                held.append(contentsOf: bytes)
                self.mode = .memory(held, attempts)
            }
        }
    }

    func finish() -> (kind: BodyFacets.Kind, facets: FacetCollector) {
        guard !self.isEmpty else { return (.none, self.plan.collector) }
        switch self.mode {
        case .nothing: return (.none, self.plan.collector)
        case .bytes(let facet): return Self.bytes(facet, self.plan)
        case .memory(let bytes, let attempts): return self.read(bytes, attempts)
        case .parts(let parts): return Self.outcome(parts.finish(), self.plan)
        }
    }

    static func outcome(_ outcome: MultipartFacets.Outcome, _ plan: BodyPlan) -> (kind: BodyFacets.Kind, facets: FacetCollector) {
        switch outcome {
        case .parts(let collector): (.multipart, collector)
        case .bytes(let facet): self.bytes(facet, plan)
        }
    }

    static func bytes(_ facet: ByteFacet, _ plan: BodyPlan) -> (kind: BodyFacets.Kind, facets: FacetCollector) {
        var facet = facet
        var collector = plan.collector
        let digest = facet.finish()
        let hash = digest.withUnsafeBytes { FacetHash.value(FacetHash.root, .bytes, $0) }
        facet.beginning.withUnsafeBytes {
            collector.add(hash, .whole, name: [], value: $0, size: facet.size, hasMarks: facet.hasMarks)
        }
        return (.bytes, collector)
    }

    private func read(_ bytes: [UInt8], _ attempts: [Attempt]) -> (kind: BodyFacets.Kind, facets: FacetCollector) {
        if let read = self.read(bytes, attempts, self.plan.collector) { return read }
        var facet = ByteFacet(digest: self.digest(), keeping: self.plan.valueLimit)
        bytes.withUnsafeBytes { facet.push($0) }
        return Self.bytes(facet, self.plan)
    }

    /// Whether the content may be of a kind with its own facets.
    var mayBeStructured: Bool { if case .memory(_, let attempts) = self.mode { attempts.contains(where: \.isStructured) } else { false } }

    /// Whether the declared type has its own facets. Other content looks like JSON or XML only by chance.
    var declaresStructure: Bool {
        let type = MediaType(self.field)
        return type.declaresJSON || type.declaresJSONTexts || type.declaresXML || type.isForm || type.declaresMessagePack
            || type.declaresCBOR
            || type.essence == "application/http" || type.isAmazonEventStream || self.messages != nil
    }

    /// The facets of a whole content of a structured kind; nil if it is text or bytes.
    func structured(_ bytes: [UInt8], _ collector: FacetCollector) -> (kind: BodyFacets.Kind, facets: FacetCollector)? {
        guard case .memory(_, let attempts) = self.mode, !bytes.isEmpty, bytes.count <= BodyFacets.memoryLimit else { return nil }
        return self.read(bytes, attempts.filter(\.isStructured), collector)
    }

    /// Reads with the first attempt that fits; nil if none does.
    private func read(
        _ bytes: [UInt8], _ attempts: [Attempt], _ collector: FacetCollector
    ) -> (kind: BodyFacets.Kind, facets: FacetCollector)? {
        var collector = collector
        lazy var json = BodyCharacters(field: self.field).json(bytes)
        for attempt in attempts {
            switch attempt {
            case .graphQL:
                if GraphQLFacets.read(bytes, self.plan.pointers, into: &collector) { return (.graphQL, collector) }
            case .json:
                guard let text = json, self.mayBeJSON(text) else { continue }
                let isJSON = text.withUnsafeBytes {
                    JSONFacets.read($0, at: JSONFacets.root(self.plan.pointers), self.plan.pointers, into: &collector)
                }
                if isJSON { return (.json, collector) }
            case .jsonLines(let isDeclared):
                guard let text = json else { continue }
                let lines = JSONLineFacets(pointers: self.plan.pointers, isDeclared: isDeclared)
                if text.withUnsafeBytes({ lines.read($0, into: &collector) }) { return (.jsonLines, collector) }
            case .xml:
                guard self.mayBeXML(bytes), let text = BodyCharacters(field: self.field).xml(bytes) else { continue }
                if text.withUnsafeBytes({ XMLFacets.read($0, self.plan.xmlPointers, into: &collector) }) { return (.xml, collector) }
            case .form:
                guard bytes.withUnsafeBytes({ UTF8Validator.isValid($0) }) else { continue }
                bytes.withUnsafeBytes { FormFacets(self.plan, digest: self.digest).read($0, into: &collector) }
                return (.form, collector)
            case .grpc:
                if self.messages?.read(bytes, into: &collector) == true { return (.grpc, collector) }
            case .http:
                if HTTPFacets(self.plan, digest: self.digest).read(bytes, into: &collector) { return (.http, collector) }
            case .messagePack:
                let isRead = bytes.withUnsafeBytes { MessagePackFacets.read($0, self.plan.pointers, into: &collector) }
                if isRead { return (.messagePack, collector) }
            case .cbor:
                let isSequence = MediaType(self.field).declaresCBORSequence
                let isRead = bytes.withUnsafeBytes { CBORFacets.read($0, self.plan.pointers, isSequence: isSequence, into: &collector) }
                if isRead { return (.cbor, collector) }
            case .amazonFrames:
                let frames = AmazonFrameFacets(pointers: self.plan.pointers)
                if bytes.withUnsafeBytes({ frames.read($0, into: &collector) }) { return (.amazonFrames, collector) }
            case .skel:
                guard let text = SkelText.json(bytes) else { continue }
                let isRead = text.withUnsafeBytes {
                    JSONFacets.read($0, at: JSONFacets.root(self.plan.pointers), self.plan.pointers, into: &collector)
                }
                if isRead { return (.json, collector) }
            case .text:
                if TextFacet(field: self.field, rules: self.plan.text).read(bytes, into: &collector) { return (.text, collector) }
            }
        }
        return nil
    }

    /// A body without a type, or declared as a form or text, is JSON only if it is an object or array: `1` and `a` are text.
    private func mayBeJSON(_ text: [UInt8]) -> Bool {
        if MediaType(self.field).declaresJSON || self.plan.match == .json { return true }
        let first = text.first { $0 > 32 }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    }

    /// A body not declared as XML is XML only if it starts like XML.
    private func mayBeXML(_ bytes: [UInt8]) -> Bool {
        if MediaType(self.field).declaresXML || self.plan.match == .xml { return true }
        // Skips the NUL of UTF-16 and a byte order mark.
        let first = bytes.prefix(4).first { $0 != 0 && $0 != 0xEF && $0 != 0xBB && $0 != 0xBF && $0 != 0xFE && $0 != 0xFF }
        return first == UInt8(ascii: "<")
    }
}

/// How bodies are compared, derived from the rules once.
final class BodyPlan: Sendable {
    /// Nil if bodies are not compared.
    let match: BodyMatch?
    let isGraphQL: Bool
    let ordersParts: Bool
    let pointers: PointerSet
    let xmlPointers: PointerSet
    /// Pointers to fields in gRPC messages.
    let grpcPointers: PointerSet
    /// By the names of form fields.
    let fields: NamedRules
    /// By the names of header fields of messages in `application/http`, in lower case.
    let headers: NamedRules
    /// By the names of parts.
    let parts: NamedRules
    /// For filenames, by the names of their parts.
    let filenames: NamedRules
    /// For a whole text.
    let text: ValueRules
    /// Whether a value may be missing, so that bodies with different facets may be equal.
    let hasOptional: Bool
    /// How to compare the content of the parts and fields that rules name, by name.
    private let partPlans: [String: BodyPlan]
    private let fieldPlans: [String: BodyPlan]
    /// How to compare the content of all others; nil if their content is not parsed.
    private let contentPlan: BodyPlan?
    /// By the names of the query items of a GraphQL request, or of a message in `application/http`.
    let items: NamedRules
    /// Whether values are kept whole, so that they can be compared with marks in recorded values.
    let keepsWholeValues: Bool
    /// Whether the content of live bodies is kept, so that stubs can compare it in their own ways.
    let keepsContent: Bool

    init(
        rules: [MatchRule], ordersParts: Bool, _ places: PlaceRules, keepsWholeValues: Bool = false, keepsContent: Bool = false,
        depth: Int = 0
    ) {
        self.keepsContent = keepsContent
        let match = rules.compactMap { if case .body(let match) = $0 { match } else { nil } }.first
        self.isGraphQL = rules.contains(.graphQL)
        self.match = match ?? (self.isGraphQL ? .byKind : nil)
        self.ordersParts = ordersParts
        self.hasOptional = !places.optional.isEmpty
        // Whether a value is missing shows only if all facets are kept.
        let keepsWholeValues = keepsWholeValues || self.hasOptional
        self.keepsWholeValues = keepsWholeValues
        self.fields = places.named { if case .formField(let name) = $0 { name } else { nil } }
        self.items = places.named { if case .queryItem(let name) = $0 { name } else { nil } }
        self.headers = places.named { if case .header(let name) = $0 { name } else { nil } }
        self.parts = places.named { if case .part(let name) = $0 { name } else { nil } }
        self.filenames = places.named { if case .partFilename(let name) = $0 { name } else { nil } }
        self.text = depth == 0 ? places.only { $0 == .body } : ValueRules()
        var (partPlans, fieldPlans): ([String: BodyPlan], [String: BodyPlan]) = ([:], [:])
        if self.match == .bytes || self.match == .text || depth == BodyFacets.nestingLimit {
            self.contentPlan = nil
        } else {
            func plan(of container: MatchPlace?) -> BodyPlan {
                BodyPlan(
                    rules: [.body(.byKind)], ordersParts: ordersParts, places.inside(container), keepsWholeValues: keepsWholeValues,
                    depth: depth + 1)
            }
            self.contentPlan = plan(of: nil)
            for case .within(let container, _) in places.places {
                switch container {
                case .part(let name) where partPlans[name] == nil: partPlans[name] = plan(of: container)
                case .formField(let name) where fieldPlans[name] == nil: fieldPlans[name] = plan(of: container)
                case _: continue
                }
            }
        }
        self.partPlans = partPlans
        self.fieldPlans = fieldPlans
        self.pointers = PointerSet(places) { if case .json(let pointer) = $0 { pointer } else { nil } }
        self.xmlPointers = PointerSet(places) { if case .xml(let pointer) = $0 { pointer } else { nil } }
        self.grpcPointers = PointerSet(places) { if case .grpc(let pointer) = $0 { pointer } else { nil } }
    }

    /// How to compare the content of a part by its kind; nil if it is not.
    func plan(ofPart name: [UInt8], label: [UInt8]) -> BodyPlan? {
        guard !self.partPlans.isEmpty else { return self.contentPlan }
        return self.partPlans[String(decoding: label, as: UTF8.self)] ?? self.partPlans[String(decoding: name, as: UTF8.self)]
            ?? self.contentPlan
    }

    func plan(ofField name: [UInt8]) -> BodyPlan? {
        self.fieldPlans.isEmpty ? self.contentPlan : self.fieldPlans[String(decoding: name, as: UTF8.self)] ?? self.contentPlan
    }

    /// An empty collector with the limits of this plan.
    var collector: FacetCollector { FacetCollector(keepsWholeValues: self.keepsWholeValues) }

    /// How many bytes of a value are kept.
    var valueLimit: Int { self.keepsWholeValues ? BodyFacets.memoryLimit : BodyFacets.valueLimit }
}
