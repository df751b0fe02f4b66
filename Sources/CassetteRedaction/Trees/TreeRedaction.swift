internal import CassetteFormat
internal import CassetteModel
internal import TapeBytes

/// Removes the secrets from the strings and numbers in a tree of values in a binary format: MessagePack, CBOR, BSON, UBJSON, Smile or a
/// property list.
///
/// Decides by name and shape, as for JSON members. Knows no format: readers ask it about each value and write its answer.
struct TreeRedaction {
    let text: TextRedaction
    let format: Format
    /// How many contents enclose the tree.
    let depth: Int
    private let hasPlaces: Bool
    /// How many placeholders were inserted.
    private(set) var count = 0

    /// How deeply arrays and maps may be nested. JSON parsers have similar limits.
    static let depthLimit = 64

    /// What the names above a value indicate about it.
    struct Place {
        /// The meaning of the value's name, or of the name of the array that contains it.
        fileprivate var meaning: SecretNames.Meaning?
        /// Whether the value is in a map under a secret's name.
        fileprivate var isNested = false
        fileprivate var isElement = false
        /// The way to the value, if rules or exceptions refer to any place in JSON.
        fileprivate var path: [Step] = []
        /// The kind of a rule that covers the value.
        fileprivate var ruledKind: String?
        /// Whether an exception covers the value.
        fileprivate var isKept = false

        static let top = Place()
        /// For a name, which rules never refer to.
        static let name = Place()
    }

    /// A member or element on the way to a value.
    fileprivate struct Step {
        var name: String
        var isMember: Bool
    }

    init(text: TextRedaction, format: Format, depth: Int = 0) {
        self.text = text
        self.format = format
        self.depth = depth
        self.hasPlaces = text.rules.hasJSONPlaces
    }

    /// Nil for bytes in an unknown format, and if there is nothing to redact.
    static func edits(in content: UnsafeRawBufferPointer, type: MediaType, text: TextRedaction) -> [Edit]? {
        guard let format = Format(content, type) else { return nil }
        var redaction = TreeRedaction(text: text, format: format)
        // Values are treated one by one. Text that spans several is searched like any other bytes.
        guard let edits = redaction.edits(in: content) else {
            if redaction.hasPlaces, Format.isDeclared(type) { text.vault.noteUnreadPlaces() }
            return nil
        }
        return edits.isEmpty ? nil : edits
    }

    /// The edits of a tree whose media type is that of a text; nil if the bytes, to their end, are not one value.
    static func editsOfWhole(_ content: UnsafeRawBufferPointer, text: TextRedaction) -> [Edit]? {
        guard let format = Format(content, MediaType(nil)) else { return nil }
        if format == .messagePack {
            // A few bytes of any kind are consecutive numbers.
            var trial = TreeRedaction(text: text, format: format)
            var tree = MessagePackTree(content)
            guard tree.value(at: 0, .top, depth: 0, &trial) == content.count else { return nil }
        }
        var redaction = TreeRedaction(text: text, format: format)
        return redaction.edits(in: content)
    }

    /// Nil for bytes that are not in the format.
    mutating func edits(in content: UnsafeRawBufferPointer) -> [Edit]? {
        switch self.format {
        case .messagePack: MessagePackTree(content).edits(&self)
        case .cbor: CBORTree(content, isSequence: false).edits(&self)
        case .cborSequence: CBORTree(content, isSequence: true).edits(&self)
        case .ubjson: UBJSONTree(content).edits(&self)
        case .smile: SmileTree(content)?.edits(&self)
        case .bson: BSONTree(content).edits(&self)
        case .propertyList: PropertyListTree(content)?.edits(&self)
        }
    }

    enum Format: Sendable, Hashable {
        case messagePack, cbor, cborSequence, bson, propertyList, ubjson, smile

        /// - Parameter outer: the format of the tree whose value is this content. Byte strings in CBOR may contain CBOR, starting with any
        ///   kind of value; extensions of MessagePack may contain an array or a map.
        init?(_ content: UnsafeRawBufferPointer, _ type: MediaType, within outer: Format? = nil) {
            guard content.count > 5 else { return nil }
            if outer == .cbor || outer == .cborSequence, content[0] >= 0x80, content[0] < 0xE0 {
                self = .cbor
            } else if outer == .messagePack, content[0] & 0xE0 == 0x80 || content[0] & 0xFC == 0xDC {
                self = .messagePack
            } else if content.starts(with: "bplist0".utf8) {
                self = .propertyList
            } else if type.essence.contains("ubjson") || type.kind == .unknown && UBJSONTree.mayBegin(content) {
                self = .ubjson
            } else if content.starts(with: SmileTree.header) {
                self = .smile
            } else if type.essence.contains("msgpack") || type.essence.contains("messagepack") {
                self = .messagePack
            } else if type.declaresCBORSequence {
                self = .cborSequence
            } else if Self.isCBOR(type.essence) {
                self = .cbor
            } else if type.essence.hasSuffix("bson") || type.kind == .unknown && BSONTree.mayBegin(content) {
                self = .bson
            } else if type.kind == .unknown, content[0] & 0xF0 == 0x80 || content[0] == 0xDE || content[0] == 0xDF {
                self = .messagePack
            } else if type.kind == .unknown, content[0] & 0xE0 == 0xA0 || content.starts(with: [0xD9, 0xD9, 0xF7]) {
                self = .cbor
            } else {
                return nil
            }
        }

        /// Whether a media type is that of a tree.
        static func isDeclared(_ type: MediaType) -> Bool {
            ["ubjson", "smile", "msgpack", "messagepack", "bson"].contains { type.essence.contains($0) } || Self.isCBOR(type.essence)
                || type.declaresCBORSequence
        }

        /// CBOR (RFC 8949), and messages of COSE and related formats (RFC 9052; RFC 8392).
        private static func isCBOR(_ essence: String) -> Bool {
            essence.hasSuffix("cbor") || essence.hasSuffix("cose") || essence == "application/cwt"
        }
    }

    // MARK: Names

    /// The place of the value of a member.
    func place(named name: Slice<UnsafeRawBufferPointer>, in outer: Place) -> Place {
        var place = Place()
        if let own = Self.meaning(name) {
            place.meaning = own
        } else if let meaning = outer.meaning, meaning.isPlural || NestedValues.isOfValue(name) {
            (place.meaning, place.isNested) = (meaning, true)
        }
        self.rule(&place, in: outer) { Step(name: String(decoding: name, as: UTF8.self), isMember: true) }
        return place
    }

    private static func meaning(_ name: Slice<UnsafeRawBufferPointer>) -> SecretNames.Meaning? {
        guard name.count <= SecretNames.lengthLimit,
            let meaning = SecretNames.meaning(ofMember: name) ?? SecretNames.meaning(ofVariable: name)
                ?? SecretNames.meaning(ofCompound: name), !meaning.needsCompany
        else { return nil }
        return meaning
    }

    /// The place of the value of a member whose name is a number, or neither a number nor a string.
    func unnamed(_ digits: String? = nil, in outer: Place) -> Place {
        var place = Place()
        // Only the pointer segment `*` matches such a name.
        self.rule(&place, in: outer) { Step(name: digits ?? "\u{0}", isMember: true) }
        return place
    }

    func element(_ index: Int, of outer: Place) -> Place {
        var place = outer
        place.isElement = true
        self.rule(&place, in: outer) { Step(name: String(index), isMember: false) }
        return place
    }

    /// The place of an element that follows a string, which is its name if the elements are a name and its value, or names and values by
    /// turns.
    func element(_ index: Int, of outer: Place, after name: Slice<UnsafeRawBufferPointer>?) -> Place {
        var place = self.element(index, of: outer)
        if outer.meaning == nil, let name, let meaning = Self.meaning(name), meaning.syntax == .value { place.meaning = meaning }
        return place
    }

    /// The place of one of several consecutive values. In a sequence, each is found at its number, like lines of JSON.
    func value(_ index: Int, isOnly: Bool) -> Place {
        var place = Place()
        if isOnly { self.rule(&place) } else { self.rule(&place, in: .top) { Step(name: String(index), isMember: false) } }
        return place
    }

    private func rule(_ place: inout Place, in outer: Place, step: () -> Step) {
        guard self.hasPlaces else { return }
        place.path = outer.path + [step()]
        (place.ruledKind, place.isKept) = (outer.ruledKind, outer.isKept)
        self.rule(&place)
    }

    private func rule(_ place: inout Place) {
        guard self.hasPlaces else { return }
        let rules = self.text.rules
        place.isKept =
            place.isKept || rules.keep.contains { $0.place.map { Self.names($0, place.path, ifUnknown: false) } ?? false }
        place.ruledKind =
            place.ruledKind
            ?? rules.rules.first { $0.pattern == nil && Self.names($0.place, place.path, ifUnknown: true) }?.kind
    }

    /// - Parameter ifUnknown: whether an element meets a condition. A tree is read once, and the members of an element come after its
    ///   beginning, so a rule applies to every element and an exception to none.
    private static func names(_ place: RedactionPlace, _ path: [Step], ifUnknown: Bool) -> Bool {
        if case .jsonPath(let reaching) = place {
            let states = path.reduce(reaching.start) { states, step in
                reaching.next(states, name: Array(step.name.utf8), isMember: step.isMember) { _ in ifUnknown }
            }
            return reaching.isEnd(states)
        }
        guard case .json(let segments) = place, segments.count == path.count else { return false }
        return zip(segments, path).allSatisfy { $0 == "*" || $0 == $1.name }
    }

    // MARK: Values

    /// The replacement for the bytes of a string; nil if there is nothing to redact.
    mutating func string(_ value: UnsafeRawBufferPointer, _ place: Place) -> [UInt8]? {
        guard !value.isEmpty else { return nil }
        let edits = self.text.edits(
            in: value, as: .plain, findings: self.findings(value, place),
            kept: place.isKept ? [0..<value.count] : [],
            depth: self.depth)
        guard !edits.isEmpty else { return nil }
        self.count += edits.count
        return edits.applied(to: value)
    }

    /// The same for bytes.
    mutating func bytes(_ value: UnsafeRawBufferPointer, _ place: Place) -> [UInt8]? {
        guard !value.isEmpty else { return nil }
        let isReadable = ReadableText.isReadable(value)
        if !isReadable, !place.isKept, place.ruledKind == nil,
            let inner = NestedContent(text: self.text, depth: self.depth + 1, outer: self.format).redacted(value)
        {
            self.count += inner.count
            return inner.bytes
        }
        // Base64 in a text may change its length, as in a string.
        let kind: TextKind = isReadable ? .plain : .field
        let edits = self.text.edits(
            in: value, as: kind, findings: self.findings(value, place),
            kept: place.isKept ? [0..<value.count] : [],
            depth: self.depth)
        guard !edits.isEmpty else { return nil }
        self.count += edits.count
        return edits.applied(to: value)
    }

    /// Whether a number is replaced by 0, as in JSON.
    mutating func hidesNumber(_ place: Place, _ number: Int) -> Bool {
        guard !place.isKept, !self.text.vault.renumbers else { return false }
        if place.ruledKind != nil, number != 0 {
            self.count += 1
            return true
        }
        guard !place.isNested, let meaning = place.meaning, !meaning.needsKeyShape, !meaning.isEveryday, !place.isElement,
            !meaning.isCompound || meaning.kind == "password",
            !OrdinaryValue.isOrdinary(number: number, kind: meaning.kind),
            meaning.syntax == .value || meaning.syntax == .credentials, !self.text.rules.keeps(kind: meaning.kind)
        else { return false }
        self.count += 1
        return true
    }

    private func findings(_ value: UnsafeRawBufferPointer, _ place: Place) -> [Finding] {
        if let kind = place.ruledKind, !Placeholder.isAll(value) {
            return [
                Finding(
                    kind: kind, range: 0..<value.count, secret: Array(value), spelling: .plain, isRuled: true)
            ]
        }
        guard self.hasPlaces else { return self.named(value, place) }
        let patterns = self.text.rules.rules.filter {
            $0.pattern != nil && Self.names($0.place, place.path, ifUnknown: true)
        }
        return patterns.flatMap { $0.findings(in: value) } + self.named(value, place)
    }

    private func named(_ value: UnsafeRawBufferPointer, _ place: Place) -> [Finding] {
        guard var meaning = place.meaning, value.count <= NamedValue.limit else { return [] }
        switch meaning.syntax {
        case .cookie, .setCookie:
            guard CookieField.mayBe(value, 0..<value.count) else { return [] }
            return CookieField.findings(in: value, 0..<value.count, isSet: meaning.syntax == .setCookie)
        case .value, .credentials: break
        }
        if place.isNested || place.isElement {
            guard NamedValue.mayBeSecret(value[...]) else { return [] }
            let isPassword = meaning.kind == "password" || meaning.kind == "secret"
            if meaning.isPlural || !isPassword || place.isElement {
                guard isPassword ? NamedValue.looksLikePassword(value) : NamedValue.looksLikeToken(value) else { return [] }
            }
            (meaning.isPlural, meaning.needsKeyShape) = (false, false)
        }
        return NamedValue.finding(in: value, 0..<value.count, meaning, .plain).map { [$0] } ?? []
    }
}
