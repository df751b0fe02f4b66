internal import TapeBytes

/// The strings in a JSON object or array under a secret's name: `"password": {"value": "X"}`, `"passwords": {"a": "X"}`.
///
/// Parses from the opening bracket on, seven levels deep. Does not judge values. An object that describes a member, as a schema does, has
/// none.
struct NestedValues {
    /// `{"data": [{"attributes": {"value": "X"}}]}` and `{"edges": [{"node": {"value": "X"}}]}` have four levels.
    private static let depthLimit = 7
    /// Below this depth, only strings with the name of a value count: lists of objects have many others.
    private static let namedDepth = 3
    /// The most strings in one value.
    private static let countLimit = 100

    /// The name is the innermost one; nil for an array element. `isHeld` means that an enclosing member has values under names of their
    /// own.
    private(set) var values: [(name: Range<Int>?, value: Range<Int>, isHeld: Bool)] = []
    /// Whether an object specifies the kind of the value, like the tokens of programs and languages.
    private(set) var hasType = false

    /// Nil if the value is a description, or exceeds the limits.
    init?(_ text: SurveyText, openAt open: Int) {
        var depth = 0
        var offset = open
        var names: [Range<Int>?] = []
        var isObject: [Bool] = []
        var count = 0
        // `"type": "string"` occurs in schemas, and also in Terraform outputs, which have a value as well.
        var hasWordType = false
        defer { if hasWordType { self.values.removeAll { $0.name.map { !Self.isWord(text.bytes[$0], in: Self.typedNames) } ?? true } } }
        while offset < text.bytes.count, count <= Self.countLimit {
            count += 1
            let byte = text.bytes[offset]
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                guard depth <= Self.depthLimit else { return nil }
                names.append(byte == UInt8(ascii: "[") ? names.last ?? nil : nil)
                isObject.append(byte == UInt8(ascii: "{"))
                offset += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                _ = names.popLast()
                _ = isObject.popLast()
                if depth <= 0 { return }
                offset += 1
            case UInt8(ascii: "\""):
                guard let close = text.endOfString(offset + 1) else { return nil }
                let string = offset + 1..<close
                let next = text.skipSpace(min(close + 1, text.bytes.count))
                if isObject.last == true, text.byte(next) == UInt8(ascii: ":") {
                    names[names.count - 1] = string
                    if Self.isWord(text.bytes[string], in: Self.descriptions) { return nil }
                    // In a schema, the description of elements; elsewhere, a list.
                    if Self.isWord(text.bytes[string], in: ["items"]), text.byte(text.skipSpace(next + 1)) != UInt8(ascii: "[") {
                        return nil
                    }
                    if Self.isWord(text.bytes[string], in: ["type", "kind"]) {
                        self.hasType = true
                        let value = text.skipSpace(next + 1)
                        if text.byte(value) == UInt8(ascii: "\""), let end = text.endOfString(value + 1),
                            NamedValue.isWord(text.bytes[value + 1..<end]), !Self.isWord(text.bytes[value + 1..<end], in: Self.schemes)
                        {
                            hasWordType = true
                        }
                    }
                    offset = next + 1
                } else {
                    let name = names.last ?? nil
                    let isDeep = depth > Self.namedDepth
                    guard !isDeep || name.map({ Self.isOfValue(text.bytes[$0]) }) == true else {
                        offset = close + 1
                        continue
                    }
                    let isHeld = names.dropLast().contains { $0.map { Self.isWord(text.bytes[$0], in: Self.holders) } ?? false }
                    self.values.append((name, string, isHeld))
                    offset = close + 1
                }
            default:
                offset += 1
                // Only the first byte of numbers and words is counted.
                while offset < text.bytes.count, !"{}[]\"".utf8.contains(text.bytes[offset]), offset - open < NamedValue.limit {
                    offset += 1
                }
            }
        }
        guard offset >= text.bytes.count, !text.hasMore else { return nil }
    }

    /// Whether a name indicates that the value is the secret itself, and not something about it.
    static func isOfValue(_ name: Slice<UnsafeRawBufferPointer>) -> Bool { self.isWord(name, in: self.names) }

    private static func isWord(_ name: Slice<UnsafeRawBufferPointer>, in words: Set<String>) -> Bool {
        name.count <= 20 && words.contains(String(decoding: name, as: UTF8.self).lowercased())
    }

    /// Whether a name indicates that the value describes the secret.
    static func isOfDescription(_ name: Slice<UnsafeRawBufferPointer>) -> Bool { self.isWord(name, in: self.metadata) }

    private static let metadata: Set<String> = [
        "name", "id", "type", "kind", "title", "label", "description", "status", "state", "version", "url", "href", "link", "path",
        "created",
        "changed", "changedby", "changed_by", "changedat", "createdby", "created_by", "reason", "action", "algorithm", "alg", "created_at",
        "createdat", "updated", "updated_at", "updatedat", "expires", "expires_at", "expiresat", "last_used_at", "date",
        "region", "account", "provider", "endpoint", "helper", "mode", "login", "role", "host", "issuer", "tenant", "domain", "project",
        "arn", "placeholder", "hint", "help", "tooltip", "policy", "format", "class", "icon", "autocomplete", "visibility", "scope",
        "owner", "email", "user", "username", "node_id", "uuid", "etag",
    ]

    private static let names: Set<String> = [
        "value", "val", "values", "plaintext", "plain", "cleartext", "clear", "text", "raw", "secret", "data", "current", "new", "old",
        "previous", "content", "#text", "$", "$t", "_", "__text", "_text", "_value", "$value", "@value", "s", "string", "stringvalue",
        "default",
        "primary", "secondary", "access", "refresh", "set", "confirm", "confirmation", "first", "second", "prod", "production", "test",
        "live", "actual", "input", "secrettext", "secretvalue", "tokenvalue", "keyvalue", "passwordvalue", "v", "base64", "encoded",
        "payload", "literal", "inline", "defaultvalue",
        // What readers of XML make of text and CDATA next to attributes.
        "$text", "cdata", "_cdata", "__cdata", "#cdata", "#cdata-section",
    ]

    /// The names of values next to the word for their type, as in outputs and parameters of templates.
    private static let typedNames: Set<String> = ["value", "default", "defaultvalue"]

    /// Types that are authentication schemes, and not those of a schema.
    private static let schemes: Set<String> = ["bearer", "basic"]

    /// Members that contain secrets by their names, as in Kubernetes and vaults.
    private static let holders: Set<String> = ["data", "stringdata", "values", "secrets", "entries", "items"]

    /// Members of JSON Schema, OpenAPI, and validation errors.
    private static let descriptions: Set<String> = [
        "$ref", "properties", "required", "minlength", "maxlength", "pattern", "writeonly", "readonly", "anyof", "oneof", "allof",
        "nullable",
        "errors", "error", "message", "messages", "validation", "constraints", "rules", "deprecated", "additionalproperties",
    ]
}
