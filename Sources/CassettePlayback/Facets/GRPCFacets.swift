internal import CassetteFormat
internal import CassetteModel
internal import TapeBytes

/// The messages of a body of gRPC, gRPC-Web or Connect as facets, each by its fields. Fields of different numbers may come in any order; those of one number must
/// keep theirs.
///
/// A compressed message is compared by its decompressed content. Map entries and packed numbers are recognised only with a schema.
struct GRPCFacets {
    /// A longer message is compared byte by byte, like a longer body.
    private static let limits = InflateLimits(output: BodyFacets.memoryLimit)

    private let plan: BodyPlan
    private let framing: MessageFraming
    private let coding: ContentEncoding.Name?
    private let schema: ProtoType?
    private let digest: () -> any ContentDigest

    /// - Parameter schema: the type of the messages.
    init(
        _ plan: BodyPlan, _ framing: MessageFraming, schema: ProtoType?, digest: @escaping () -> any ContentDigest
    ) {
        self.plan = plan
        self.framing = framing
        self.coding = framing.coding.flatMap(ContentEncoding.Name.init(rawValue:)).flatMap { $0.isSupported ? $0 : nil }
        self.schema = schema
        self.digest = digest
    }

    /// False, with nothing added, if the bytes are not a sequence of messages.
    func read(_ body: [UInt8], into collector: inout FacetCollector) -> Bool {
        var found = collector.empty
        var offset = 0
        var number = 1
        while offset < body.count {
            guard body.count - offset >= GRPCMessage.prefixSize, self.framing.takes(body[offset]) else { return false }
            let length = body[offset + 1..<offset + 5].reduce(0) { $0 << 8 | Int($1) }
            let start = offset + GRPCMessage.prefixSize
            guard length <= body.count - start else { return false }
            self.message(Array(body[start..<start + length]), isCompressed: body[offset] & 1 != 0, number: number, into: &found)
            offset = start + length
            number += 1
        }
        collector.add(found)
        return true
    }

    /// - Parameters:
    ///   - payload: as on the wire, without its prefix.
    ///   - number: the message's number, from 1.
    func message(_ payload: [UInt8], isCompressed: Bool, number: Int, into collector: inout FacetCollector) {
        guard isCompressed else { return self.message(payload, number: number, into: &collector) }
        guard let coding = self.coding, let content = self.inflated(payload, coding) else {
            return self.bytes(payload, .undecoded, number: number, into: &collector)
        }
        self.message(content, number: number, into: &collector)
    }

    private func inflated(_ payload: [UInt8], _ coding: ContentEncoding.Name) -> [UInt8]? {
        guard let chain = DecoderChain([coding], limits: Self.limits) else { return nil }
        var content: [UInt8] = []
        let takesMore = payload.withUnsafeBytes { bytes in (try? chain.push(bytes) { content.append(contentsOf: $0) }) ?? false }
        guard takesMore || !content.isEmpty, chain.finish() else { return nil }
        return content
    }

    /// A message after its coding was removed.
    func message(_ content: [UInt8], number: Int, into collector: inout FacetCollector) {
        let path = Self.path(FacetHash.root, number)
        // An empty message counts too.
        collector.add(
            FacetHash.value(path, .message, Self.nothing), .grpc, name: Self.name(number, []), value: Self.nothing,
            type: Self.messageType)
        guard self.plan.match != .bytes else { return self.bytes(content, .bytes, number: number, into: &collector) }
        switch self.framing.type {
        case .proto:
            var parser = ProtoParser(fields: BodyFacets.wholeFacetLimit)
            if let message = parser.parse(content, as: self.schema) {
                var reader = ProtoFacets(self.plan.grpcPointers, number: number, collector.empty)
                reader.read(message, path: path, pointer: [], rules: self.plan.grpcPointers.all, depth: 0)
                return collector.add(reader.collector)
            }
        case .json:
            let base = JSONFacets.Base(path: path, rules: self.plan.pointers.all)
            if content.withUnsafeBytes({ JSONFacets.read($0, at: base, self.plan.pointers, into: &collector) }) { return }
        case .other: break
        }
        self.bytes(content, .bytes, number: number, into: &collector)
    }

    private func bytes(_ bytes: [UInt8], _ tag: FacetHash.Tag, number: Int, into collector: inout FacetCollector) {
        var facet = ByteFacet(digest: self.digest(), keeping: self.plan.valueLimit)
        bytes.withUnsafeBytes { facet.push($0) }
        let hash = facet.finish().withUnsafeBytes { FacetHash.value(Self.path(FacetHash.root, number), tag, $0) }
        facet.beginning.withUnsafeBytes {
            collector.add(
                hash, .grpc, name: Self.name(number, []), value: $0, size: facet.size, type: Array("bytes".utf8), hasMarks: facet.hasMarks)
        }
    }

    /// Shared by the facets of all messages.
    private static let messageType = Array("message".utf8)

    private static var nothing: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }

    static func path(_ parent: UInt64, _ number: Int, ordinal: Int = 0) -> UInt64 {
        withUnsafeBytes(of: number) { FacetHash.path(parent, $0, ordinal: ordinal) }
    }

    /// The message's number and the pointer within it. Both are needed to find the counterpart of a facet.
    static func name(_ number: Int, _ pointer: [UInt8]) -> [UInt8] { Array("\(number)".utf8) + pointer }
}

/// The fields of one message as facets.
private struct ProtoFacets {
    private let pointers: PointerSet
    private let number: Int
    private(set) var collector: FacetCollector

    init(_ pointers: PointerSet, number: Int, _ collector: FacetCollector) {
        self.pointers = pointers
        self.number = number
        self.collector = collector
    }

    /// The place of one field.
    private struct Place {
        var path: UInt64
        var pointer: [UInt8]
        var rules: PointerReach
        var depth: Int
    }

    mutating func read(_ message: ProtoMessage, path: UInt64, pointer: [UInt8], rules: PointerReach, depth: Int) {
        var ordinals: [Int: Int] = [:]
        for field in message.fields {
            var place = Place(path: 0, pointer: pointer, rules: self.descend(rules, depth, field), depth: depth + 1)
            PlacePath.append((field.name.map { "\(field.number):\($0)" } ?? "\(field.number)").utf8, to: &place.pointer)
            let values = if case .packed(let values) = field.value { values } else { [field.value] }
            for value in values {
                // The encoder chooses whether numbers are packed.
                let ordinal = ordinals[field.number, default: 0]
                if case .entry(let entry) = value {
                    place.path = Self.path(path, field.number, of: entry)
                } else {
                    place.path = GRPCFacets.path(path, field.number, ordinal: ordinal)
                    ordinals[field.number] = ordinal + 1
                }
                self.value(value, place)
            }
        }
    }

    /// Entries of a map may come in any order, so each is placed by its key.
    private static func path(_ parent: UInt64, _ number: Int, of entry: ProtoMessage) -> UInt64 {
        let key = ProtoMessage(fields: entry.fields.filter { $0.number == 1 }).bytes
        return key.withUnsafeBytes { FacetHash.path(GRPCFacets.path(parent, number), $0) }
    }

    /// A rule names a field by its number, or by its name.
    private func descend(_ rules: PointerReach, _ depth: Int, _ field: ProtoField) -> PointerReach {
        guard !rules.isEmpty else { return .none }
        let digits = Array("\(field.number)".utf8)
        var found = digits.withUnsafeBytes { self.pointers.descend(rules, depth: depth, name: $0) }
        guard let name = field.name else { return found }
        found.formUnion(Array(name.utf8).withUnsafeBytes { self.pointers.descend(rules, depth: depth, name: $0) })
        return found
    }

    private mutating func value(_ value: ProtoValue, _ place: Place) {
        let verdict = self.pointers.verdict(place.rules, depth: place.depth)
        if case .ignored = verdict { return }
        let rules = verdict.rules ?? ValueRules()
        switch value {
        case .varint(let number):
            let signed = Int64(bitPattern: number)
            self.add(.number, Array("\(signed)".utf8), "number", place, rules)
        case .fixed32(let bits, let isFloat):
            let float = Float(bitPattern: bits)
            let text = isFloat && !float.isNaN ? "\(float)" : Hex.encode(Self.bytes(UInt64(bits), 4))
            self.add(.fixed32, Array(text.utf8), "number", place, rules, exact: Self.bytes(UInt64(bits), 4))
        case .fixed64(let bits, let isDouble):
            let double = Double(bitPattern: bits)
            let text = isDouble && !double.isNaN ? "\(double)" : Hex.encode(Self.bytes(bits, 8))
            self.add(.fixed64, Array(text.utf8), "number", place, rules, exact: Self.bytes(bits, 8))
        case .text(let text): self.add(.text, text, "string", place, rules)
        case .bytes(let bytes): self.add(.bytes, bytes, "bytes", place, rules)
        case .message(let message), .entry(let message), .group(let message):
            let tag: FacetHash.Tag = if case .group = value { .group } else { .message }
            self.add(tag, [], "message", place, ValueRules())
            self.read(message, path: place.path, pointer: place.pointer, rules: place.rules, depth: place.depth)
        case .packed: break
        }
    }

    private static func bytes(_ value: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * (count - 1 - $0))) }
    }

    /// - Parameter exact: the value to compare, if it is not the one shown.
    private mutating func add(
        _ tag: FacetHash.Tag, _ value: [UInt8], _ type: StaticString, _ place: Place, _ rules: ValueRules, exact: [UInt8]? = nil
    ) {
        let marked = exact == nil ? value.withUnsafeBytes { MatchMark.replaced(in: $0) } : nil
        var shown = marked ?? value
        var hash = (exact ?? shown).withUnsafeBytes { FacetHash.value(place.path, tag, $0) }
        switch shown.withUnsafeBytes({ rules.outcome(for: $0) }) {
        case .asIs: break
        case .rewritten(let rewritten):
            shown = rewritten
            hash = rewritten.withUnsafeBytes { FacetHash.value(place.path, tag, $0) }
        case .substitute(let substitute): hash = substitute.withUnsafeBytes { FacetHash.value(place.path, .pattern, $0) }
        }
        shown.withUnsafeBytes {
            self.collector.add(
                hash, .grpc, name: self.collector.isKeeping ? GRPCFacets.name(self.number, place.pointer) : [], value: $0,
                type: Array(UnsafeBufferPointer(start: type.utf8Start, count: type.utf8CodeUnitCount)), hasMarks: marked != nil)
        }
    }
}
