internal import CassetteFormat
internal import CassetteModel
internal import TapeBytes

/// Removes the secrets from a content without codings, by its media type: text, forms, JSON, multipart.
struct ContentRedaction {
    let text: TextRedaction
    /// How many contents enclose this one: compressed files, values in base64.
    var depth = 0

    /// How deeply multiparts may be nested.
    private static let limits: MultipartLimits = {
        var limits = MultipartLimits()
        limits.parts = 10_000
        return limits
    }()

    /// - Parameter headers: the header fields of the message or part.
    func edits(in content: UnsafeRawBufferPointer, headers: HeaderFields) -> EditList {
        if let body = self.parts(of: content, headers) {
            var edits = self.edits(inText: content[..<min(body.preamble.count, content.count)], .plain)
            edits += self.edits(in: content, parts: body)
            edits += self.edits(inText: content[max(0, content.count - body.epilogue.count)...], .plain)
            return EditList(edits)
        }
        return EditList(self.edits(of: content[...], headers))
    }

    /// The parts of a multipart body. If the field has no boundary, or one that does not occur, the boundary comes from the content's first
    /// line.
    private func parts(of content: UnsafeRawBufferPointer, _ headers: HeaderFields) -> MultipartBody<Range<Int>>? {
        if let boundary = MultipartType(headers)?.boundary,
            let body = MultipartBody<Range<Int>>.parse(content, boundary: boundary, limits: Self.limits), !body.parts.isEmpty
        {
            return body
        }
        guard let boundary = Self.boundary(ofFirstLine: content) ?? Self.boundary(afterPreambleOf: content, headers) else { return nil }
        return MultipartBody<Range<Int>>.parse(content, boundary: boundary, limits: Self.limits)
    }

    /// The boundary of a content that starts like a multipart: with a delimiter and a field of the first part (RFC 2046, 5.1.1).
    static func boundary(ofFirstLine content: UnsafeRawBufferPointer) -> MultipartBoundary? {
        let start = content.starts(with: [13, 10]) ? 2 : 0
        guard content.count > start + 16, content[start] == UInt8(ascii: "-"), content[start + 1] == UInt8(ascii: "-") else { return nil }
        let most = min(content.count, start + MultipartBoundary.longest + 4)
        guard let end = (start..<most).first(where: { content[$0] == 10 }) else { return nil }
        let last = end > start && content[end - 1] == 13 ? end - 1 : end
        let field = Array("content-".utf8)
        guard content.count - end > field.count, content[(end + 1)..<(end + 1 + field.count)].map({ $0 | 32 }) == field.map({ $0 | 32 }),
            last > start + 2
        else { return nil }
        return MultipartBoundary(Array(content[(start + 2)..<last]))
    }

    /// How many bytes of a preamble are searched for a boundary.
    private static let preambleLimit = 4096

    /// The same for a content that is declared as a multipart and has a preamble (RFC 2046, 5.1.1).
    private static func boundary(afterPreambleOf content: UnsafeRawBufferPointer, _ headers: HeaderFields) -> MultipartBoundary? {
        guard MediaType(headers.firstIndex(of: "content-type").map(headers.valueBytes)).essence.hasPrefix("multipart/") else { return nil }
        var line = ByteScan.index(of: 10, in: content, from: 0) + 1
        while line < min(content.count, Self.preambleLimit) {
            if content[line] == UInt8(ascii: "-"),
                let boundary = Self.boundary(ofFirstLine: UnsafeRawBufferPointer(rebasing: content[line...]))
            {
                return boundary
            }
            line = ByteScan.index(of: 10, in: content, from: line) + 1
        }
        return nil
    }

    /// The kind of a content without parts, which decides how placeholders in it are spelled.
    static func kind(_ headers: HeaderFields, _ content: UnsafeRawBufferPointer) -> TextKind {
        self.kind(MediaType(headers.firstIndex(of: "content-type").map(headers.valueBytes)), content)
    }

    private static func kind(_ type: MediaType, _ content: UnsafeRawBufferPointer) -> TextKind {
        if type.isForm { return .form }
        switch type.kind {
        case .json, .text: return .plain
        // A server may send a text, such as an error, under any type.
        case .binary: return !content.isEmpty && ReadableText.isReadable(content) ? .plain : .binary
        // In a sequence, a control character precedes each text.
        case .unknown: return type.declaresJSONTexts || ReadableText.isReadable(content) ? .plain : .binary
        }
    }

    /// The borders at which a content with these fields may cut a secret: a part of a representation (RFC 9110, 14.4), or of an upload
    /// that is resumed.
    static func borders(_ headers: HeaderFields) -> TextRedaction.Borders {
        if headers.contains("upload-offset") || headers.contains("x-goog-upload-offset") { return [.both, .rest] }
        guard let range = headers.first("content-range"), range.lowercased().hasPrefix("bytes "),
            let slash = range.lastIndex(of: "/"), let dash = range[..<slash].lastIndex(of: "-")
        else { return headers.contains("content-range") ? [.both, .rest] : [] }
        let first = Int(range[..<dash].dropFirst("bytes ".count).drop { $0 == " " })
        var borders: TextRedaction.Borders = first == 0 ? [] : .start
        let size = Int(range[range.index(after: slash)...])
        if let last = Int(range[range.index(after: dash)..<slash]), let size, size > 0, last >= size - 1 { return borders }
        borders.formUnion([.end, .rest])
        return borders
    }

    private func edits(of slice: Slice<UnsafeRawBufferPointer>, _ headers: HeaderFields) -> [Edit] {
        let borders = Self.borders(headers)
        guard !borders.isEmpty else { return self.edits(ofWhole: slice, headers) }
        var text = self.text
        text.borders.formUnion(borders)
        let edits = ContentRedaction(text: text, depth: self.depth).edits(ofWhole: slice, headers)
        let content = UnsafeRawBufferPointer(rebasing: slice)
        let last = edits.map {
            Edit(range: $0.range.lowerBound - slice.startIndex..<$0.range.upperBound - slice.startIndex, bytes: $0.bytes)
        }
        if borders.contains(.rest), text.endsWithinSecret(content, as: Self.kind(headers, content), edits: last) {
            self.text.vault.note(.rest)
        }
        return edits
    }

    private func edits(ofWhole slice: Slice<UnsafeRawBufferPointer>, _ headers: HeaderFields) -> [Edit] {
        let content = UnsafeRawBufferPointer(rebasing: slice)
        let type = MediaType(headers.firstIndex(of: "content-type").map(headers.valueBytes))
        if let edits = AmazonEventStream(content: self).edits(in: content) { return Self.moved(edits, by: slice.startIndex) }
        if let opaque = OpaqueContent(content, type) ?? OpaqueContent.charset(headers) { self.text.vault.note(opaque) }
        if let archive = TapeArchive(content) { return Self.moved(self.edits(in: content, archive), by: slice.startIndex) }
        if type.kind != .text, type.kind != .json, let edits = TreeRedaction.edits(in: content, type: type, text: self.text) {
            return Self.moved(edits, by: slice.startIndex)
        }
        if PromisedText.mayBeOther(content, type) {
            // A tree whose media type is wrong.
            if let edits = TreeRedaction.editsOfWhole(content, text: self.text) { return Self.moved(edits, by: slice.startIndex) }
            let isWide = WideText(content, charset: Self.charset(headers)) != nil
            if !isWide, OpaqueContent(content, type) == nil, let note = PromisedText.note(content, type) { self.text.vault.note(note) }
        }
        if let wide = WideText(content, charset: Self.charset(headers)) {
            let edits = wide.text.withUnsafeBytes { EditList(self.edits(inText: $0[...], .plain)) }
            if !edits.isEmpty { return Self.moved(wide.edits(edits), by: slice.startIndex) }
        }
        if type.essence == "application/http", let edits = self.edits(ofCompressedMessage: slice) { return edits }
        var kind = Self.kind(type, content)
        // curl's `-d` declares any body as a form.
        if kind == .form, let first = content.first(where: { $0 > 32 }), "{[<".utf8.contains(first) { kind = .plain }
        let isEventStream = type.isEventStream || EventStreamData.mayBegin(content)
        let edits = self.edits(inText: slice, kind, declaresJSON: type.kind == .json, isEventStream: isEventStream)
        guard type.essence == "application/http", !edits.isEmpty, !self.text.keepsLengths,
            let message = InnerFields(messageIn: slice.startIndex..<slice.endIndex, of: slice.base)
        else { return edits }
        return edits + message.edits(for: edits, in: slice.base)
    }

    /// The edits of a message of a batch whose content is a compressed file; nil if it is not.
    private func edits(ofCompressedMessage slice: Slice<UnsafeRawBufferPointer>) -> [Edit]? {
        guard let message = InnerFields(messageIn: slice.startIndex..<slice.endIndex, of: slice.base) else { return nil }
        let inner = slice[message.content]
        if let opaque = OpaqueContent(UnsafeRawBufferPointer(rebasing: inner), MediaType(nil)) { self.text.vault.note(opaque) }
        guard let edit = self.edit(compressed: inner), !self.text.keepsLengths || edit.bytes.count == inner.count else { return nil }
        let head = self.edits(inText: slice[..<inner.startIndex], .plain)
        return head + [edit] + (self.text.keepsLengths ? [] : message.edits(for: [edit], in: slice.base))
    }

    /// The charset that a field names, in lower case, if it is one of wide characters.
    private static func charset(_ headers: HeaderFields) -> String? {
        guard let index = headers.firstIndex(of: "content-type") else { return nil }
        let field = headers.valueBytes(at: index)
        guard field.count > 16, let label = MIMEParameters(field)["charset"]?.value else { return nil }
        let name = String(decoding: label.prefix(16), as: UTF8.self).lowercased()
        return name.hasPrefix("utf-16") || name.hasPrefix("utf-32") ? name : nil
    }

    /// Redacts each file by itself. Nothing moves, so that the headers of the archive stay correct.
    private func edits(in content: UnsafeRawBufferPointer, _ archive: TapeArchive) -> [Edit] {
        var text = self.text
        text.keepsLengths = true
        let inner = ContentRedaction(text: text, depth: self.depth)
        var edits: [Edit] = []
        for file in archive.files {
            let data = UnsafeRawBufferPointer(rebasing: content[file])
            if SniffedCoding.name(data) != nil { self.text.vault.note(.sealed("a compressed file of an archive")) }
            edits += EditList(keepingLengths: inner.edits(of: content[file], HeaderFields())).edits
        }
        // File names, and everything after a file whose header is damaged.
        for gap in archive.gaps { edits += inner.edits(inText: content[gap], .binary) }
        return edits
    }

    /// - Parameters:
    ///   - declaresJSON: whether the media type says that it is JSON.
    ///   - isEventStream: whether its events may divide a text over several lines.
    func edits(
        inText slice: Slice<UnsafeRawBufferPointer>, _ kind: TextKind, declaresJSON: Bool = false, isEventStream: Bool = false
    ) -> [Edit] {
        guard !slice.isEmpty else { return [] }
        let content = UnsafeRawBufferPointer(rebasing: slice)
        var findings: [Finding] = []
        var kept: [Range<Int>] = []
        switch kind {
        case .form:
            guard self.text.mayGoOn(content.count * SearchBudget.costOfFormByte) else { return [] }
            (findings, kept) = QuerySurvey(rules: self.text.rules, isForm: true).findings(in: content, range: 0..<content.count)
            findings += self.text.rules.findings(inForm: content)
            if self.text.rules.hasInnerPlaces {
                let inner = FormFieldPlaces(self.text.rules).findings(in: content)
                findings += inner.findings
                kept += inner.kept
            }
        case .plain:
            if self.text.rules.hasJSONPlaces {
                let found = JSONPlaces(self.text.rules).findings(in: content)
                (findings, kept) = (found.findings, found.kept)
                if !found.isRead, declaresJSON { self.text.vault.noteUnreadPlaces() }
            }
            if self.text.rules.hasXMLPlaces {
                let found = XMLPlaces(self.text.rules).findings(in: content)
                findings += found.findings
                kept += found.kept
            }
            findings += ColumnSurvey.findings(in: content, budget: self.text.budget) + RecordSurvey.findings(in: content)
        case .fields, .url, .binary, .field: break
        }
        var text = self.text
        (text.isJSON, text.isEventStream) = (declaresJSON, isEventStream)
        let edits = text.edits(in: content, as: kind, findings: findings, kept: kept, depth: self.depth)
        return Self.moved(edits.edits, by: slice.startIndex)
    }

    private static func moved(_ edits: [Edit], by offset: Int) -> [Edit] {
        guard offset > 0 else { return edits }
        return edits.map { Edit(range: $0.range.lowerBound + offset..<$0.range.upperBound + offset, bytes: $0.bytes) }
    }

    // MARK: Parts

    /// - Parameter outer: the name of the part that contains these; nil if it is the body.
    private func edits(
        in content: UnsafeRawBufferPointer, parts body: MultipartBody<Range<Int>>, of outer: String? = nil
    ) -> [Edit] {
        var edits: [Edit] = []
        for (index, part) in body.parts.enumerated() {
            let own = Self.name(of: part.headers.fields, index + 1)
            // `1/2`: a part within a part, named as in match rules.
            let name = outer.map { "\($0)/\(own)" } ?? own
            let ruled = self.text.rules.inside(.part(name)) ?? (outer == nil ? nil : self.text.rules.inside(.part(own)))
            switch part.content {
            case .multipart(let inner): edits += (ruled.map(self.with) ?? self).edits(in: content, parts: inner, of: name)
            case .data(let range):
                guard range.lowerBound >= 0, range.upperBound <= content.count else { continue }
                let fields = part.headers.fields
                var own = self.edits(ofHeaders: part.headers, endingAt: range.lowerBound, in: content)
                let inner = ruled.map(self.with) ?? self
                own += inner.edits(inPart: content[range], fields, named: Self.name(of: fields, index + 1))
                let head = max(0, range.lowerBound - part.headers.bytes.count)..<range.lowerBound
                edits += own
                if !own.isEmpty, !self.text.keepsLengths {
                    edits += InnerFields(head: head, contentEnd: range.upperBound, in: content).edits(for: own, in: content)
                }
            }
        }
        return edits
    }

    /// The edits of a part that was taken out of a body.
    ///
    /// - Parameter number: counts from 1.
    func edits(ofPart data: UnsafeRawBufferPointer, _ fields: HeaderFields, number: Int) -> EditList {
        let name = Self.name(of: fields, number)
        let inner = self.text.rules.inside(.part(name)).map(self.with) ?? self
        if MultipartType(fields) != nil { return inner.edits(in: data, headers: fields) }
        return EditList(inner.edits(inPart: data[...], fields, named: name))
    }

    /// The name of a part, or its number from 1, as in match rules.
    static func name(of fields: HeaderFields, _ number: Int) -> String {
        let name = ContentDisposition(fields)?.name ?? ""
        return name.isEmpty ? String(number) : name
    }

    private func with(_ rules: RedactionRules) -> ContentRedaction {
        var text = self.text
        text.rules = rules
        return ContentRedaction(text: text, depth: self.depth)
    }

    /// Filenames and anything else in a part's header section.
    private func edits(ofHeaders headers: PartHeaderSection, endingAt end: Int, in content: UnsafeRawBufferPointer) -> [Edit] {
        let start = end - headers.bytes.count
        guard start >= 0, content[start..<end].elementsEqual(headers.bytes) else { return [] }
        return Self.moved(
            HeadRedaction(text: self.text).edits(ofPart: UnsafeRawBufferPointer(rebasing: content[start..<end])).edits, by: start)
    }

    /// - Parameter name: the part's name, or its number.
    private func edits(inPart slice: Slice<UnsafeRawBufferPointer>, _ fields: HeaderFields, named name: String) -> [Edit] {
        guard !slice.isEmpty else { return [] }
        let content = UnsafeRawBufferPointer(rebasing: slice)
        switch self.text.vault.renumbers ? .content([]) : PartMeaning(fields, named: name, rules: self.text.rules) {
        // A value that is too long for one secret, unless a rule says so, or of a kind that is kept, may still contain others.
        case .secret(let kind, _, let isRuled)
        where content.count > NamedValue.limit && !isRuled || self.text.rules.keeps(kind: kind):
            return self.edits(of: slice, fields)
        case .secret(let kind, _, false) where OrdinaryValue.isOrdinary(content, kind: kind): return self.edits(of: slice, fields)
        case .secret(let kind, let isSure, let isRuled):
            guard !Placeholder.isAll(content) else { return [] }
            let placeholder = self.text.vault.placeholder(
                for: Array(content), kind: kind, isSure: isSure, isRuled: isRuled, under: self.text.rules)
            let edit = Edit(range: slice.startIndex..<slice.endIndex, bytes: placeholder.bytes)
            return self.text.keepsLengths ? EditList(keepingLengths: [edit]).edits : [edit]
        case .kept:
            let edits = self.text.edits(in: content, kept: [0..<content.count])
            return Self.moved(edits.edits, by: slice.startIndex)
        case .content(let patterns):
            if let edit = self.edit(encoded: slice, ContentTransferEncoding(fields), fields),
                !self.text.keepsLengths || edit.bytes.count == slice.count
            {
                return [edit]
            }
            if let edit = self.edit(compressed: slice), !self.text.keepsLengths || edit.bytes.count == slice.count { return [edit] }
            guard patterns.isEmpty else {
                let findings = patterns.flatMap { $0.findings(in: content) }
                return Self.moved(self.text.edits(in: content, findings: findings).edits, by: slice.startIndex)
            }
            return self.edits(of: slice, fields)
        }
    }

    /// Data in an encoding for mail, with line ends in it (RFC 2045, 6.7 and 6.8); nil if there is nothing to redact.
    private func edit(encoded slice: Slice<UnsafeRawBufferPointer>, _ encoding: ContentTransferEncoding, _ fields: HeaderFields) -> Edit? {
        guard encoding == .base64 || encoding == .quotedPrintable, let decoded = encoding.decode(Array(slice)) else { return nil }
        let redacted = decoded.withUnsafeBytes { bytes in
            let edits = EditList(self.edits(of: bytes[...], fields))
            return edits.isEmpty ? nil : edits.applied(to: bytes)
        }
        guard let redacted else { return nil }
        let text = encoding == .base64 ? Self.base64(redacted, like: slice) : Self.quotedPrintable(redacted)
        return Edit(range: slice.startIndex..<slice.endIndex, bytes: text)
    }

    /// A compressed file, as `curl -F file=@log.gz` sends it; nil if it is none, or has nothing to redact.
    private func edit(compressed slice: Slice<UnsafeRawBufferPointer>) -> Edit? {
        guard SniffedCoding.name(slice) != nil,
            let inner = NestedContent(text: self.text, depth: self.depth + 1).redacted(UnsafeRawBufferPointer(rebasing: slice))
        else { return nil }
        return Edit(range: slice.startIndex..<slice.endIndex, bytes: inner.bytes)
    }

    private static func base64(_ bytes: [UInt8], like slice: Slice<UnsafeRawBufferPointer>) -> [UInt8] {
        var text: [UInt8] = []
        bytes.withUnsafeBytes { Base64.encode($0, into: &text) }
        guard slice.contains(10) else { return text }
        let lines = stride(from: 0, to: text.count, by: self.lineLength).map { text[$0..<min($0 + self.lineLength, text.count)] }
        return lines.joined(separator: [13, 10]) + (slice.last == 10 ? [13, 10] : [])
    }

    /// Lines end where they did before; lines that become too long get soft breaks.
    private static func quotedPrintable(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        var width = 0
        for (index, byte) in bytes.enumerated() {
            let next = index + 1 < bytes.count ? bytes[index + 1] : 10
            if byte == 10 || byte == 13 && next == 10 {
                text.append(byte)
                width = 0
                continue
            }
            let isPlain = byte > 32 && byte < 127 && byte != UInt8(ascii: "=") || (byte == 32 || byte == 9) && next != 10 && next != 13
            let spelled = isPlain ? [byte] : [UInt8(ascii: "=")] + [byte >> 4, byte & 15].map { Hex.digit($0) & ($0 > 9 ? ~32 : 255) }
            if width + spelled.count >= Self.lineLength {
                text += [UInt8(ascii: "="), 13, 10]
                width = 0
            }
            text += spelled
            width += spelled.count
        }
        return text
    }

    /// RFC 2045, 6.8: at most 76 characters.
    private static let lineLength = 76
}
