internal import CassetteRedaction
internal import TapeBytes

/// The values of a JSON text as facets. White space, escapes, the order of members and the spelling of numbers are not compared.
///
/// Every value and container is a facet at its JSON Pointer. Duplicate members are distinguished by their order. An element of an array
/// whose order does not count is one facet more, so that values of different elements are not mixed up. Takes time linear in the text,
/// whatever its depth and names; rules that go into strings take as much again for each time that they do.
struct JSONFacets {
    /// The place of a value in the body and in the pointers of the rules.
    struct Base {
        var path = FacetHash.root
        var pointer: [UInt8] = []
        /// The rules' pointers that match so far.
        var rules: PointerReach
        var depth = 0
        /// How many strings contain it.
        var level = 0
    }

    private struct Container {
        var path: UInt64
        /// The length of the pointer to it, in bytes.
        var pointerEnd: Int
        var rules: PointerReach
        var isObject: Bool
        /// Elements read so far.
        var index = 0
        /// Whether the order of its elements does not count.
        var isSorted = false
        /// Where it begins, if it is an element of such an array. Its facets are collected apart from all others.
        var elementStart: Int?
        /// Whether it may be missing.
        var isOptional = false
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
    /// The facets around the elements of sorted arrays that are open.
    private var outer: [FacetCollector] = []
    /// The open containers that may be missing, by their paths.
    private var optional: [UInt64] = []
    /// The conditions that elements meet, by where they begin.
    private var met: [Int: UInt64] = [:]

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
            PlacePath.append(name, to: &pointer)
            return Base(
                path: FacetHash.path(base.path, name), pointer: pointer,
                rules: pointers.descend(base.rules, depth: base.depth, name: name), depth: base.depth + 1, level: base.level)
        }
    }

    /// Adds the facets of a JSON text; false, with nothing added, if it is not JSON, not UTF-8 or nested too deeply.
    static func read(
        _ text: UnsafeRawBufferPointer, at base: Base, _ pointers: PointerSet, into collector: inout FacetCollector
    ) -> Bool {
        guard UTF8Validator.isValid(text) else { return false }
        var reader = JSONFacets(pointers, base, collector.empty)
        if !pointers.conditions.isEmpty { reader.met = ElementConditions(text, pointers.conditions).met }
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
        case .beginObject: self.begin(token, isObject: true)
        case .beginArray: self.begin(token, isObject: false)
        case .endObject, .endArray: self.end(token, text)
        case .name: self.name(token, text)
        case .string, .number, .yes, .no, .null: self.scalar(token, text)
        case .colon, .comma, .end: break
        }
    }

    // MARK: Places

    /// Finds the place of an array's next element. The place of a member follows from its name instead.
    private mutating func enterElement(at start: Int) {
        guard let last = self.containers.indices.last, !self.containers[last].isObject else { return }
        let index = self.containers[last].index
        self.containers[last].index += 1
        withUnsafeTemporaryAllocation(byteCount: 20, alignment: 1) { digits in
            var first = 20
            var rest = index
            repeat {
                first -= 1
                digits[first] = 48 + UInt8(rest % 10)
                rest /= 10
            } while rest > 0
            self.enter(UnsafeRawBufferPointer(rebasing: digits[first...]), in: last, elementStart: start)
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
        guard let marked = MatchMark.replaced(in: name) else { return self.enter(name, in: container) }
        self.hasMarkedNames = true
        marked.withUnsafeBytes { self.enter($0, in: container) }
    }

    /// - Parameter elementStart: where the element of an array begins; nil for a member.
    private mutating func enter(_ name: UnsafeRawBufferPointer, in container: Int, elementStart: Int? = nil) {
        // Taken one by one: a copy of the container would share the storage of its counts.
        let (parent, isSorted) = (self.containers[container].path, self.containers[container].isSorted)
        // Elements of a sorted array are found by what they contain.
        var path =
            isSorted
            ? FacetHash.path(parent, UnsafeRawBufferPointer(start: nil, count: 0), ordinal: Self.anyPosition)
            : FacetHash.path(parent, name)
        if elementStart == nil {
            let ordinal = self.ordinal(of: path, in: container)
            if ordinal > 0 { path = FacetHash.path(parent, name, ordinal: ordinal) }
        }
        self.next.path = path
        self.next.pointer.removeLast(self.next.pointer.count - self.containers[container].pointerEnd)
        if isSorted { self.next.pointer += "/*".utf8 } else { PlacePath.append(name, to: &self.next.pointer) }
        guard !self.containers[container].rules.isEmpty else {
            self.next.rules = .none
            return
        }
        let step = PointerSet.Step(
            name: name, isMember: elementStart == nil, conditions: elementStart.flatMap { self.met[$0] } ?? 0)
        self.next.rules = self.pointers.descend(self.containers[container].rules, depth: self.depth - 1, step)
    }

    /// Marks the path of an element whose position does not count.
    private static let anyPosition = -3

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
        // Scalars of a sorted array come in another order, so nothing tells which recorded value a live one stands for.
        guard !self.isInSorted else { return }
        let isGeneral = self.pointers.containsAny(self.next.rules, depth: self.depth)
        self.collector.exempt(self.next.pointer, raw, isGeneral: isGeneral)
    }

    // MARK: Values

    private mutating func begin(_ token: JSONToken, isObject: Bool) {
        if isObject, self.containers.isEmpty, let met = self.met[token.start] {
            self.next.rules = self.pointers.whole(self.next.rules, conditions: met)
        }
        self.enterElement(at: token.start)
        let verdict = self.pointers.verdict(self.next.rules, depth: self.depth)
        if case .ignored = verdict {
            self.skipped = 1
            return
        }
        let rules = verdict.rules
        var container = Container(
            path: self.next.path, pointerEnd: self.next.pointer.count, rules: self.next.rules, isObject: isObject,
            memberStart: self.memberPaths.count)
        container.isSorted = !isObject && rules?.isSorted == true
        // In an element that is found by what it contains, a missing value would make it another one.
        container.isOptional = rules?.isOptional == true && self.outer.isEmpty && !self.isInSorted
        if container.isOptional { self.optional.append(self.next.path) }
        if self.isInSorted {
            container.elementStart = token.start
            self.outer.append(self.collector)
            self.collector = self.collector.empty
        }
        let tag: FacetHash.Tag = isObject ? .object : .array
        let hash = FacetHash.value(self.next.path, tag, UnsafeRawBufferPointer(start: nil, count: 0))
        self.add(hash, value: isObject ? "{…}" : "[…]", type: isObject ? "object" : "array")
        self.containers.append(container)
    }

    /// Whether the value at hand is an element of an array whose order does not count.
    private var isInSorted: Bool { self.containers.last?.isSorted == true }

    private mutating func end(_ token: JSONToken, _ text: UnsafeRawBufferPointer) {
        guard let container = self.containers.popLast() else { return }
        self.memberPaths.removeLast(self.memberPaths.count - container.memberStart)
        if container.isOptional { self.optional.removeLast() }
        guard let start = container.elementStart, let outer = self.outer.popLast() else { return }
        var content = self.collector
        // Two requests have their elements in different orders, so a value is found by what is compared of its element.
        content.exempt = content.exempt.map { $0.inElement(container.pointerEnd, content.digest) }
        self.collector = outer
        self.collector.add(content, optional: self.optional)
        let hash = content.digest.withUnsafeBytes { FacetHash.value(container.path, .container, $0) }
        let pointer = Array(self.next.pointer.prefix(container.pointerEnd))
        let shown = UnsafeRawBufferPointer(rebasing: text[start..<token.end].prefix(Self.shownElement))
        self.collector.add(
            hash, .json, name: pointer, value: shown, size: token.end - start, type: Array("element".utf8), hasMarks: content.hasMarks,
            isContainer: true, optional: self.optional)
    }

    /// How many bytes of an element are shown if the other array has none like it.
    private static let shownElement = 200

    private mutating func add(_ hash: UInt64, value: String, type: String) {
        guard self.collector.isKeeping else {
            return self.collector.add(
                hash, .json, name: [], value: UnsafeRawBufferPointer(start: nil, count: 0), optional: self.optional)
        }
        Array(value.utf8).withUnsafeBytes {
            self.collector.add(
                hash, .json, name: self.next.pointer, value: $0, type: Array(type.utf8), hasMarks: self.isNameMarked,
                optional: self.optional)
        }
    }

    private var isNameMarked: Bool { self.hasMarkedNames && self.next.pointer.withUnsafeBytes { MatchMark.isIn($0) } }

    private mutating func scalar(_ token: JSONToken, _ text: UnsafeRawBufferPointer) {
        self.enterElement(at: token.start)
        let raw = UnsafeRawBufferPointer(rebasing: text[token.start..<token.end])
        let verdict = self.pointers.verdict(self.next.rules, depth: self.depth)
        if case .ignored = verdict { return self.exempt(raw) }
        let rules = verdict.rules ?? ValueRules()
        if !rules.patterns.isEmpty { self.exempt(raw) }
        let isOptional = rules.isOptional && self.outer.isEmpty && !self.isInSorted
        if isOptional { self.optional.append(self.next.path) }
        defer { if isOptional { self.optional.removeLast() } }
        switch token.kind {
        case .yes: self.add(.yes, raw, raw, rules.patterns, type: "boolean")
        case .no: self.add(.no, raw, raw, rules.patterns, type: "boolean")
        case .null: self.add(.null, raw, raw, rules.patterns, type: "null")
        case .number: self.number(raw, rules)
        case .string:
            self.string(UnsafeRawBufferPointer(rebasing: raw[1..<raw.count - 1]), isEscaped: token.isEscaped, rules, spelled: raw)
        case .beginObject, .endObject, .beginArray, .endArray, .colon, .comma, .name, .end: break
        }
    }

    private mutating func number(_ raw: UnsafeRawBufferPointer, _ rules: ValueRules) {
        if case .rewritten(let digits) = ValueRules(replacements: rules.replacements).outcome(for: raw) {
            self.exempt(raw)
            return digits.withUnsafeBytes { text in
                var tokenizer = JSONTokenizer(text)
                guard let token = tokenizer.next(), token.kind == .number, token.end == text.count else {
                    return self.add(.spelledNumber, text, text, rules.patterns, type: "number")
                }
                self.add(number: text, rules)
            }
        }
        self.add(number: raw, rules)
    }

    private mutating func add(number text: UnsafeRawBufferPointer, _ rules: ValueRules) {
        // A live secret has another number than the recorded one. In older cassettes it is 0.
        guard NumberPlaceholder.number(text) == nil else {
            return Array("0".utf8).withUnsafeBytes { self.add(.number, $0, text, rules.patterns, type: "number") }
        }
        guard let value = DecimalValue(text) else { return self.add(.spelledNumber, text, text, rules.patterns, type: "number") }
        value.bytes.withUnsafeBytes { self.add(.number, $0, text, rules.patterns, type: "number") }
    }

    /// - Parameter spelled: the string as it stands in the text, with its quotation marks.
    private mutating func string(
        _ inner: UnsafeRawBufferPointer, isEscaped: Bool, _ rules: ValueRules, spelled: UnsafeRawBufferPointer
    ) {
        guard isEscaped else { return self.string(decoded: inner, .string, rules, spelled: spelled) }
        guard let decoded = JSONStringDecoder.decode(Array(inner)[...]) else {
            // An unpaired surrogate, which UTF-8 cannot encode.
            return self.string(decoded: inner, .spelledString, rules, spelled: spelled)
        }
        decoded.withUnsafeBytes { self.string(decoded: $0, .string, rules, spelled: spelled) }
    }

    private mutating func string(
        decoded value: UnsafeRawBufferPointer, _ tag: FacetHash.Tag, _ rules: ValueRules, spelled: UnsafeRawBufferPointer?
    ) {
        let marked = MatchMark.replaced(in: value)
        var rewritten: [UInt8]?
        if !rules.replacements.isEmpty {
            let rewriting = ValueRules(replacements: rules.replacements)
            rewritten = marked.map { rewriting.compared($0) } ?? rewriting.compared(Array(value))
            if rewritten != nil, let spelled { self.exempt(spelled) }
        }
        // Text that is read further still has its placeholders, which are marked where they stand.
        if !self.next.rules.isEmpty, self.readContent(of: rewritten ?? Array(value)) { return }
        guard let shown = rewritten ?? marked else { return self.add(tag, value, value, rules.patterns, type: "string") }
        shown.withUnsafeBytes { self.add(tag, $0, $0, rules.patterns, type: "string", hasMarks: marked != nil) }
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
            return self.collector.add(
                hash, .json, name: [], value: UnsafeRawBufferPointer(start: nil, count: 0), hasMarks: hasMarks, optional: self.optional)
        }
        self.collector.add(
            hash, .json, name: self.next.pointer, value: shown,
            type: Array(UnsafeBufferPointer(start: type.utf8Start, count: type.utf8CodeUnitCount)), hasMarks: hasMarks,
            optional: self.optional)
    }

    // MARK: Content of strings

    /// Adds the facets of what a text contains, if rules name values in it; false, with nothing added, if they do not, or if it is not what
    /// they read.
    static func readContent(of text: [UInt8], _ pointers: PointerSet, into collector: inout FacetCollector) -> Bool {
        let root = self.root(pointers)
        guard !pointers.contents(root.rules).isEmpty else { return false }
        var reader = JSONFacets(pointers, root, collector.empty)
        guard reader.readContent(of: text) else { return false }
        collector.add(reader.collector)
        return true
    }

    /// Reads the string at hand in the first way that rules name and that fits.
    private mutating func readContent(of value: [UInt8]) -> Bool {
        guard self.next.level < PlacePath.contentLimit else { return false }
        for (content, rules) in self.pointers.contents(self.next.rules) {
            guard let text = StringContent.text(of: value, as: content) else { continue }
            let mark = Array("|\(content.rawValue)".utf8)
            var base = Base(
                path: mark.withUnsafeBytes { FacetHash.path(self.next.path, $0) },
                pointer: self.next.pointer + mark + (content == .base64 ? [] : [UInt8(ascii: ":")]), rules: rules, depth: self.depth,
                level: self.next.level + 1)
            switch text {
            case .json(let json):
                var inner = self.collector.empty
                guard json.withUnsafeBytes({ JSONFacets.read($0, at: base, self.pointers, into: &inner) }) else { continue }
                self.collector.add(inner, optional: self.optional)
                // The string itself: it never equals the object that it contains.
                let hash = mark.withUnsafeBytes { FacetHash.value(self.next.path, .string, $0) }
                self.add(hash, value: "\"…\"", type: "content")
            case .bytes(let bytes):
                swap(&self.next, &base)
                let verdict = self.pointers.verdict(self.next.rules, depth: self.depth)
                if case .ignored = verdict {
                } else {
                    bytes.withUnsafeBytes { self.string(decoded: $0, .string, verdict.rules ?? ValueRules(), spelled: nil) }
                }
                swap(&self.next, &base)
            }
            return true
        }
        return false
    }
}

/// What a string contains, as a rule reads it.
enum StringContent {
    /// JSON, made up for what is not.
    case json([UInt8])
    /// UTF-8.
    case bytes([UInt8])

    /// Nil if the string does not contain that.
    static func text(of string: [UInt8], as content: PlacePath.Content) -> StringContent? {
        switch content {
        case .json:
            let first = string.first { $0 > 32 }
            // A number or word would equal other spellings of the same value.
            return first == UInt8(ascii: "{") || first == UInt8(ascii: "[") ? .json(string) : nil
        case .jwt: return self.token(string).map { .json($0) }
        case .form: return self.form(string).map { .json($0) }
        case .base64:
            guard !string.isEmpty, let bytes = self.decoded(string), bytes.withUnsafeBytes({ UTF8Validator.isValid($0) }) else {
                return nil
            }
            return .bytes(bytes)
        }
    }

    /// `{"header": …, "payload": …, "signature": "…"}` of a JWS in compact form (RFC 7515, 3.1).
    private static func token(_ string: [UInt8]) -> [UInt8]? {
        let parts = string.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = self.decoded(Array(parts[0])), let payload = self.decoded(Array(parts[1])),
            header.first == UInt8(ascii: "{"), payload.first == UInt8(ascii: "{"), (try? JSONDocument(header)) != nil,
            (try? JSONDocument(payload)) != nil
        else { return nil }
        var writer = JSONWriter()
        Array(parts[2]).withUnsafeBytes { writer.string(utf8: $0) }
        return Array("{\"header\":".utf8) + header + Array(",\"payload\":".utf8) + payload + Array(",\"signature\":".utf8) + writer.bytes
            + Array("}".utf8)
    }

    /// An object with a string for each field of `a=1&b=2`.
    private static func form(_ string: [UInt8]) -> [UInt8]? {
        guard string.contains(UInt8(ascii: "=")), !string.contains(where: { $0 <= 32 }) else { return nil }
        var json: [UInt8] = Array("{".utf8)
        for (number, field) in string.split(separator: UInt8(ascii: "&")).enumerated() {
            let name = FormFacets.decoded(field.prefix { $0 != UInt8(ascii: "=") })
            let value = FormFacets.decoded(field.drop { $0 != UInt8(ascii: "=") }.dropFirst())
            guard (name + value).withUnsafeBytes({ UTF8Validator.isValid($0) }) else { return nil }
            if number > 0 { json.append(UInt8(ascii: ",")) }
            for (text, end) in [(name, ":"), (value, "")] {
                var writer = JSONWriter()
                text.withUnsafeBytes { writer.string(utf8: $0) }
                json += writer.bytes + Array(end.utf8)
            }
        }
        return json + Array("}".utf8)
    }

    /// Base64 in either alphabet, with or without padding.
    private static func decoded(_ text: [UInt8]) -> [UInt8]? {
        var standard = text.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "+") : $0 == UInt8(ascii: "_") ? UInt8(ascii: "/") : $0 }
        while standard.count % 4 != 0 { standard.append(UInt8(ascii: "=")) }
        return Base64.decode(standard)
    }
}
