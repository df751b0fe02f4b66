internal import CassetteFormat
internal import CassetteModel
internal import TapeBytes

/// Removes the secrets from a Protocol Buffers message, field by field, and corrects the lengths.
///
/// Names from a schema are used like the names of JSON members. Values without names are recognised by their shape. Knows neither gRPC nor
/// codings.
struct ProtoRedaction {
    let text: TextRedaction
    /// How many placeholders were inserted.
    private(set) var count = 0

    /// How many fields are parsed to find out if a text is a message. A text rarely is, so this ends early.
    private static let trialFields = 1024
    /// The shortest value without a name that may contain a secret, in bytes.
    private static let shortest = NeedleIndex.lengthLimit

    /// The verdict of rules on the values in a message.
    private struct Place {
        /// Field numbers and names from the top; empty if no rule refers to places.
        var path: [(number: String, name: String?)] = []
        /// Set if a rule marks everything here as secrets of this kind.
        var kind: String?
        /// Whether an exception covers everything here.
        var isKept = false
    }

    private let hasPlaces: Bool

    init(text: TextRedaction) {
        self.text = text
        self.hasPlaces = text.rules.hasMessagePlaces
    }

    /// Nil if there is nothing to redact.
    mutating func redacted(_ message: ProtoMessage) -> ProtoMessage? { self.message(message, Place()) }

    private mutating func message(_ message: ProtoMessage, _ place: Place) -> ProtoMessage? {
        var redacted: ProtoMessage?
        let pair = PairOfFields(message)
        for (index, field) in message.fields.enumerated() {
            let here = self.hasPlaces ? self.place(of: field, in: place) : place
            var meaning = field.name.flatMap { SecretNames.meaning(ofMember: $0.utf8) }
            if meaning?.needsCompany == true, !Self.hasCompany(message) { meaning = nil }
            // One of several values under a name is a secret only if it looks like a key, as in JSON arrays.
            if meaning != nil, message.fields.contains(where: { $0.number == field.number && $0 != field }) {
                meaning?.needsKeyShape = true
            }
            if index == 1, let named = pair?.meaning { meaning = named }
            guard let value = self.value(field, meaning, isOfPair: index == 1 && pair != nil, here) else { continue }
            var changed = redacted ?? message
            changed.fields[index].value = value
            changed.fields[index].label = nil
            redacted = changed
        }
        return redacted
    }

    // MARK: Places

    private func place(of field: ProtoField, in outer: Place) -> Place {
        var place = outer
        place.path.append(("\(field.number)", field.name))
        for rule in self.text.rules.rules where place.kind == nil && rule.pattern == nil && Self.names(rule.place, place) {
            place.kind = rule.kind
        }
        place.isKept = place.isKept || self.text.rules.keep.contains { $0.place.map { Self.names($0, place) } ?? false }
        return place
    }

    private static func names(_ rule: RedactionPlace, _ place: Place) -> Bool {
        guard case .grpc(let segments) = rule, segments.count == place.path.count else { return false }
        return zip(segments, place.path).allSatisfy { segment, field in
            segment == "*" || segment == field.number || segment == field.name
                || field.name.map { segment == "\(field.number):\($0)" } ?? false
        }
    }

    /// Whether the message has another parameter of a token request.
    private static func hasCompany(_ message: ProtoMessage) -> Bool {
        message.fields.contains { field in
            field.name.map { ["granttype", "redirecturi", "codeverifier", "clientsecret"].contains($0.lowercased().filter { $0 != "_" }) }
                ?? false
        }
    }

    // MARK: Values

    /// Nil if there is nothing to redact.
    private mutating func value(_ field: ProtoField, _ meaning: SecretNames.Meaning?, isOfPair: Bool, _ place: Place) -> ProtoValue? {
        switch field.value {
        case .message(let inner): return self.message(inner, place).map { .message($0) }
        case .entry(let inner): return self.message(inner, place).map { .entry($0) }
        case .group(let inner): return self.message(inner, place).map { .group($0) }
        case .varint(let number):
            guard number != 0, self.hides(meaning, number, place) else { return nil }
            self.learn(number, meaning, place)
            return .varint(0)
        case .fixed32(let bits, let isFloat):
            guard bits != 0, self.hides(meaning, UInt64(bits), place) else { return nil }
            self.count += 1
            return .fixed32(0, isFloat: isFloat)
        case .fixed64(let bits, let isDouble):
            guard bits != 0, self.hides(meaning, UInt64(bits), place) else { return nil }
            self.count += 1
            return .fixed64(0, isDouble: isDouble)
        case .packed(let values):
            var changed = false
            let hidden = values.map { value -> ProtoValue in
                guard let new = self.value(ProtoField(field.number, value), meaning, isOfPair: false, place) else { return value }
                changed = true
                return new
            }
            return changed ? .packed(hidden) : nil
        case .text(let bytes):
            if field.name == nil, meaning == nil, place.kind == nil, let value = self.messageInText(bytes, place) { return value }
            return self.bytes(bytes, meaning, isOfPair: isOfPair, .plain, place).map { .text($0) }
        case .bytes(let bytes):
            return self.bytes(bytes, meaning, isOfPair: isOfPair, .field, place).map { .bytes($0) }
        }
    }

    private func hides(_ meaning: SecretNames.Meaning?, _ number: UInt64, _ place: Place) -> Bool {
        guard !place.isKept, !self.text.vault.renumbers else { return false }
        if let kind = place.kind { return !self.text.rules.keeps(kind: kind) }
        guard let meaning, !OrdinaryValue.isOrdinary(number: Int(clamping: number), kind: meaning.kind), !meaning.needsKeyShape,
            !self.text.rules.keeps(kind: meaning.kind)
        else { return false }
        return meaning.syntax == .value || meaning.syntax == .credentials
    }

    private mutating func learn(_ number: UInt64, _ meaning: SecretNames.Meaning?, _ place: Place) {
        self.count += 1
        guard let kind = place.kind ?? meaning?.kind else { return }
        _ = self.text.vault.placeholder(
            for: Array("\(number)".utf8), kind: kind, isSure: place.kind != nil || meaning?.isSure == true,
            isRuled: place.kind != nil, under: self.text.rules)
    }

    /// A message of one or several strings may look like text, with its tags and lengths as letters. If one of its strings contains a
    /// secret, the lengths have to be corrected. A text that is not a message after all keeps its meaning, except for these letters.
    private mutating func messageInText(_ bytes: [UInt8], _ place: Place) -> ProtoValue? {
        guard bytes.count >= Self.shortest else { return nil }
        var parser = ProtoParser(fields: Self.trialFields)
        guard let message = parser.parse(bytes), let redacted = self.message(message, place) else { return nil }
        return .message(redacted)
    }

    private mutating func bytes(
        _ value: [UInt8], _ meaning: SecretNames.Meaning?, isOfPair: Bool, _ kind: TextKind, _ place: Place
    ) -> [UInt8]? {
        guard !value.isEmpty else { return nil }
        if let secret = place.kind, !place.isKept, !self.text.rules.keeps(kind: secret) {
            guard !Placeholder.isAll(value) else { return nil }
            return self.replaced(value, secret)
        }
        if kind == .field, !place.isKept, value.count >= Self.shortest, !value.withUnsafeBytes(ReadableText.isReadable),
            let inner = value.withUnsafeBytes(NestedContent(text: self.text, depth: 1).redacted)
        {
            self.count += inner.count
            return inner.bytes
        }
        let edits = value.withUnsafeBytes { bytes -> EditList in
            if place.isKept { return self.text.edits(in: bytes, as: kind, kept: [0..<bytes.count]) }
            var findings = self.findings(in: bytes, meaning, isOfPair: isOfPair) + self.patterns(bytes, place)
            if kind == .plain { findings += ColumnSurvey.findings(in: bytes, budget: self.text.budget) }
            guard bytes.count >= Self.shortest || !findings.isEmpty || !self.text.rules.rules.isEmpty else { return EditList() }
            var text = self.text
            // Pieces of a stream, unlike strings, may cut a word.
            if kind == .field { text.borders = .both }
            return text.edits(in: bytes, as: kind, findings: findings)
        }
        guard !edits.isEmpty else { return nil }
        self.count += edits.count
        return edits.applied(to: value)
    }

    /// The placeholder for a value that a rule refers to.
    private mutating func replaced(_ value: [UInt8], _ kind: String) -> [UInt8] {
        self.count += 1
        return self.text.vault.placeholder(for: value, kind: kind, isSure: true, isRuled: true, under: self.text.rules).bytes
    }

    /// The secret indicated by a field's name.
    private func findings(in value: UnsafeRawBufferPointer, _ meaning: SecretNames.Meaning?, isOfPair: Bool) -> [Finding] {
        guard let meaning else { return [] }
        let range = 0..<value.count
        switch meaning.syntax {
        case .cookie, .setCookie: return CookieField.findings(in: value, range, isSet: meaning.syntax == .setCookie)
        case .credentials where isOfPair: return CredentialsField(value, range, kind: meaning.kind).findings
        case .value, .credentials:
            guard value.count <= NamedValue.limit else { return [] }
            return NamedValue.finding(in: value, range, meaning, .plain).map { [$0] } ?? []
        }
    }

    private func patterns(_ value: UnsafeRawBufferPointer, _ place: Place) -> [Finding] {
        guard self.hasPlaces else { return [] }
        return self.text.rules.rules.filter { $0.pattern != nil && Self.names($0.place, place) }.flatMap { $0.findings(in: value) }
    }
}

/// A message of two strings, the first of which names the second: an entry of a map, or a header field as services pass it on.
private struct PairOfFields {
    /// The meaning of the second string.
    let meaning: SecretNames.Meaning

    init?(_ message: ProtoMessage) {
        guard message.fields.count == 2, message.fields[0].number == 1, message.fields[1].number == 2,
            case .text(let key) = message.fields[0].value, key.count <= SecretNames.lengthLimit
        else { return nil }
        let names = message.fields.map { $0.name?.lowercased() }
        if let value = names[1], value != "value" || names[0] != "key" && names[0] != "name" { return nil }
        guard var meaning = SecretNames.meaning(ofHeader: key) ?? SecretNames.meaning(ofMember: key), !meaning.needsCompany else {
            return nil
        }
        if let cookie = SecretNames.meaning(ofMember: key), cookie.syntax != .value { meaning = cookie }
        // Without field names it may be any message, and its first string may be the name of a category.
        if names[1] == nil, meaning.syntax == .value { meaning.needsKeyShape = true }
        self.meaning = meaning
    }
}
