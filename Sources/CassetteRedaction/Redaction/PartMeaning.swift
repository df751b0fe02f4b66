internal import CassetteModel

/// What the name of a part of multipart/form-data says about its data.
enum PartMeaning: Sendable, Hashable {
    /// All of it is one secret.
    case secret(kind: String, isSure: Bool)
    /// An exception names it.
    case kept
    /// Looked into, with these patterns.
    case content([RedactionRule])

    init(_ fields: HeaderFields, rules: RedactionRules) {
        guard let disposition = ContentDisposition(fields), let name = disposition.name else {
            self = .content([])
            return
        }
        if rules.keeps(part: name) {
            self = .kept
        } else if let kind = rules.kind(part: name) {
            self = .secret(kind: kind, isSure: true)
        } else if disposition.filename == nil, let meaning = SecretNames.meaning(of: Self.last(name).utf8), !meaning.needsCompany,
            !meaning.needsKeyShape
        {
            self = .secret(kind: meaning.kind, isSure: meaning.isSure)
        } else {
            self = .content(rules.rules.filter { $0.place == .part(name) && $0.pattern != nil })
        }
    }

    /// `password` of `user[password]`
    private static func last(_ name: String) -> Substring {
        guard name.hasSuffix("]"), let open = name.lastIndex(of: "[") else { return name[...] }
        return name[name.index(after: open)...].dropLast()
    }
}
