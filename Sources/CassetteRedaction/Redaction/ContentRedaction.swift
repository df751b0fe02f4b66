internal import CassetteFormat
internal import CassetteModel
internal import TapeBytes

/// Takes the secrets out of a content without codings, by its media type: text, forms, JSON, multiparts.
struct ContentRedaction {
    let text: TextRedaction

    /// Levels of multiparts within multiparts.
    private static let limits: MultipartLimits = {
        var limits = MultipartLimits()
        limits.parts = 10_000
        return limits
    }()

    /// - Parameter headers: the message's or the part's.
    func edits(in content: UnsafeRawBufferPointer, headers: HeaderFields) -> EditList {
        if let boundary = MultipartType(headers)?.boundary,
            let body = MultipartBody<Range<Int>>.parse(content, boundary: boundary, limits: Self.limits)
        {
            var edits = self.edits(inText: content[..<min(body.preamble.count, content.count)], .plain)
            edits += self.edits(in: content, parts: body)
            edits += self.edits(inText: content[max(0, content.count - body.epilogue.count)...], .plain)
            return EditList(edits)
        }
        return EditList(self.edits(of: content[...], headers))
    }

    /// What a content without parts is, for spelling placeholders in it.
    static func kind(_ headers: HeaderFields, _ content: UnsafeRawBufferPointer) -> TextKind {
        let type = MediaType(headers.firstIndex(of: "content-type").map(headers.valueBytes))
        if type.isForm { return .form }
        switch type.kind {
        case .json, .text: return .plain
        case .binary: return .binary
        case .unknown: return ReadableText.isReadable(content) ? .plain : .binary
        }
    }

    private func edits(of slice: Slice<UnsafeRawBufferPointer>, _ headers: HeaderFields) -> [Edit] {
        let content = UnsafeRawBufferPointer(rebasing: slice)
        var kind = Self.kind(headers, content)
        // curl's `-d` calls everything a form.
        if kind == .form, let first = content.first(where: { $0 > 32 }), first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
            kind = .plain
        }
        return self.edits(inText: slice, kind)
    }

    private func edits(inText slice: Slice<UnsafeRawBufferPointer>, _ kind: TextKind) -> [Edit] {
        guard !slice.isEmpty else { return [] }
        let content = UnsafeRawBufferPointer(rebasing: slice)
        var findings: [Finding] = []
        var kept: [Range<Int>] = []
        switch kind {
        case .form:
            (findings, kept) = QuerySurvey(rules: self.text.rules, isForm: true).findings(in: content, range: 0..<content.count)
            findings += self.text.rules.findings(inForm: content)
        case .plain:
            if self.text.rules.hasJSONPlaces { (findings, kept) = JSONPlaces(self.text.rules).findings(in: content) }
            findings += ColumnSurvey.findings(in: content)
        case .fields, .url, .binary: break
        }
        let edits = self.text.edits(in: content, as: kind, findings: findings, kept: kept)
        return Self.moved(edits.edits, by: slice.startIndex)
    }

    private static func moved(_ edits: [Edit], by offset: Int) -> [Edit] {
        guard offset > 0 else { return edits }
        return edits.map { Edit(range: $0.range.lowerBound + offset..<$0.range.upperBound + offset, octets: $0.octets) }
    }

    // MARK: Parts

    private func edits(in content: UnsafeRawBufferPointer, parts body: MultipartBody<Range<Int>>) -> [Edit] {
        var edits: [Edit] = []
        for part in body.parts {
            switch part.content {
            case .multipart(let inner): edits += self.edits(in: content, parts: inner)
            case .data(let range):
                guard range.lowerBound >= 0, range.upperBound <= content.count else { continue }
                let fields = part.headers.fields
                edits += self.edits(ofHeaders: part.headers, endingAt: range.lowerBound, in: content)
                edits += self.edits(inPart: content[range], fields)
            }
        }
        return edits
    }

    /// File names and whatever else a part's header section says.
    private func edits(ofHeaders headers: PartHeaderSection, endingAt end: Int, in content: UnsafeRawBufferPointer) -> [Edit] {
        let start = end - headers.octets.count
        guard start >= 0, content[start..<end].elementsEqual(headers.octets) else { return [] }
        return self.edits(inText: content[start..<end], .fields)
    }

    private func edits(inPart slice: Slice<UnsafeRawBufferPointer>, _ fields: HeaderFields) -> [Edit] {
        guard !slice.isEmpty else { return [] }
        let content = UnsafeRawBufferPointer(rebasing: slice)
        switch PartMeaning(fields, rules: self.text.rules) {
        // What is too long for one secret, or of a kind that stays, may hold others.
        case .secret(let kind, _) where content.count > TextSurvey.valueLimit || self.text.rules.keeps(kind: kind):
            return self.edits(of: slice, fields)
        case .secret(let kind, let isSure):
            guard !Placeholder.isWhole(content) else { return [] }
            let placeholder = self.text.vault.placeholder(for: Array(content), kind: kind, isSure: isSure)
            return [Edit(range: slice.startIndex..<slice.endIndex, octets: placeholder.octets)]
        case .kept:
            let edits = self.text.edits(in: content, kept: [0..<content.count])
            return Self.moved(edits.edits, by: slice.startIndex)
        case .content(let patterns):
            if let edit = self.edit(encoded: slice, ContentTransferEncoding(fields), fields) { return [edit] }
            guard patterns.isEmpty else {
                let findings = patterns.flatMap { $0.findings(in: content) }
                return Self.moved(self.text.edits(in: content, findings: findings).edits, by: slice.startIndex)
            }
            return self.edits(of: slice, fields)
        }
    }

    /// Data in an encoding of mail, with line ends in it (RFC 2045, 6.7 and 6.8); nil where nothing is to be done.
    private func edit(encoded slice: Slice<UnsafeRawBufferPointer>, _ encoding: ContentTransferEncoding, _ fields: HeaderFields) -> Edit? {
        guard encoding == .base64 || encoding == .quotedPrintable, let decoded = encoding.decode(Array(slice)) else { return nil }
        let redacted = decoded.withUnsafeBytes { bytes in
            let edits = EditList(self.edits(of: bytes[...], fields))
            return edits.isEmpty ? nil : edits.applied(to: bytes)
        }
        guard let redacted else { return nil }
        let text = encoding == .base64 ? Self.base64(redacted, like: slice) : Self.quotedPrintable(redacted)
        return Edit(range: slice.startIndex..<slice.endIndex, octets: text)
    }

    private static func base64(_ octets: [UInt8], like slice: Slice<UnsafeRawBufferPointer>) -> [UInt8] {
        var text: [UInt8] = []
        octets.withUnsafeBytes { Base64.encode($0, into: &text) }
        guard slice.contains(10) else { return text }
        let lines = stride(from: 0, to: text.count, by: self.lineLength).map { text[$0..<min($0 + self.lineLength, text.count)] }
        return lines.joined(separator: [13, 10]) + (slice.last == 10 ? [13, 10] : [])
    }

    /// Lines end where they did; those that get too long are broken softly.
    private static func quotedPrintable(_ octets: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        var width = 0
        for (index, octet) in octets.enumerated() {
            let next = index + 1 < octets.count ? octets[index + 1] : 10
            if octet == 10 || octet == 13 && next == 10 {
                text.append(octet)
                width = 0
                continue
            }
            let isPlain = octet > 32 && octet < 127 && octet != UInt8(ascii: "=") || (octet == 32 || octet == 9) && next != 10 && next != 13
            let spelled = isPlain ? [octet] : [UInt8(ascii: "=")] + [octet >> 4, octet & 15].map { Hex.digit($0) & ($0 > 9 ? ~32 : 255) }
            if width + spelled.count >= Self.lineLength {
                text += [UInt8(ascii: "="), 13, 10]
                width = 0
            }
            text += spelled
            width += spelled.count
        }
        return text
    }

    /// RFC 2045, 6.8: no more than 76 characters.
    private static let lineLength = 76
}
