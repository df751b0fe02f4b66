internal import TapeBytes

/// The values of a JSON text as facets. White space, escapes, the order of members and the spelling of numbers are not compared.
///
/// Every value and container is a facet at its JSON Pointer. Duplicate members are distinguished by their order. Takes time linear in the
/// text, whatever its depth and names.
struct JSONFacets {
    /// The place of a value in the body and in the pointers of the rules.
    struct Base {
        var path = FacetHash.root
        var pointer: [UInt8] = []
        /// The rules' pointers that match so far.
        var rules: UInt64
        var depth = 0
    }

    private struct Container {
        var path: UInt64
        /// The length of the pointer to it, in bytes.
        var pointerEnd: Int
        var rules: UInt64
        var isObject: Bool
        /// Elements read so far.
        var index = 0
        /// Where its members begin in `memberPaths`.
        var memberStart: Int
        /// How often each member has occurred, in an object too large for a linear search.
        var counts: [UInt64: Int]?
    }

    private let pointers: PointerSet
    private var collector: FacetCollector
    private var containers: [Container] = []
    private var baseDepth = 0
    /// The place of the next value, after a member's name or in an array.
    private var next: Base
    /// Paths of the members of open containers: a name that occurs twice in an object gets an ordinal.
    private var memberPaths: [UInt64] = []
    /// Whether any name so far contained a placeholder.
    private var hasMarkedNames = false
    /// The number of open containers within an ignored value; 0 outside one.
    private var skipped = 0

    private init(_ pointers: PointerSet, _ base: Base, _ collector: FacetCollector) {
        self.collector = collector
        self.pointers = pointers
        self.next = base
        self.baseDepth = base.depth
    }

    static func root(_ pointers: PointerSet) -> Base { Base(rules: pointers.all) }

    /// The base of a member or element.
    static func base(_ name: [UInt8], in base: Base, _ pointers: PointerSet) -> Base {
        name.withUnsafeBytes { name in
            var pointer = base.pointer
            PlacePointer.append(name, to: &pointer)
            return Base(
                path: FacetHash.path(base.path, name), pointer: pointer,
                rules: pointers.descend(base.rules, depth: base.depth, name: name), depth: base.depth + 1)
        }
    }

    /// Adds the facets of a JSON text; false, with nothing added, if it is not JSON, not UTF-8 or nested too deeply.
    static func read(
        _ text: UnsafeRawBufferPointer, at base: Base, _ pointers: PointerSet, into collector: inout FacetCollector
    ) -> Bool {
        guard UTF8Validator.isValid(text) else { return false }
        var reader = JSONFacets(pointers, base, collector.empty)
        var tokenizer = JSONTokenizer(text)
        while let token = tokenizer.next() {
            if token.kind == .end {
                collector.add(reader.collector)
                return true
            }
            reader.take(token, text)
        }
        return false
    }

    private mutating func take(_ token: JSONToken, _ text: UnsafeRawBufferPointer) {
        if self.skipped > 0 {
            switch token.kind {
            case .beginObject, .beginArray: self.skipped += 1
            case .endObject, .endArray: self.skipped -= 1
            case .colon, .comma, .name, .string, .number, .yes, .no, .null, .end: break
            }
            return
        }
        switch token.kind {
        case .beginObject: self.begin(isObject: true)
        case .beginArray: self.begin(isObject: false)
        case .endObject, .endArray:
            if let container = self.containers.popLast() { self.memberPaths.removeLast(self.memberPaths.count - container.memberStart) }
        case .name: self.name(token, text)
        case .string, .number, .yes, .no, .null: self.scalar(token, text)
        case .colon, .comma, .end: break
        }
    }

    // MARK: Places

    /// Finds the place of an array's next element. The place of a member follows from its name instead.
    private mutating func enterElement() {
        guard let last = self.containers.indices.last, !self.containers[last].isObject else { return }
        let index = self.containers[last].index
        self.containers[last].index += 1
        withUnsafeTemporaryAllocation(byteCount: 20, alignment: 1) { digits in
            var start = 20
            var rest = index
            repeat {
                start -= 1
                digits[start] = 48 + UInt8(rest % 10)
                rest /= 10
            } while rest > 0
            self.enter(UnsafeRawBufferPointer(rebasing: digits[start...]), in: last, isMember: false)
        }
    }

    private mutating func name(_ token: JSONToken, _ text: UnsafeRawBufferPointer) {
        guard let last = self.containers.indices.last else { return }
        let inner = UnsafeRawBufferPointer(rebasing: text[token.start + 1..<token.end - 1])
        guard token.isEscaped, let decoded = JSONStringDecoder.decode(Array(inner)[...]) else {
            return self.enter(member: inner, in: last)
        }
        decoded.withUnsafeBytes { self.enter(member: $0, in: last) }
    }

    /// - Parameter name: decoded.
    private mutating func enter(member name: UnsafeRawBufferPointer, in container: Int) {
        guard let marked = MatchMark.replaced(in: name) else { return self.enter(name, in: container, isMember: true) }
        self.hasMarkedNames = true
        marked.withUnsafeBytes { self.enter($0, in: container, isMember: true) }
    }

    private mutating func enter(_ name: UnsafeRawBufferPointer, in container: Int, isMember: Bool) {
        let parent = self.containers[container].path
        var path = FacetHash.path(parent, name)
        if isMember {
            let ordinal = self.ordinal(of: path, in: container)
            if ordinal > 0 { path = FacetHash.path(parent, name, ordinal: ordinal) }
        }
        self.next.path = path
        self.next.pointer.removeLast(self.next.pointer.count - self.containers[container].pointerEnd)
        PlacePointer.append(name, to: &self.next.pointer)
        let rules = self.containers[container].rules
        self.next.rules = rules == 0 ? 0 : self.pointers.descend(rules, depth: self.depth - 1, name: name)
    }

    /// An object with up to this many members is searched linearly for one of the same name.
    private static let smallObject = 16

    /// How many members of the same name came before.
    private mutating func ordinal(of path: UInt64, in container: Int) -> Int {
        let before = self.memberPaths[self.containers[container].memberStart...]
        if self.containers[container].counts == nil {
            guard before.count >= Self.smallObject else {
                let ordinal = before.count { $0 == path }
                self.memberPaths.append(path)
                return ordinal
            }
            self.containers[container].counts = Dictionary(before.map { ($0, 1) }, uniquingKeysWith: +)
        }
        let ordinal = self.containers[container].counts?[path] ?? 0
        self.containers[container].counts?[path] = ordinal + 1
        return ordinal
    }

    private var depth: Int { self.baseDepth + self.containers.count }

    private mutating func exempt(_ raw: UnsafeRawBufferPointer) {
        let isGeneral = self.pointers.containsAny(self.next.rules, depth: self.depth)
        self.collector.exempt(self.next.pointer, raw, isGeneral: isGeneral)
    }

    // MARK: Values

    private mutating func begin(isObject: Bool) {
        self.enterElement()
        if case .ignored = self.pointers.verdict(self.next.rules, depth: self.depth) {
            self.skipped = 1
            return
        }
        let tag: FacetHash.Tag = isObject ? .object : .array
        let hash = FacetHash.value(self.next.path, tag, UnsafeRawBufferPointer(start: nil, count: 0))
        self.add(hash, value: isObject ? "{…}" : "[…]", type: isObject ? "object" : "array")
        self.containers.append(
            Container(
                path: self.next.path, pointerEnd: self.next.pointer.count, rules: self.next.rules, isObject: isObject,
                memberStart: self.memberPaths.count))
    }

    private mutating func add(_ hash: UInt64, value: String, type: String) {
        guard self.collector.isKeeping else {
            return self.collector.add(hash, .json, name: [], value: UnsafeRawBufferPointer(start: nil, count: 0))
        }
        Array(value.utf8).withUnsafeBytes {
            self.collector.add(
                hash, .json, name: self.next.pointer, value: $0, type: Array(type.utf8), hasMarks: self.isNameMarked)
        }
    }

    private var isNameMarked: Bool { self.hasMarkedNames && self.next.pointer.withUnsafeBytes { MatchMark.isIn($0) } }

    private mutating func scalar(_ token: JSONToken, _ text: UnsafeRawBufferPointer) {
        self.enterElement()
        let raw = UnsafeRawBufferPointer(rebasing: text[token.start..<token.end])
        var patterns: [NumberedPattern] = []
        switch self.pointers.verdict(self.next.rules, depth: self.depth) {
        case .compared: break
        case .ignored: return self.exempt(raw)
        case .patterns(let found):
            patterns = found
            self.exempt(raw)
        }
        switch token.kind {
        case .yes: self.add(.yes, raw, raw, patterns, type: "boolean")
        case .no: self.add(.no, raw, raw, patterns, type: "boolean")
        case .null: self.add(.null, raw, raw, patterns, type: "null")
        case .number:
            if let value = DecimalValue(raw) {
                value.bytes.withUnsafeBytes { self.add(.number, $0, raw, patterns, type: "number") }
            } else {
                self.add(.spelledNumber, raw, raw, patterns, type: "number")
            }
        case .string: self.string(UnsafeRawBufferPointer(rebasing: raw[1..<raw.count - 1]), isEscaped: token.isEscaped, patterns)
        case .beginObject, .endObject, .beginArray, .endArray, .colon, .comma, .name, .end: break
        }
    }

    private mutating func string(_ inner: UnsafeRawBufferPointer, isEscaped: Bool, _ patterns: [NumberedPattern]) {
        guard isEscaped else { return self.string(decoded: inner, .string, patterns) }
        guard let decoded = JSONStringDecoder.decode(Array(inner)[...]) else {
            // An unpaired surrogate, which UTF-8 cannot encode.
            return self.string(decoded: inner, .spelledString, patterns)
        }
        decoded.withUnsafeBytes { self.string(decoded: $0, .string, patterns) }
    }

    private mutating func string(decoded value: UnsafeRawBufferPointer, _ tag: FacetHash.Tag, _ patterns: [NumberedPattern]) {
        guard let marked = MatchMark.replaced(in: value) else { return self.add(tag, value, value, patterns, type: "string") }
        marked.withUnsafeBytes { self.add(tag, $0, $0, patterns, type: "string", hasMarks: true) }
    }

    private mutating func add(
        _ tag: FacetHash.Tag, _ value: UnsafeRawBufferPointer, _ shown: UnsafeRawBufferPointer, _ patterns: [NumberedPattern],
        type: StaticString, hasMarks: Bool = false
    ) {
        let hasMarks = hasMarks || self.isNameMarked
        var hash = FacetHash.value(self.next.path, tag, value)
        if !patterns.isEmpty, let substitute = NumberedPattern.substitute(for: shown, among: patterns) {
            hash = substitute.withUnsafeBytes { FacetHash.value(self.next.path, .pattern, $0) }
        }
        guard self.collector.isKeeping else {
            return self.collector.add(hash, .json, name: [], value: UnsafeRawBufferPointer(start: nil, count: 0), hasMarks: hasMarks)
        }
        self.collector.add(
            hash, .json, name: self.next.pointer, value: shown,
            type: Array(UnsafeBufferPointer(start: type.utf8Start, count: type.utf8CodeUnitCount)), hasMarks: hasMarks)
    }
}
