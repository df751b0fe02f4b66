public import TapeBytes

extension RedactionRules {
    /// Rules as a cassette's head or a configuration has them: `{"rules": ["json:/user/name"], "keep": ["jwt"]}`.
    public init(_ value: JSONValue) throws(RedactionRuleError) {
        guard value.kind == .object else {
            throw RedactionRuleError("\"redaction\" is no object: write {\"rules\": [...], \"keep\": [...]}")
        }
        try self.init(rules: try Self.texts(value["rules"], of: "rules"), keep: try Self.texts(value["keep"], of: "keep"))
    }

    private static func texts(_ value: JSONValue?, of name: String) throws(RedactionRuleError) -> [String] {
        guard let value, value.kind != .null else { return [] }
        guard value.kind == .array else {
            throw RedactionRuleError("\"\(name)\" of \"redaction\" is no list: write [\"header:x-api-key\"]")
        }
        var texts: [String] = []
        for element in value.elements {
            guard let text = element.string else {
                throw RedactionRuleError("\"\(name)\" of \"redaction\" holds something other than text: write [\"header:x-api-key\"]")
            }
            texts.append(text)
        }
        return texts
    }

    /// Writes the object; of secrets known by value nothing.
    public func write(into writer: inout JSONWriter) {
        writer.beginObject(.inline)
        for (name, texts) in [("rules", self.rules.map(\.text)), ("keep", self.keep.map(\.text))] where !texts.isEmpty {
            writer.member(named: name)
            writer.beginArray(.inline)
            for text in texts {
                writer.element()
                writer.string(text)
            }
            writer.endArray()
        }
        writer.endObject()
    }
}
