package import TapeBytes

extension RuleNode {
    /// A value of JSON.
    package init(_ value: JSONValue) {
        let content: Content =
            switch value.kind {
            case .null: .nothing
            case .true, .false, .number: .text(String(decoding: value.raw, as: UTF8.self))
            case .string: .text(value.string ?? "")
            case .array: .list(value.elements.map { RuleNode($0) })
            case .object:
                .members(value.members.map { Member(name: $0.name.string ?? "", line: $0.name.line, value: RuleNode($0.value)) })
            }
        self.init(line: value.line, content: content, isString: value.kind == .string)
    }
}
