internal import CassetteModel
internal import TapeBytes

/// Removes the secrets from header sections and URLs.
struct HeadRedaction {
    let text: TextRedaction
    var searched = SearchedLines()
    /// The vault's generation at which `searched` may be used; nil if at any.
    var searchedAt: Int?

    private var rules: RedactionRules { self.text.rules }

    // MARK: Fields

    /// Returns how many secrets were replaced. Field names are never changed.
    func redact(_ fields: inout HeaderFields) -> Int {
        guard !fields.isEmpty else { return 0 }
        // A pattern for arbitrary text may span several lines.
        guard !self.rules.hasTextPatterns else { return self.redactLines(of: &fields) }
        let generation = self.text.vault.generation
        guard (self.searchedAt ?? generation) == generation else { return self.redactLines(of: &fields) }
        let unknown = self.searched.unknown(in: fields, at: generation)
        guard !unknown.isEmpty else { return 0 }
        var redacted = unknown.count == fields.count ? fields : fields.picking(unknown)
        let count = self.redactLines(of: &redacted)
        // A secret just learned may also occur in the other lines.
        guard self.text.vault.generation == generation else { return self.redactLines(of: &fields) }
        let clean = unknown.indices.filter { index in
            let line = redacted.line(at: index)
            // Two lines that only reveal a secret together are both searched each time.
            return (count == 0 || line.elementsEqual(fields.line(at: unknown[index])))
                && !line.withUnsafeBytes { OAuthCompany.concerns($0) }
        }
        self.searched.insert(clean, of: redacted, at: generation)
        guard count > 0 else { return 0 }
        fields = unknown.count == fields.count ? redacted : fields.replacing(unknown, with: redacted)
        return count
    }

    private func redactLines(of fields: inout HeaderFields) -> Int {
        let edits = fields.withBytes { bytes in
            let (findings, kept) = self.findings(in: fields, bytes)
            return self.text.edits(
                in: bytes, as: .fields, findings: findings, kept: kept, within: (0..<fields.count).map(fields.valueRange))
        }
        guard !edits.isEmpty || (0..<fields.count).contains(where: { Self.isBinary(fields, $0) }) else { return 0 }
        var redacted = HeaderFields()
        redacted.reserve(bytes: fields.size + edits.growth, fields: fields.count)
        var next = 0
        var count = 0
        for index in 0..<fields.count {
            let line = fields.lineRange(at: index)
            let value = fields.valueRange(at: index)
            var own: [Edit] = []
            while next < edits.count, edits.edits[next].range.lowerBound < line.upperBound {
                let edit = edits.edits[next]
                next += 1
                // A match that extends beyond a line's end is not a secret.
                guard edit.range.lowerBound >= value.lowerBound, edit.range.upperBound <= value.upperBound else { continue }
                own.append(Self.moved(edit, into: line))
            }
            if let (edit, places) = self.binaryValue(fields, index) {
                own = [Self.moved(edit, into: line)]
                count += places - 1
            }
            count += own.count
            redacted.append(line: own.isEmpty ? Array(fields.line(at: index)) : EditList(own).applied(to: Array(fields.line(at: index))))
        }
        guard count > 0 else { return 0 }
        fields = redacted
        return count
    }

    /// Converts an edit of the section's bytes to one of a line in it.
    private static func moved(_ edit: Edit, into line: Range<Int>) -> Edit {
        Edit(range: edit.range.lowerBound - line.lowerBound..<edit.range.upperBound - line.lowerBound, bytes: edit.bytes)
    }

    // MARK: Metadata of gRPC

    /// The longest base64 value that is examined; heads are shorter.
    private static let binaryLimit = 64 << 10

    /// gRPC over HTTP2, "Custom-Metadata": base64, padded or not.
    private static func isBinary(_ fields: HeaderFields, _ index: Int) -> Bool {
        fields.nameBytes(at: index).suffix(4).elementsEqual("-bin".utf8)
    }

    /// Handles a message in base64, such as `grpc-status-details-bin`. Returns the replacement and how many placeholders it contains, or
    /// nil if there is nothing to redact.
    private func binaryValue(_ fields: HeaderFields, _ index: Int) -> (edit: Edit, places: Int)? {
        let value = fields.valueBytes(at: index)
        guard Self.isBinary(fields, index), !value.isEmpty, value.count <= Self.binaryLimit,
            !self.rules.keeps(header: Array(fields.nameBytes(at: index)))
        else { return nil }
        let isPadded = value.count % 4 == 0
        guard let bytes = Base64.decode(Array(value) + Array(repeating: UInt8(ascii: "="), count: (4 - value.count % 4) % 4)) else {
            return nil
        }
        var parser = ProtoParser(fields: bytes.count)
        var redaction = ProtoRedaction(text: self.text)
        guard let message = parser.parse(bytes), let redacted = redaction.redacted(message) else { return nil }
        var text: [UInt8] = []
        redacted.bytes.withUnsafeBytes { Base64.encode($0, into: &text) }
        if !isPadded { text.removeLast(text.reversed().prefix { $0 == UInt8(ascii: "=") }.count) }
        return (Edit(range: fields.valueRange(at: index), bytes: text), redaction.count)
    }

    private func findings(in fields: HeaderFields, _ bytes: UnsafeRawBufferPointer) -> ([Finding], [Range<Int>]) {
        var findings: [Finding] = []
        var kept: [Range<Int>] = []
        for index in 0..<fields.count {
            let name = fields.nameBytes(at: index)
            let range = fields.valueRange(at: index)
            guard !range.isEmpty else { continue }
            if self.rules.keeps(header: Array(name)) {
                kept.append(range)
                continue
            }
            findings += self.ruled(Array(name), bytes, range)
            if fields.isNamed("cookie", at: index) {
                findings += CookieField.findings(in: bytes, range, isSet: false)
            } else if fields.isNamed("set-cookie", at: index) || fields.isNamed("set-cookie2", at: index) {
                findings += CookieField.findings(in: bytes, range, isSet: true)
            } else if fields.isNamed("sec-websocket-protocol", at: index) {
                findings += Self.findings(inProtocols: bytes, range)
            } else if fields.isNamed("authentication-info", at: index) || fields.isNamed("proxy-authentication-info", at: index) {
                findings += CredentialsField.findings(inInfo: bytes, range)
            } else if let meaning = SecretNames.meaning(ofHeader: name) {
                findings += self.named(meaning, bytes, range)
            } else {
                findings += self.findings(in: bytes, range, of: name)
            }
        }
        return (findings, kept)
    }

    /// Secrets in the value of a field whose name is not known to have one, such as settings, credentials or a sentence for people.
    ///
    /// - Parameter name: the field's name.
    private func findings(in bytes: UnsafeRawBufferPointer, _ range: Range<Int>, of name: some Collection<UInt8>) -> [Finding] {
        let value = UnsafeRawBufferPointer(rebasing: bytes[range])
        guard value.count >= Self.leastValue else { return [] }
        if let meaning = SecretNames.meaning(ofField: name), let found = NamedValue.finding(in: bytes, range, meaning, .plain) {
            return NamedValue.isLocation(bytes[range]) ? [] : [found]
        }
        if let found = CredentialsField.finding(inOtherField: bytes, range) { return [found] }
        // A name, a mark and a value, possibly escaped. Most digests and numbers have no mark.
        guard value.contains(where: { "=:%".utf8.contains($0) }),
            self.text.mayGoOn(SearchBudget.costOfText + value.count)
        else { return [] }
        func moved(_ finding: Finding, _ place: Range<Int>) -> Finding {
            var moved = finding
            moved.range = place.lowerBound + range.lowerBound..<place.upperBound + range.lowerBound
            return moved
        }
        let plain = TextSurvey.survey(value, budget: self.text.budget).findings.map { moved($0, $0.range) }
        guard let view = EscapeView(value) else { return plain }
        return plain
            + view.bytes.withUnsafeBytes { bytes in
                TextSurvey.survey(bytes, isView: true, budget: self.text.budget).findings.map { moved($0, view.source($0.range)) }
            }
    }

    /// The shortest value that has room for a name and a secret, in bytes.
    private static let leastValue = 8

    // MARK: Fields of parts

    /// The edits in the header section of a part (RFC 2046, 5.1).
    func edits(ofPart section: UnsafeRawBufferPointer) -> EditList {
        var findings: [Finding] = []
        var kept: [Range<Int>] = []
        var start = 0
        while start < section.count {
            let end = ByteScan.index(of: 10, in: section, from: start)
            defer { start = end + 1 }
            let line = UnsafeRawBufferPointer(rebasing: section[start..<end])
            let colon = ByteScan.index(of: UInt8(ascii: ":"), in: line, from: 0)
            guard colon > 0, colon < line.count, line[0] > 32 else { continue }
            var (lower, upper) = (start + colon + 1, end)
            while lower < upper, section[lower] <= 32 { lower += 1 }
            while lower < upper, section[upper - 1] <= 32 { upper -= 1 }
            let name = section[start..<start + colon]
            // The names of parts and files are no names of values.
            guard lower < upper, !name.elementsEqual("content-disposition".utf8, by: { $0 | 32 == $1 | 32 }) else { continue }
            if self.rules.keeps(header: Array(name)) {
                kept.append(lower..<upper)
            } else if let meaning = SecretNames.meaning(ofHeader: name) {
                findings += self.named(meaning, section, lower..<upper)
            } else {
                findings += self.findings(in: section, lower..<upper, of: name)
            }
        }
        return self.text.edits(in: section, as: .fields, findings: findings, kept: kept)
    }

    // MARK: Protocols of WebSockets

    /// Credentials among the names of protocols, as pages cannot set other fields of a handshake: `bearer, TOKEN`,
    /// `base64url.bearer.authorization.k8s.io.TOKEN`, `openai-insecure-api-key.TOKEN`, `header-TOKEN`.
    private static func findings(inProtocols bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> [Finding] {
        var findings: [Finding] = []
        var followsName = false
        for item in bytes[range].split(separator: UInt8(ascii: ",")) {
            var (start, end) = (item.startIndex, item.endIndex)
            while start < end, bytes[start] <= 32 { start += 1 }
            while end > start, bytes[end - 1] <= 32 { end -= 1 }
            let name = bytes[start..<end]
            let lower = String(decoding: name, as: UTF8.self).lowercased()
            var secret: Range<Int>?
            if followsName || NamedValue.looksLikeKey(UnsafeRawBufferPointer(rebasing: name)) && !name.contains(UInt8(ascii: ".")) {
                secret = start..<end
            }
            if let point = name.lastIndex(of: UInt8(ascii: ".")), point > start {
                let before = bytes[start..<point]
                if lower.contains("bearer.") || SecretNames.meaning(ofHeader: before) != nil
                    || SecretNames.meaning(ofCompound: before) != nil
                {
                    secret = point + 1..<end
                }
            }
            if lower.hasPrefix("header-") { secret = start + 7..<end }
            followsName = ["bearer", "basic", "jwt", "auth"].contains(lower) || SecretNames.isName(name)
            guard let secret, !secret.isEmpty, !Placeholder.isAll(UnsafeRawBufferPointer(rebasing: bytes[secret])) else { continue }
            // A JSON Web Token is recognised by its shape, and is replaced by another token.
            if bytes[secret].starts(with: "eyJ".utf8), bytes[secret].contains(UInt8(ascii: ".")) { continue }
            findings.append(Finding(kind: "authorization", range: secret, secret: Array(bytes[secret]), spelling: .plain))
        }
        return findings
    }

    private func named(_ meaning: SecretNames.Meaning, _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> [Finding] {
        guard meaning.kind != "authorization" else { return CredentialsField(bytes, range, kind: meaning.kind).findings }
        let value = UnsafeRawBufferPointer(rebasing: bytes[range])
        guard !meaning.needsCompany, !Placeholder.isAll(value) else { return [] }
        return [Finding(kind: meaning.kind, range: range, secret: Array(value), spelling: .plain, isSure: meaning.isSure)]
    }

    private func ruled(_ name: [UInt8], _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> [Finding] {
        guard !self.rules.rules.isEmpty else { return [] }
        let value = UnsafeRawBufferPointer(rebasing: bytes[range])
        if let kind = self.rules.kind(header: name) {
            return Placeholder.isWhole(value)
                ? [] : [Finding(kind: kind, range: range, secret: Array(value), spelling: .plain, isRuled: true)]
        }
        let place = RedactionPlace.header(String(decoding: name, as: UTF8.self).lowercased())
        return self.rules.findings(at: place, in: value, from: range.lowerBound)
    }

    // MARK: URLs

    /// Nil if there is nothing to redact.
    func redacted(url: String) -> (url: String, count: Int)? {
        let bytes = Array(url.utf8)
        let edits = bytes.withUnsafeBytes { bytes in
            let (findings, kept) = self.findings(inURL: bytes)
            return self.text.edits(in: bytes, as: .url, findings: findings, kept: kept)
        }
        if edits.isEmpty, !bytes.contains(UInt8(ascii: "%")) { return nil }
        let redacted = Self.plain(edits.applied(to: bytes))
        guard redacted != bytes else { return nil }
        return (String(decoding: redacted, as: UTF8.self), edits.count)
    }

    private func findings(inURL url: UnsafeRawBufferPointer) -> ([Finding], [Range<Int>]) {
        let fragment = ByteScan.index(of: UInt8(ascii: "#"), in: url, from: 0)
        let query = ByteScan.index(of: UInt8(ascii: "?"), in: UnsafeRawBufferPointer(rebasing: url[..<fragment]), from: 0)
        let survey = QuerySurvey(rules: self.rules, isForm: false)
        let (inQuery, kept) = survey.findings(in: url, range: min(query + 1, fragment)..<fragment)
        var findings = inQuery
        if fragment < url.count { findings += survey.findings(in: url, range: fragment + 1..<url.count).findings }
        guard !self.rules.rules.isEmpty else { return (findings, kept) }
        findings += self.rules.findings(inQueryOf: url, range: min(query + 1, fragment)..<fragment)
        let path = Self.startOfPath(url, query)
        findings += self.rules.findings(at: .path, in: UnsafeRawBufferPointer(rebasing: url[path..<query]), from: path)
        return (findings, kept)
    }

    private static func startOfPath(_ url: UnsafeRawBufferPointer, _ end: Int) -> Int {
        guard let colon = (0..<end).first(where: { url[$0] == UInt8(ascii: ":") }), end - colon > 3, url[colon + 1] == UInt8(ascii: "/"),
            url[colon + 2] == UInt8(ascii: "/")
        else { return 0 }
        return (colon + 3..<end).first { url[$0] == UInt8(ascii: "/") } ?? end
    }

    /// Decodes placeholders in a URL, since a client may send a placeholder it received percent-encoded.
    private static func plain(_ url: [UInt8]) -> [UInt8] {
        url.withUnsafeBytes { bytes in
            guard ByteSearch.contains("%7", in: bytes) else { return url }
            var edits: [Edit] = []
            var offset = 0
            while offset < bytes.count {
                guard let length = Placeholder.length(in: bytes, at: offset) else {
                    offset += 1
                    continue
                }
                let text = Finding.Spelling.query.decode(UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + length]))
                // Before a host, the decoded characters would have a different meaning.
                if let text, offset + length == bytes.count || bytes[offset + length] != UInt8(ascii: "@") {
                    edits.append(Edit(range: offset..<offset + length, bytes: text))
                }
                offset += length
            }
            return EditList(edits).applied(to: bytes)
        }
    }
}
