internal import CassetteModel
internal import TapeBytes

/// The elements, attributes and characters of an XML document as facets. Two documents are equal if their Canonical XML 1.1 without
/// comments is, disregarding prefixes.
///
/// White space between elements is not compared if an element contains no other text, unless `xml:space` or XHTML preserves it. In a
/// document with a document type, white space and prefixes are compared, because its declarations are not evaluated. Takes time and memory
/// linear in the document.
struct XMLFacets {
    private struct Element {
        var path: UInt64
        /// The hash of its name, for the order of its parent's children.
        var name: UInt64
        /// The length of the pointer to it, in bytes.
        var pointerEnd: Int
        var rules: PointerReach
        var keepsSpace: Bool
        /// Where its characters begin in `text`, and its runs in `runs`.
        var textStart: Int
        var runStart: Int
        /// Compared elements and instructions read so far.
        var children = 0
        /// All elements and instructions read so far, compared or not.
        var seen = 0
        /// Whether it contains any element, compared or not.
        var hasElements = false
        var order = Hasher()
        /// How often each name has occurred among its children.
        var counts: [UInt64: Int] = [:]
        /// The names of its first children, for display.
        var shown: [UInt8] = []
    }

    /// Characters between two children.
    private struct Run {
        var start: Int
        /// How many compared children precede it.
        var gap: Int
        /// Its number in rules, from 1. Ignored children are counted, so that the number is the same with and without rules.
        var number: Int
    }

    /// Characters between two compared children, without those that rules ignore.
    private struct Characters {
        var gap: Int
        var number: Int
        var value: [UInt8]
        var verdict: PointerSet.Verdict
    }

    /// How many bytes of the children's names are shown.
    private static let shownLimit = 200
    private static let xhtml = Array("http://www.w3.org/1999/xhtml".utf8)
    private static let instance = Array("http://www.w3.org/2001/XMLSchema-instance".utf8)

    private let pointers: PointerSet
    private let bytes: UnsafeRawBufferPointer
    private var reader: XMLReader
    private var collector: FacetCollector
    private var open: [Element] = []
    private var pointer: [UInt8] = []
    private var text: [UInt8] = []
    private var runs: [Run] = []
    /// Hashes of the namespaces, by number, so that long names are hashed only once.
    private var namespaceHashes: [UInt64] = []
    private var topCount = 0
    /// The number of open elements within an ignored one; 0 outside one.
    private var skipped = 0

    private init(_ bytes: UnsafeRawBufferPointer, _ pointers: PointerSet, _ collector: FacetCollector) {
        self.bytes = bytes
        self.reader = XMLReader(bytes)
        self.pointers = pointers
        self.collector = collector
    }

    /// Adds the facets of a document in UTF-8; false, with nothing added, if it is not well-formed or is nested too deeply.
    static func read(_ document: UnsafeRawBufferPointer, _ pointers: PointerSet, into collector: inout FacetCollector) -> Bool {
        var facets = XMLFacets(document, pointers, collector.empty)
        while let token = facets.reader.next(&facets.text) {
            if case .endOfDocument = token {
                collector.add(facets.collector)
                return true
            }
            facets.take(token)
        }
        return false
    }

    private mutating func take(_ token: XMLReader.Token) {
        if self.skipped > 0 {
            switch token {
            case .start: self.skipped += 1
            case .end: self.skipped -= 1
            case .text(let count): self.text.removeLast(count)
            case .instruction, .documentType, .endOfDocument: break
            }
            return
        }
        switch token {
        case .start(let name, let attributes): self.begin(name, attributes)
        case .end: self.end()
        case .text(let count): self.characters(count)
        case .instruction(let target, let data): self.instruction(target, data)
        case .documentType(let range): self.documentType(range)
        case .endOfDocument: break
        }
    }

    // MARK: Names

    private mutating func hash(ofNamespace number: Int) -> UInt64 {
        while self.namespaceHashes.count <= number {
            let name = self.reader.namespaces.names[self.namespaceHashes.count]
            self.namespaceHashes.append(name.withUnsafeBytes { FacetHash.path(FacetHash.root, $0) })
        }
        return self.namespaceHashes[number]
    }

    private mutating func hash(of name: XMLName) -> UInt64 {
        let namespace = self.hash(ofNamespace: name.namespace)
        let local = FacetHash.path(namespace, self.slice(name.local))
        // A default attribute in a document type may rebind a prefix.
        return self.reader.hasDocumentType ? FacetHash.path(local, self.slice(name.prefix)) : local
    }

    private func slice(_ range: Range<Int>) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: self.bytes[range]) }

    /// The namespaces of the bound prefixes in a value, which may be a qualified name or contain some (`xsd:string`).
    private mutating func bindings(in value: [UInt8]) -> [UInt8] {
        guard value.contains(UInt8(ascii: ":")) else { return [] }
        var seen: Set<[UInt8]> = []
        var bound: [UInt8] = []
        var start = 0
        for (index, byte) in value.enumerated() {
            if byte == UInt8(ascii: ":") {
                let prefix = Array(value[start..<index])
                if !prefix.isEmpty, prefix != Array("xml".utf8), let number = self.reader.namespaces[prefix], seen.insert(prefix).inserted {
                    bound += Self.bytes(self.hash(ofNamespace: number))
                }
                start = index + 1
            } else if byte < 0x80, !FormSpelling.isAlphanumeric(byte), byte != UInt8(ascii: "_"), byte != UInt8(ascii: "-"),
                byte != UInt8(ascii: ".")
            {
                start = index + 1
            }
        }
        return bound
    }

    /// The value of `xsi:type` without its prefix, and the namespace it denotes (XML Schema 1.0, part 1, 2.6.1).
    private mutating func typeName(_ value: [UInt8]) -> (local: [UInt8], namespace: [UInt8])? {
        let word = value.split(separator: 32)
        guard word.count == 1, let name = word.first else { return nil }
        let colon = name.firstIndex(of: UInt8(ascii: ":"))
        guard let number = self.reader.namespaces[colon.map { Array(name[..<$0]) } ?? []] ?? (colon == nil ? 0 : nil) else { return nil }
        return (Array(colon.map { name[($0 + 1)...] } ?? name), Self.bytes(self.hash(ofNamespace: number)))
    }

    private static func bytes(_ hash: UInt64) -> [UInt8] { withUnsafeBytes(of: hash) { Array($0) } }

    // MARK: Elements

    private mutating func begin(_ name: XMLName, _ attributes: [XMLAttribute]) {
        let hash = self.hash(of: name)
        let local = self.slice(name.local)
        let ordinal = self.ordinal(of: local)
        let rules = self.descend(local, ordinal)
        if let last = self.open.indices.last {
            self.open[last].hasElements = true
            self.open[last].seen += 1
        }
        if case .ignored = self.pointers.verdict(rules, depth: self.open.count + 1) {
            self.skipped = 1
            return
        }
        let parent = self.open.last
        let path = withUnsafeBytes(of: hash) {
            FacetHash.path(parent?.path ?? FacetHash.root, $0, ordinal: parent == nil ? self.topCount : ordinal)
        }
        var element = Element(
            path: path, name: hash,
            pointerEnd: 0, rules: rules, keepsSpace: parent?.keepsSpace ?? self.reader.hasDocumentType, textStart: self.text.count,
            runStart: self.runs.count)
        if self.reader.namespaces.names[name.namespace] == Self.xhtml { element.keepsSpace = true }
        for attribute in attributes where attribute.name.namespace == 1 && self.slice(attribute.name.local).elementsEqual("space".utf8) {
            if attribute.value.elementsEqual("preserve".utf8) { element.keepsSpace = true }
            if attribute.value.elementsEqual("default".utf8), !self.reader.hasDocumentType { element.keepsSpace = false }
        }
        self.countChild(hash, shown: local)
        self.append(local, ordinal)
        element.pointerEnd = self.pointer.count
        self.open.append(element)
        for attribute in attributes { self.attribute(attribute) }
    }

    /// How many children of the same local name came before.
    private mutating func ordinal(of local: UnsafeRawBufferPointer) -> Int {
        guard let last = self.open.indices.last else { return 0 }
        let name = FacetHash.path(FacetHash.root, local)
        let count = self.open[last].counts[name, default: 0]
        self.open[last].counts[name] = count + 1
        return count
    }

    /// The rules that match a child: `name` matches every child of that name, `name[2]` the second one.
    private func descend(_ local: UnsafeRawBufferPointer, _ ordinal: Int) -> PointerReach {
        let rules = self.open.last?.rules ?? self.pointers.all
        guard !rules.isEmpty else { return .none }
        let numbered = Array(local) + "[\(ordinal + 1)]".utf8
        var found = self.pointers.descend(rules, depth: self.open.count, name: local)
        found.formUnion(numbered.withUnsafeBytes { self.pointers.descend(rules, depth: self.open.count, name: $0) })
        return found
    }

    private mutating func countChild(_ name: UInt64, shown: UnsafeRawBufferPointer, mark: StaticString = "") {
        guard let last = self.open.indices.last else {
            self.topCount += 1
            return
        }
        self.open[last].children += 1
        self.open[last].order.combine(name)
        guard self.open[last].shown.count < Self.shownLimit else { return }
        self.open[last].shown += Array("<\(mark)".utf8) + shown.prefix(Self.shownLimit) + Array("/>".utf8)
    }

    private mutating func append(_ name: UnsafeRawBufferPointer, _ ordinal: Int) {
        self.pointer.append(UInt8(ascii: "/"))
        self.pointer += name
        if ordinal > 0 { self.pointer += "[\(ordinal + 1)]".utf8 }
    }

    private mutating func attribute(_ attribute: XMLAttribute) {
        guard let element = self.open.last else { return }
        let local = self.slice(attribute.name.local)
        let name = [UInt8(ascii: "@")] + Array(local)
        // "*" matches any element, "@*" any attribute.
        let depth = self.open.count
        var rules = self.rules(of: element, name)
        rules.formUnion(self.rules(of: element, Array("@*".utf8)))
        let verdict = self.pointers.verdict(rules, depth: depth + 1)
        if case .ignored = verdict { return }
        let hash = self.hash(of: attribute.name)
        let path = withUnsafeBytes(of: hash) { FacetHash.path(element.path, $0, ordinal: -1) }
        let isType = self.reader.namespaces.names[attribute.name.namespace] == Self.instance && local.elementsEqual("type".utf8)
        self.pointer.append(UInt8(ascii: "/"))
        self.pointer += name
        if isType, let (type, namespace) = self.typeName(attribute.value) {
            self.add(path, .qualifiedName, type, verdict, type: "attribute", Self.bytes(hash) + namespace)
        } else {
            self.add(path, .attribute, attribute.value, verdict, type: "attribute", Self.bytes(hash) + self.bindings(in: attribute.value))
        }
        self.pointer.removeLast(self.pointer.count - element.pointerEnd)
    }

    private func rules(of element: Element, _ name: [UInt8]) -> PointerReach {
        guard !element.rules.isEmpty else { return .none }
        return name.withUnsafeBytes { self.pointers.descend(element.rules, depth: self.open.count, name: $0, takesAny: false) }
    }

    private mutating func end() {
        guard let element = self.open.popLast() else { return }
        let depth = self.open.count + 1
        var characters = self.characters(of: element, depth)
        let isSpace =
            element.hasElements && !element.keepsSpace
            && characters.allSatisfy { $0.value.allSatisfy { $0 == 32 || $0 == 10 || $0 == 9 } }
        if isSpace { characters = [] }
        let name = Self.bytes(element.name)
        if element.children == 0 {
            let value = characters.first?.value ?? []
            var verdict = self.pointers.verdict(element.rules, depth: depth)
            if case .compared = verdict { verdict = characters.first?.verdict ?? self.verdict(ofText: 1, in: element, depth) }
            self.add(element.path, .leaf, value, verdict, type: "element", name + self.bindings(in: value))
        } else {
            let order = UInt64(truncatingIfNeeded: element.order.finalize())
            let hash = withUnsafeBytes(of: order) { FacetHash.value(element.path, .element, $0) }
            self.collect(hash, element.shown, type: "children", name)
            for characters in characters { self.add(characters, of: element) }
        }
        self.text.removeLast(self.text.count - element.textStart)
        self.runs.removeLast(self.runs.count - element.runStart)
        self.pointer.removeLast(self.pointer.count - (self.open.last?.pointerEnd ?? 0))
    }

    /// The verdict of the rules on characters of an element, by their number among its runs: `text()`, or `text()[2]`.
    private func verdict(ofText number: Int, in element: Element, _ depth: Int) -> PointerSet.Verdict {
        guard !element.rules.isEmpty else { return .compared }
        var rules = PointerReach.none
        for name in ["text()", "text()[\(number)]"] {
            rules.formUnion(
                Array(name.utf8).withUnsafeBytes { self.pointers.descend(element.rules, depth: depth, name: $0, takesAny: false) })
        }
        return self.pointers.verdict(rules, depth: depth + 1)
    }

    private mutating func characters(_ count: Int) {
        guard count > 0, let element = self.open.last else { return }
        let number = element.seen + 1
        if self.runs.count > element.runStart, self.runs[self.runs.count - 1].number == number { return }
        self.runs.append(Run(start: self.text.count - count, gap: element.children, number: number))
    }

    private func characters(of element: Element, _ depth: Int) -> [Characters] {
        var characters: [Characters] = []
        for index in element.runStart..<self.runs.count {
            let run = self.runs[index]
            let verdict = self.verdict(ofText: run.number, in: element, depth)
            if case .ignored = verdict { continue }
            let end = index + 1 < self.runs.count ? self.runs[index + 1].start : self.text.count
            if let last = characters.indices.last, characters[last].gap == run.gap {
                characters[last].value += self.text[run.start..<end]
            } else {
                characters.append(
                    Characters(gap: run.gap, number: run.number, value: Array(self.text[run.start..<end]), verdict: verdict))
            }
        }
        return characters
    }

    private mutating func add(_ characters: Characters, of element: Element) {
        let path = Array("text()".utf8).withUnsafeBytes { FacetHash.path(element.path, $0, ordinal: characters.gap) }
        self.pointer += "/text()[\(characters.number)]".utf8
        self.add(path, .characters, characters.value, characters.verdict, type: "text", self.bindings(in: characters.value))
        self.pointer.removeLast(self.pointer.count - element.pointerEnd)
    }

    private mutating func instruction(_ target: Range<Int>, _ data: [UInt8]) {
        let name = FacetHash.path(1, self.slice(target))
        let place = self.open.last?.children ?? self.topCount
        let number = (self.open.last?.seen ?? self.topCount) + 1
        let path = withUnsafeBytes(of: name) { FacetHash.path(self.open.last?.path ?? FacetHash.root, $0, ordinal: -2 - place) }
        if let last = self.open.indices.last { self.open[last].seen += 1 }
        let verdict = self.verdict(ofInstruction: self.slice(target), number)
        if case .ignored = verdict { return }
        self.countChild(name, shown: self.slice(target), mark: "?")
        let end = self.pointer.count
        self.pointer += "/?".utf8
        self.pointer += self.slice(target)
        if number > 1 { self.pointer += "[\(number)]".utf8 }
        self.add(path, .instruction, data, verdict, type: "instruction", self.bindings(in: data))
        self.pointer.removeLast(self.pointer.count - end)
    }

    /// The verdict of the rules on an instruction, by its target and its number among the children of its element: `?p`, or `?p[2]`.
    private func verdict(ofInstruction target: UnsafeRawBufferPointer, _ number: Int) -> PointerSet.Verdict {
        let rules = self.open.last?.rules ?? self.pointers.all
        guard !rules.isEmpty else { return .compared }
        let depth = self.open.count
        var found = PointerReach.none
        let name = [UInt8(ascii: "?")] + Array(target)
        for name in [name, name + "[\(number)]".utf8] {
            found.formUnion(name.withUnsafeBytes { self.pointers.descend(rules, depth: depth, name: $0, takesAny: false) })
        }
        return self.pointers.verdict(found, depth: depth + 1)
    }

    private mutating func documentType(_ range: Range<Int>) {
        self.pointer += "!DOCTYPE".utf8
        self.add(FacetHash.root, .documentType, Array(self.bytes[range]), .compared, type: "doctype", [])
        self.pointer = []
    }

    // MARK: Facets

    /// - Parameter context: the namespaces that the value refers to. They are compared, but not shown.
    private mutating func add(
        _ path: UInt64, _ tag: FacetHash.Tag, _ value: [UInt8], _ verdict: PointerSet.Verdict, type: StaticString, _ context: [UInt8]
    ) {
        let marked = value.withUnsafeBytes { MatchMark.replaced(in: $0) }
        var shown = marked ?? value
        let place = context.withUnsafeBytes { FacetHash.path(path, $0) }
        var hash = shown.withUnsafeBytes { FacetHash.value(place, tag, $0) }
        if let rules = verdict.rules {
            switch shown.withUnsafeBytes({ rules.outcome(for: $0) }) {
            case .asIs: break
            case .rewritten(let rewritten):
                shown = rewritten
                hash = rewritten.withUnsafeBytes { FacetHash.value(place, tag, $0) }
            case .substitute(let substitute): hash = substitute.withUnsafeBytes { FacetHash.value(path, .pattern, $0) }
            }
        }
        self.collect(hash, shown, type: type, context, hasMarks: marked != nil)
    }

    private mutating func collect(_ hash: UInt64, _ shown: [UInt8], type: StaticString, _ context: [UInt8], hasMarks: Bool = false) {
        let isKeeping = self.collector.isKeeping
        let type = Array(UnsafeBufferPointer(start: type.utf8Start, count: type.utf8CodeUnitCount)) + [0] + context
        shown.withUnsafeBytes {
            self.collector.add(
                hash, .xml, name: isKeeping ? self.pointer : [], value: $0, type: isKeeping ? type : [], hasMarks: hasMarks)
        }
    }
}
