internal import CassetteModel
internal import TapeBytes

/// The fields of `a=1&b=2` as facets, whatever their order and escapes (application/x-www-form-urlencoded; WHATWG URL, 5.1).
struct FormFacets {
    private let plan: BodyPlan
    private let digest: () -> any ContentDigest

    init(_ plan: BodyPlan, digest: @escaping () -> any ContentDigest) {
        self.plan = plan
        self.digest = digest
    }

    /// The type of a field without a name, for display.
    static let nameless = Array("nameless".utf8)

    func read(_ form: UnsafeRawBufferPointer, into collector: inout FacetCollector) {
        var start = 0
        while start < form.count {
            let end = ByteScan.index(of: UInt8(ascii: "&"), in: form, from: start)
            if end > start { self.field(UnsafeRawBufferPointer(rebasing: form[start..<end]), into: &collector) }
            start = end + 1
        }
    }

    private func field(_ field: UnsafeRawBufferPointer, into collector: inout FacetCollector) {
        let equals = ByteScan.index(of: UInt8(ascii: "="), in: field, from: 0)
        var name = Self.decoded(field[..<equals])
        var value = equals < field.count ? Self.decoded(field[(equals + 1)...]) : []
        let isNameless = equals == field.count
        let rules = self.plan.fields[name]
        let isIgnored = self.plan.fields.ignores(name)
        if isIgnored || rules != nil, !isNameless { collector.exempt(ExemptValue(formField: name, value: value)) }
        guard !isIgnored, !isNameless || !self.plan.fields.ignores([]) else { return }
        var sent = value
        var hasMarks = false
        var tag = FacetHash.Tag.field
        if isNameless, let rules = self.plan.fields[[]] {
            switch name.withUnsafeBytes({ rules.outcome(for: $0) }) {
            case .asIs: break
            case .rewritten(let rewritten): name = rewritten
            case .substitute(let substitute): (name, tag) = (substitute, .pattern)
            }
        }
        if let marked = name.withUnsafeBytes({ MatchMark.replaced(in: $0) }) { (name, hasMarks) = (marked, true) }
        if let marked = value.withUnsafeBytes({ MatchMark.replaced(in: $0) }) { (value, hasMarks) = (marked, true) }
        let path = name.withUnsafeBytes { FacetHash.path(FacetHash.root, $0) }
        let optional = rules?.isOptional == true ? [path] : []
        switch rules.map({ rules in value.withUnsafeBytes { rules.outcome(for: $0) } }) ?? .asIs {
        case .asIs: break
        case .rewritten(let rewritten): (value, sent) = (rewritten, rewritten)
        case .substitute(let substitute): (value, tag) = (substitute, .pattern)
        }
        if tag == .field, let content = self.content(of: name, sent, path, collector) {
            let hash = (Array(content.kind.rawValue.utf8) + content.facets.digest).withUnsafeBytes { FacetHash.value(path, .container, $0) }
            collector.add(content.facets, optional: optional)
            return value.withUnsafeBytes {
                collector.add(
                    hash, .formField, name: name, value: $0, hasMarks: hasMarks || content.facets.hasMarks, isContainer: true,
                    optional: optional)
            }
        }
        // Without `=` and with a digit, it is a value and not a word, as in `1732720000000`.
        let isValue = isNameless && name.contains { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
        value.withUnsafeBytes { value in
            collector.add(
                FacetHash.value(path, tag, value), .formField, name: name, value: value, type: isValue ? Self.nameless : [],
                hasMarks: hasMarks, optional: optional)
        }
    }

    /// The facets of a value that is JSON or XML, or that a rule reads; nil for any other.
    private func content(
        of name: [UInt8], _ value: [UInt8], _ path: UInt64, _ collector: FacetCollector
    ) -> (kind: BodyFacets.Kind, facets: FacetCollector)? {
        guard name.count <= BodyFacets.nameLimit, let plan = self.plan.plan(ofField: name) else { return nil }
        let label = Array("form:".utf8) + name
        var decoded = collector.within(path, label)
        if JSONFacets.readContent(of: value, plan.pointers, into: &decoded) { return (.text, decoded) }
        guard let first = value.first(where: { $0 > 32 }),
            first == UInt8(ascii: "{") || first == UInt8(ascii: "[") || first == UInt8(ascii: "<")
        else { return nil }
        return ContentFacets(plan, headers: HeaderFields(), digest: self.digest)
            .structured(value, collector.within(path, label + [UInt8(ascii: "|")]))
    }

    /// Removes the escapes of a name or value. A plus means a space; a percent sign without two hex digits is literal.
    static func decoded(_ text: some RandomAccessCollection<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var index = text.startIndex
        while index < text.endIndex {
            let byte = text[index]
            if byte == UInt8(ascii: "%"), text.distance(from: index, to: text.endIndex) > 2,
                let upper = Hex.value(text[text.index(index, offsetBy: 1)]), let lower = Hex.value(text[text.index(index, offsetBy: 2)])
            {
                bytes.append(upper << 4 | lower)
                index = text.index(index, offsetBy: 3)
                continue
            }
            bytes.append(byte == UInt8(ascii: "+") ? 32 : byte)
            index = text.index(after: index)
        }
        return bytes
    }
}
