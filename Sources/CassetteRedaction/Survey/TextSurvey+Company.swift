internal import CassetteModel
internal import TapeBytes

// Members of JSON whose values are secrets because of the members next to them.
extension TextSurvey {
    private static let secret = SecretNames.Meaning(kind: "secret")
    private static let key = SecretNames.Meaning(kind: "secret", needsKeyShape: true)

    /// Handles the member with this name. Returns whether the name has no other meaning.
    mutating func company(_ start: Int, _ end: Int, colon: Int) -> Bool {
        switch end - start {
        case 3 where self.text.isWord("kty", endingAt: end): self.webKey(start)
        case 5 where self.text.isWord("value", endingAt: end): self.markedValue(start)
        case 4 where self.text.isWord("data", endingAt: end): self.data(start, colon)
        case 4 where self.text.isWord("keys", endingAt: end): self.listedKeys(self.text.skipSpace(colon + 1))
        case 7 where self.text.isWord("columns", endingAt: end): self.rows(start, columnsAt: self.text.skipSpace(colon + 1))
        case 10 where self.text.isWord("primarykey", endingAt: end), 12 where self.text.isWord("secondarykey", endingAt: end):
            guard let object = self.object(around: start), object.has("primaryKey"), object.has("secondaryKey") else { return true }
            _ = self.member(start, colon, Self.key)
        case 14 where self.text.isWord("ciphertextblob", endingAt: end),
            19 where self.text.isWord("encryptionalgorithm", endingAt: end):
            // Keys and decrypted data of a key management service (AWS KMS, "GenerateDataKey" and "Decrypt").
            if let value = self.object(around: start)?["plaintext"] { self.add(value, Self.secret, self.codedSpelling(value)) }
        case 12 where self.text.isWord("secretbinary", endingAt: end):
            let open = self.text.skipSpace(colon + 1)
            guard self.text.byte(open) == UInt8(ascii: "\""), let close = self.text.endOfString(open + 1) else { return false }
            self.add(open + 1..<close, Self.secret, self.codedSpelling(open + 1..<close))
        default: return false
        }
        return true
    }

    mutating func object(around offset: Int) -> DirectMembers? {
        guard let open = DirectMembers.opening(before: offset, in: self.text) else {
            self.work += min(offset, DirectMembers.lengthLimit)
            return nil
        }
        self.work += offset - open
        let object = DirectMembers(self.text, openAt: open)
        self.work += object.end - open
        return object
    }

    /// The spelling of a value that is bytes in base64 by its definition, so that a client can decode the placeholder as well.
    func codedSpelling(_ range: Range<Int>) -> Finding.Spelling {
        let isCoded =
            range.count % 4 == 0 && !range.isEmpty
            && self.bytes[range].allSatisfy { Base64.value($0) != nil || $0 == UInt8(ascii: "=") }
            && Base64.decode(Array(self.bytes[range])) != nil
        return isCoded ? .base64 : .json
    }

    // MARK: Marked values

    /// Members that mark the `value` next to them with `true`, as variables of pipelines have.
    private static let flags: [StaticString] = ["masked", "secured", "encrypted"]
    /// Types whose values are secrets: AWS Systems Manager, Cloudflare, Vercel.
    private static let types: [StaticString] = ["securestring", "secret_text", "encrypted"]

    /// Handles a `value` next to `"Type": "SecureString"` or `"masked": true`.
    private mutating func markedValue(_ start: Int) {
        guard self.hasMarkings, let object = self.object(around: start), let value = object["value"], !NamedValue.isWord(self.bytes[value])
        else { return }
        let isOfType = ["type", "valuetype", "variable_type", "kind"].contains { name in
            object[name].map { type in
                Self.types.contains { type.count == $0.utf8CodeUnitCount && self.text.isWord($0, endingAt: type.upperBound) }
            } ?? false
        }
        let isFlagged = object.others.contains { name in
            let flag = self.text.skipSpace(self.text.skipSpace(name.upperBound + 1) + 1)
            return Self.flags.contains { name.count == $0.utf8CodeUnitCount && self.text.isWord($0, endingAt: name.upperBound) }
                && self.text.isWord("true", endingAt: flag + 4)
        }
        // Azure Key Vault, "Get Secret".
        let isOfVault =
            object["id"].map { id in
                let id = UnsafeRawBufferPointer(rebasing: self.bytes[id])
                return id.starts(with: "https://".utf8) && ByteSearch.contains(".vault.azure.net/secrets/", in: id)
            } ?? false
        if isOfType || isFlagged || isOfVault { self.add(value, Self.secret, .json) }
    }

    /// Handles `data` of secrets: `{"name": "projects/…/secrets/…", "payload": {"data": "…"}}` (Google Secret Manager, "Access") and
    /// `{"data": {"data": {…}, "metadata": {"version": 1}}}` (HashiCorp Vault, KV version 2).
    private mutating func data(_ start: Int, _ colon: Int) {
        guard self.hasMarkings, let open = DirectMembers.opening(before: start - 1, in: self.text) else { return }
        let value = self.text.skipSpace(colon + 1)
        if self.text.byte(value) == UInt8(ascii: "\""), self.text.keyOfMember(valueAt: open, ["payload"]) != nil {
            guard let name = self.object(around: open)?["name"],
                ByteSearch.contains("/secrets/", in: UnsafeRawBufferPointer(rebasing: self.bytes[name])),
                let close = self.text.endOfString(value + 1)
            else { return }
            self.add(value + 1..<close, Self.secret, self.codedSpelling(value + 1..<close))
        } else if self.text.byte(value) == UInt8(ascii: "{"), self.text.keyOfMember(valueAt: open, ["data"]) != nil {
            guard let object = self.object(around: start - 1),
                let metadata = object.others.first(where: { $0.count == 8 && self.text.isWord("metadata", endingAt: $0.upperBound) }),
                let values = NestedValues(self.text, openAt: value)
            else { return }
            let brace = self.text.skipSpace(self.text.skipSpace(metadata.upperBound + 1) + 1)
            guard self.text.byte(brace) == UInt8(ascii: "{") else { return }
            let described = DirectMembers(self.text, openAt: brace)
            guard described.has("version", "created_time", "destroyed") else { return }
            for (_, range, _) in values.values { self.addNested(range, name: nil, Self.secret, isWord: false) }
        }
    }

    private static let markings: [StaticString] = [
        "SecureString", "masked", "secured", "encrypted", "secret_text", ".vault.azure.net/", "/secrets/", "created_time",
    ]

    /// Most texts have none of the words, and many members named `value`.
    private var hasMarkings: Bool {
        mutating get {
            if let marksValues { return marksValues }
            let found = Self.markings.contains {
                ByteSearch.contains($0, in: self.bytes)
            }
            self.work += self.bytes.count
            self.marksValues = found
            return found
        }
    }

    /// The private members of a JSON Web Key, by its type (RFC 7518, 6; RFC 8037, 2).
    private static let privateMembers = [
        "rsa": ["d", "p", "q", "dp", "dq", "qi"], "ec": ["d"], "okp": ["d"], "oct": ["k"],
    ]

    private mutating func webKey(_ start: Int) {
        guard let object = self.object(around: start), let type = object["kty"], type.count <= 3,
            let names = Self.privateMembers[String(decoding: self.bytes[type], as: UTF8.self).lowercased()]
        else { return }
        for name in names {
            if let value = object[name], value.count >= NeedleIndex.lengthLimit { self.add(value, Self.secret, .json) }
        }
    }

    /// The most objects in one list.
    private static let keyLimit = 100

    /// `[{"keyName": "key1", "value": "X"}]`, as Azure lists the keys of accounts.
    private mutating func listedKeys(_ open: Int) {
        guard self.text.byte(open) == UInt8(ascii: "[") else { return }
        if self.text.byte(self.text.skipSpace(open + 1)) == UInt8(ascii: "\"") { return self.unsealKeys(open) }
        var offset = self.text.skipSpace(open + 1)
        for _ in 0..<Self.keyLimit {
            guard self.text.byte(offset) == UInt8(ascii: "{") else { return }
            let object = DirectMembers(self.text, openAt: offset)
            self.work += object.end - offset
            if object.has("keyName"), let value = object["value"] { self.add(value, Self.key, .json) }
            offset = self.text.skipSpace(object.end)
            guard self.text.byte(offset) == UInt8(ascii: ",") else { return }
            offset = self.text.skipSpace(offset + 1)
        }
    }

    /// `{"keys": ["X"], "keys_base64": ["X"], "root_token": "X"}`, as HashiCorp Vault answers `sys/init`.
    private mutating func unsealKeys(_ open: Int) {
        guard let object = self.object(around: open), object.has("root_token") else { return }
        for name in object.others where ["keys", "keys_base64"].contains(where: { self.text.isWord($0, endingAt: name.upperBound) }) {
            self.elements(self.text.skipSpace(self.text.skipSpace(name.upperBound + 1) + 1)) { survey, value in
                if survey.text.byte(value.lowerBound) == UInt8(ascii: "\""), value.count > 2 {
                    survey.add(value.lowerBound + 1..<value.upperBound - 1, Self.key, .json)
                }
                return true
            }
        }
    }

    // MARK: Rows

    /// The most columns, rows and elements.
    private static let columnLimit = 256
    private static let rowLimit = 10_000

    /// Handles `{"columns": ["id", "NAME"], "rows": [[1, "X"]]}`.
    private mutating func rows(_ start: Int, columnsAt open: Int) {
        guard self.text.byte(open) == UInt8(ascii: "[") else { return }
        var meanings: [Int: SecretNames.Meaning] = [:]
        var column = 0
        self.elements(open) { survey, value in
            if survey.text.byte(value.lowerBound) == UInt8(ascii: "\""), value.count > 2,
                let meaning = survey.meaning(value.lowerBound + 1, value.upperBound - 1), !meaning.needsCompany, meaning.syntax == .value
            {
                meanings[column] = meaning
            }
            column += 1
            return column < Self.columnLimit
        }
        guard !meanings.isEmpty, let object = self.object(around: start) else { return }
        for name in object.others where ["rows", "data", "values"].contains(where: { self.text.isWord($0, endingAt: name.upperBound) }) {
            let colon = self.text.skipSpace(name.upperBound + 1)
            var count = 0
            self.elements(self.text.skipSpace(colon + 1)) { survey, row in
                count += 1
                guard count < Self.rowLimit, survey.text.byte(row.lowerBound) == UInt8(ascii: "[") else { return false }
                var column = 0
                survey.elements(row.lowerBound) { survey, value in
                    if let meaning = meanings[column], survey.text.byte(value.lowerBound) == UInt8(ascii: "\""), value.count > 2 {
                        survey.addNested(value.lowerBound + 1..<value.upperBound - 1, name: nil, meaning, isWord: false)
                    }
                    column += 1
                    return column < Self.columnLimit
                }
                return true
            }
        }
    }

    /// Delivers the elements of an array, with their quotes, until the closure returns false.
    private mutating func elements(_ open: Int, _ body: (inout TextSurvey, Range<Int>) -> Bool) {
        guard self.text.byte(open) == UInt8(ascii: "[") else { return }
        var offset = self.text.skipSpace(open + 1)
        while let byte = self.text.byte(offset), byte != UInt8(ascii: "]"), byte != UInt8(ascii: ",") {
            guard let end = DirectMembers.endOfValue(self.text, offset, min(self.bytes.count, offset + NamedValue.limit)), end > offset
            else {
                return
            }
            self.work += end - offset
            guard body(&self, offset..<self.text.skipSpaceBack(end)) else { return }
            offset = self.text.skipSpace(end)
            guard self.text.byte(offset) == UInt8(ascii: ",") else { return }
            offset = self.text.skipSpace(offset + 1)
        }
    }

    /// Handles `"token": {"id": "X"}` (OpenStack Identity, version 2.0) and `"session": {"id": "X"}`.
    ///
    /// An object that has a name as well describes a token, whose `id` is something else.
    mutating func identifier(_ start: Int, _ end: Int, openAt open: Int, _ meaning: SecretNames.Meaning) {
        guard meaning.kind == "token" || meaning.kind == "access_token" || meaning.kind == "session", !meaning.isPlural,
            [5, 7, 9, 11].contains(end - start)
        else { return }
        let name = String(decoding: self.bytes[start..<end].filter { $0 != UInt8(ascii: "_") }, as: UTF8.self).lowercased()
        guard ["token", "authtoken", "accesstoken", "session"].contains(name) else { return }
        let object = DirectMembers(self.text, openAt: open)
        self.work += object.end - open
        guard let value = object["id"] else { return }
        if meaning.kind != "session" {
            guard !object.has("name", "label", "description", "title", "prefix", "last_used_at", "object"),
                !UUIDPlaceholder.isUUID(Array(self.bytes[value]))
            else { return }
        }
        // `cs_test_a1B2`: the identifiers of some APIs have a prefix, and are no secrets.
        let prefix = self.bytes[value].prefix { $0 >= 97 && $0 <= 122 }
        guard prefix.isEmpty || prefix.count > 8 || self.text.byte(prefix.endIndex) != UInt8(ascii: "_") else { return }
        self.add(value, SecretNames.Meaning(kind: meaning.kind, needsKeyShape: true, isSure: false), .json)
    }
}
