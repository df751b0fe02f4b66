internal import CassetteFormat
internal import CassetteModel
internal import CassettePlayback
internal import CassetteStore
internal import TapeBytes

/// Compares two recorded bodies by their content; coding and storage are ignored.
///
/// Never holds a body from a file in memory.
struct BodyComparison {
    let old: BodyReader
    let new: BodyReader
    let digest: () -> any ContentDigest
    /// Whether the numbers of placeholders are compared.
    var showsAll = false

    /// Places do not include the message: `json:/a`, `xml:/a/b`, `form:name`, `part:name`, `body`.
    ///
    /// - Parameter fields: the header fields of both messages, which say of what kind their bodies are.
    func changes(
        _ old: Body?, _ new: Body?, fields: (old: HeaderFields, new: HeaderFields) = (HeaderFields(), HeaderFields())
    ) throws -> [FieldChange] {
        switch (old, new) {
        case (nil, nil): return []
        case (let old?, nil): return old.byteCount == 0 ? [] : [FieldChange("body", Self.words(old), nil)]
        case (nil, let new?): return new.byteCount == 0 ? [] : [FieldChange("body", nil, Self.words(new))]
        case (let old?, let new?):
            var changes: [FieldChange] = []
            if old.isComplete != new.isComplete {
                changes.append(FieldChange("body", Self.wholeness(old), Self.wholeness(new), drift: .type))
            }
            guard old.content != new.content else { return changes }
            if case .empty = old.content { return changes + [FieldChange("body", nil, Self.words(new))] }
            if case .empty = new.content { return changes + [FieldChange("body", Self.words(old), nil)] }
            return changes + (try self.contents(old, new, fields))
        }
    }

    /// The same for contents without a body.
    func changes(of old: BodyContent, _ new: BodyContent) throws -> [FieldChange] {
        old == new ? [] : try self.contents(Body(size: 0, content: old), Body(size: 0, content: new), (HeaderFields(), HeaderFields()))
    }

    private static func wholeness(_ body: Body) -> String { body.isComplete ? "complete" : "cut short" }

    private static func words(_ body: Body) -> String { ByteComparison.count(body.byteCount) }

    private typealias Fields = (old: HeaderFields, new: HeaderFields)

    private func contents(_ old: Body, _ new: Body, _ fields: Fields) throws -> [FieldChange] {
        if let changes = try self.texts(old, new) { return changes }
        switch (old.content, new.content) {
        case (.file(let one), .file(let other)) where one.sha256 == other.sha256 && one.size == other.size: return []
        case (.json(let one, _), .json(let other, _)):
            guard let one = try? JSONDocument(one), let other = try? JSONDocument(other) else { break }
            return self.json(one.root, other.root)
        case (.form(let one), .form(let other)):
            let hasStructure = (one.fields + other.fields).contains { ["{", "[", "<"].contains($0.value?.first) }
            if hasStructure, let changes = try self.byKind(old, new, fields) { return changes }
            return self.forms(one, other)
        case (.text(let one), .text(let other)) where Self.mayBeXML(one) && Self.mayBeXML(other) && !self.showsAll:
            if let changes = Self.xml(one, other) { return changes }
            return try self.bytes(
                ByteSource(PlaceholderNumbers.leftOut(one)), ByteSource(PlaceholderNumbers.leftOut(other)), at: "body")
        case (.text(let one), .text(let other)) where !self.showsAll:
            if let changes = try self.byKind(old, new, fields) { return changes }
            return try self.bytes(
                ByteSource(PlaceholderNumbers.leftOut(one)), ByteSource(PlaceholderNumbers.leftOut(other)), at: "body")
        case (.multipart(let one), .multipart(let other)): return try self.multipart(one, other)
        case (.grpc(let one), .grpc(let other)): return try self.messages(one, other)
        default: if let changes = try self.byKind(old, new, fields) { return changes }
        }
        let isOfOtherType = if let one = Self.type(old.content), let other = Self.type(new.content) { one != other } else { false }
        return try self.bytes(self.source(old, self.old), self.source(new, self.new), at: "body", drift: isOfOtherType ? .type : .value)
    }

    /// Compares JSON texts value by value, however the cassettes hold them: one text, or one on each line or in each event of a stream. Nil
    /// for others, and if they differ in something else.
    private func texts(_ old: Body, _ new: Body) throws -> [FieldChange]? {
        func texts(_ body: Body, _ reader: BodyReader) throws -> JSONTexts? {
            switch body.content {
            case .json, .text, .lines, .events, .file, .raw: break
            case .empty, .encodedText, .form, .multipart, .grpc, .binary: return nil
            }
            let source = try self.source(body, reader)
            return source.size <= Self.kindLimit ? JSONTexts(try source.load()) : nil
        }
        guard let one = try texts(old, self.old), let other = try texts(new, self.new) else { return nil }
        guard one.isStream || other.isStream else { return self.json(one.documents[0].root, other.documents[0].root) }
        var changes: [FieldChange] = []
        for index in 0..<max(one.documents.count, other.documents.count) {
            guard changes.count < JSONComparison.limit else {
                return changes + [FieldChange("json:", "more than \(JSONComparison.limit) values differ", nil)]
            }
            guard one.documents.indices.contains(index), other.documents.indices.contains(index) else {
                func text(_ texts: JSONTexts) -> String? {
                    texts.documents.indices.contains(index) ? String(decoding: texts.documents[index].root.raw, as: UTF8.self) : nil
                }
                changes.append(FieldChange("json:/\(index)", text(one), text(other)))
                continue
            }
            changes += self.json(one.documents[index].root, other.documents[index].root).map { change in
                var change = change
                change.place = "json:/\(index)" + change.place.dropFirst("json:".count)
                return change
            }
        }
        return changes.isEmpty ? nil : changes
    }

    /// A number for the type of a content; nil if the content is not known.
    private static func type(_ content: BodyContent) -> Int? {
        switch content {
        case .text, .encodedText: 0
        case .json: 1
        case .form: 2
        case .lines: 3
        case .events: 4
        case .multipart: 5
        case .grpc: 6
        case .binary: 7
        case .empty, .file, .raw: nil
        }
    }

    private func json(_ old: JSONValue, _ new: JSONValue) -> [FieldChange] {
        let comparison = JSONComparison(old, new)
        let changes = comparison.changes.filter { self.showsAll || !$0.isOfPlaceholdersAlone }.map { change in
            let isSecret = change.pointer.split(separator: "/").contains { SecretShapes.isSecretName(String($0)) }
            return FieldChange("json:\(change.pointer)", change.old, change.new, isSecret: isSecret, drift: change.drift)
        }
        return changes + (comparison.isCut ? [FieldChange("json:", "more than \(JSONComparison.limit) values differ", nil)] : [])
    }

    private static func mayBeXML(_ text: [UInt8]) -> Bool { text.first { $0 > 32 } == UInt8(ascii: "<") }

    /// Compares elements and attributes; nil if one of the two is not XML. Documents are equal if their Canonical XML is.
    private static func xml(_ old: [UInt8], _ new: [UInt8]) -> [FieldChange]? {
        func facets(_ text: [UInt8]) -> BodyFacets {
            var builder = BodyFacetBuilder(
                rules: .standard, headers: HeaderFields(["Content-Type: application/xml; charset=utf-8"]), url: "")
            text.withUnsafeBytes { builder.push($0) }
            return builder.finish()
        }
        let (one, other) = (facets(old), facets(new))
        guard one.kind == .xml, other.kind == .xml else { return nil }
        return other.differences(fromRecorded: one).map { difference in
            guard case .xml(let path, let new, let old) = difference else { return FieldChange("body", "\(difference)", nil, drift: .type) }
            let isSecret = path.split { $0 == "/" || $0 == "@" || $0 == "[" }.contains { SecretShapes.isSecretName(String($0)) }
            return FieldChange("xml:\(path)", old, new, isSecret: isSecret)
        }
    }

    // MARK: Kinds

    /// A longer body is compared by its bytes.
    private static let kindLimit = 4 << 20

    /// Compares bodies as a replay does, if both are of the same kind and that has places; nil if not.
    private func byKind(_ old: Body, _ new: Body, _ fields: Fields) throws -> [FieldChange]? {
        guard !self.showsAll, let one = try self.facets(old, fields.old, self.old), let other = try self.facets(new, fields.new, self.new),
            one.kind == other.kind
        else { return nil }
        switch one.kind {
        case .json, .jsonLines, .xml, .form, .multipart, .http, .messagePack, .cbor, .amazonFrames: break
        // Sizes and signatures of chunks do not count.
        case .text, .bytes: if one != other || AWSChunks(fields.old) == nil || AWSChunks(fields.new) == nil { return nil }
        case .none, .grpc, .graphQL: return nil
        }
        return other.differences(fromRecorded: one).map { Self.change($0) }
    }

    private func facets(_ body: Body, _ fields: HeaderFields, _ reader: BodyReader) throws -> BodyFacets? {
        let source = try self.source(body, reader)
        guard source.size <= Self.kindLimit else { return nil }
        var headers = HeaderFields()
        if let type = fields.first("content-type") { headers.append(name: "Content-Type", value: type) }
        // Other codings have been removed.
        if AWSChunks(fields) != nil { headers.append(name: "Content-Encoding", value: "aws-chunked") }
        var builder = BodyFacetBuilder(rules: .standard, headers: headers, url: "")
        var bytes = [UInt8](repeating: 0, count: source.size)
        try bytes.withUnsafeMutableBytes { try source.read(at: 0, into: $0) }
        bytes.withUnsafeBytes { builder.push($0) }
        return builder.finish()
    }

    /// - Parameter container: the part or field that contains it, with a bar: `part:meta|`.
    private static func change(_ difference: RequestDifference, in container: String = "") -> FieldChange {
        func change(_ place: String, _ old: String?, _ new: String?) -> FieldChange {
            let isSecret = place.split { "/@[:|".contains($0) }.contains { SecretShapes.isSecretName(String($0)) }
            return FieldChange("\(container)\(place)", old, new, isSecret: isSecret)
        }
        switch difference {
        case .json(let pointer, let new, let old): return change("json:\(pointer)", old, new)
        case .element(let array, let index, let isNew):
            return change("json:\(array)/\(index)", isNew ? nil : "there", isNew ? "there" : nil)
        case .order(let pointer, let moved): return change("json:\(pointer)", "in order", "\(moved) elements moved")
        case .xml(let path, let new, let old): return change("xml:\(path)", old, new)
        case .formField(let name, let new, let old): return change("form:\(name)", old, new)
        case .header(let name, let new, let old): return change("header:\(name)", old, new)
        case .within(let inner, let difference): return self.change(difference, in: "\(container)\(inner)|")
        case .parted(_, let difference): return self.change(difference, in: container)
        default: return FieldChange(container.isEmpty ? "body" : String(container.dropLast()), "\(difference)", nil, drift: .value)
        }
    }

    private func forms(_ old: FormText, _ new: FormText) -> [FieldChange] {
        NamedValues.changes(
            old.fields.map { ($0.name, $0.value ?? "") }, new.fields.map { ($0.name, $0.value ?? "") }, kind: "form:",
            showsAll: self.showsAll)
    }

    // MARK: Messages

    /// Compares messages in order. Those on one side only are shown by their sizes.
    private func messages(_ old: GRPCMessages, _ new: GRPCMessages) throws -> [FieldChange] {
        var changes: [FieldChange] = []
        for index in 0..<max(old.messages.count, new.messages.count) {
            guard changes.count < JSONComparison.limit else {
                return changes + [FieldChange("grpc:", "more than \(JSONComparison.limit) fields differ", nil)]
            }
            let place = "message \(index + 1)"
            let one = index < old.messages.count ? old.messages[index] : nil
            let other = index < new.messages.count ? new.messages[index] : nil
            guard let one, let other else {
                changes.append(
                    FieldChange(
                        place, one.map { ByteComparison.count($0.content.size) }, other.map { ByteComparison.count($0.content.size) }))
                continue
            }
            if self.showsAll, one.after != other.after { changes.append(FieldChange("\(place) after", Self.words(one), Self.words(other))) }
            guard one.content != other.content else { continue }
            changes += try self.message(one, other).map { change in
                var change = change
                change.place = change.place == "body" ? place : "\(place) \(change.place)"
                return change
            }
        }
        if old.rest != new.rest {
            let words = { (rest: [UInt8]) in rest.isEmpty ? nil : "\(ByteComparison.count(rest.count)) of a cut message" }
            changes.append(FieldChange("rest", words(old.rest), words(new.rest)))
        }
        return changes
    }

    private static func words(_ message: GRPCMessage) -> String { message.after.map { "\($0)" } ?? "the client's end" }

    private func message(_ old: GRPCMessage, _ new: GRPCMessage) throws -> [FieldChange] {
        switch (old.content, new.content) {
        case (.proto(let one), .proto(let other)): return ProtoComparison(one, other, showsAll: self.showsAll).changes
        case (.json(let one, _), .json(let other, _)):
            guard let one = try? JSONDocument(one), let other = try? JSONDocument(other) else { break }
            return self.json(one.root, other.root)
        default: break
        }
        let one = try old.decoded { try self.file($0, self.old) }
        let other = try new.decoded { try self.file($0, self.new) }
        return try self.bytes(one, other, at: "body")
    }

    private func file(_ sidecar: Sidecar, _ reader: BodyReader) throws -> ByteSource {
        func source(_ digest: some ContentDigest) throws -> ByteSource { try reader.source(sidecar, digest: digest) }
        return try source(self.digest())
    }

    // MARK: Parts

    private func multipart(_ old: MultipartBody<PartContent>, _ new: MultipartBody<PartContent>) throws -> [FieldChange] {
        var changes: [FieldChange] = []
        for (name, pair) in Self.paired(old.parts, new.parts) {
            let place = "part:\(name)"
            switch pair {
            case (let one?, let other?): changes += try self.part(one, other, place)
            case (let one?, nil): changes.append(FieldChange(place, Self.words(one), nil))
            case (nil, let other?): changes.append(FieldChange(place, nil, Self.words(other)))
            case (nil, nil): break
            }
        }
        return changes
    }

    private typealias Part = MultipartPart<PartContent>

    /// Pairs parts by name, and in order among those with the same name. A part without a name is identified by its number.
    private static func paired(_ old: [Part], _ new: [Part]) -> [(String, (Part?, Part?))] {
        let name = { (part: Part, number: Int) in ContentDisposition(part.headers.fields)?.name ?? "\(number + 1)" }
        var rest: [String: [Part]] = [:]
        for (number, part) in new.enumerated() { rest[name(part, number), default: []].append(part) }
        var pairs: [(String, (Part?, Part?))] = []
        for (number, part) in old.enumerated() {
            let name = name(part, number)
            pairs.append((name, (part, rest[name]?.isEmpty == false ? rest[name]?.removeFirst() : nil)))
        }
        for (number, part) in new.enumerated() {
            let name = name(part, number)
            guard rest[name]?.isEmpty == false, let left = rest[name]?.removeFirst() else { continue }
            pairs.append((name, (nil, left)))
        }
        return pairs
    }

    private static func words(_ part: Part) -> String {
        switch part.content {
        case .data(let data): ByteComparison.count(data.size)
        case .multipart(let inner): "\(inner.parts.count) parts"
        }
    }

    private func part(_ old: Part, _ new: Part, _ place: String) throws -> [FieldChange] {
        var changes = HeaderComparison.changes(old.headers.fields, new.headers.fields, showsAll: true).map { change in
            FieldChange("\(place) \(change.place)", change.old, change.new, drift: change.drift)
        }
        let isSecret = SecretShapes.isSecretName(place)
        switch (old.content, new.content) {
        case (.multipart(let one), .multipart(let other)):
            changes += try self.multipart(one, other).map { FieldChange("\(place) \($0.place)", $0.old, $0.new, drift: $0.drift) }
        case (.data(let one), .data(let other)):
            guard one != other else { break }
            if case .file(let one) = one, case .file(let other) = other, one.sha256 == other.sha256 { break }
            if case .json(let one, _) = one, case .json(let other, _) = other, let one = try? JSONDocument(one),
                let other = try? JSONDocument(other)
            {
                changes += self.json(one.root, other.root).map {
                    FieldChange("\(place) \($0.place)", $0.old, $0.new, isSecret: isSecret, drift: $0.drift)
                }
            } else if let kinds = try self.byKind(
                Body(size: 0, content: one.bodyContent), Body(size: 0, content: other.bodyContent), (old.headers.fields, new.headers.fields)
            ) {
                changes += kinds.map { change in
                    var change = change
                    change.place = change.place == "body" ? place : "\(place) \(change.place)"
                    return change
                }
            } else {
                changes += try self.bytes(
                    self.source(one.bodyContent, self.old), self.source(other.bodyContent, self.new), at: place, isSecret: isSecret)
            }
        default: changes.append(FieldChange(place, Self.words(old), Self.words(new), drift: .type))
        }
        return changes
    }

    // MARK: Bytes

    private func source(_ body: Body, _ reader: BodyReader) throws -> ByteSource { try self.source(body.content, reader) }

    private func source(_ content: BodyContent, _ reader: BodyReader) throws -> ByteSource {
        try BodyRestorer.decoded(
            of: Body(size: 0, content: content), file: { try self.file($0, reader) }, raw: { ByteSource(try reader.read($0)) })
    }

    private func bytes(_ old: ByteSource, _ new: ByteSource, at place: String, isSecret: Bool = false, drift: Drift = .value) throws
        -> [FieldChange]
    {
        guard let difference = try ByteComparison.firstDifference(old, new) else { return [] }
        return [FieldChange(place, difference.old, difference.new, isSecret: isSecret, drift: drift)]
    }
}

/// Finds the first difference between two byte sequences, piece by piece.
enum ByteComparison {
    struct Difference: Sendable, Hashable {
        var offset: Int
        /// The content there for display, as a line of text or as a byte.
        var old: String
        var new: String
    }

    private static let pieceSize = ByteSource.pieceSize
    /// How many bytes of a line are shown, and searched before and after the offset.
    private static let context = 60

    /// `1 byte`, `2 bytes`.
    static func count(_ bytes: Int) -> String { bytes == 1 ? "1 byte" : "\(bytes) bytes" }

    static func firstDifference(_ old: ByteSource, _ new: ByteSource) throws -> Difference? {
        let common = min(old.size, new.size)
        var offset = 0
        let buffers = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * self.pieceSize, alignment: 16)
        defer { buffers.deallocate() }
        while offset < common {
            let count = min(self.pieceSize, common - offset)
            let one = UnsafeMutableRawBufferPointer(rebasing: buffers[..<count])
            let other = UnsafeMutableRawBufferPointer(rebasing: buffers[self.pieceSize..<self.pieceSize + count])
            try old.read(at: offset, into: one)
            try new.read(at: offset, into: other)
            if !UnsafeRawBufferPointer(one).elementsEqualFast(UnsafeRawBufferPointer(other)) {
                var index = 0
                while one[index] == other[index] { index += 1 }
                return try self.difference(old, new, at: offset + index)
            }
            offset += count
        }
        return old.size == new.size ? nil : try self.difference(old, new, at: common)
    }

    private static func difference(_ old: ByteSource, _ new: ByteSource, at offset: Int) throws -> Difference {
        let start = max(0, offset - self.context)
        let (one, other) = (try self.window(old, from: start), try self.window(new, from: start))
        if let one = self.line(one, offset - start), let other = self.line(other, offset - start) {
            return Difference(offset: offset, old: "byte \(offset): \(one)", new: other)
        }
        let byte = { (source: ByteSource, window: [UInt8]) in
            let index = offset - start
            guard index < window.count else { return "ends (\(self.count(source.size)))" }
            return "0x\(Hex.encode([window[index]])) (\(self.count(source.size)))"
        }
        return Difference(offset: offset, old: "byte \(offset): \(byte(old, one))", new: byte(new, other))
    }

    private static func window(_ source: ByteSource, from start: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: max(0, min(2 * self.context, source.size - start)))
        try bytes.withUnsafeMutableBytes { try source.read(at: start, into: $0) }
        return bytes
    }

    /// The line around an index, if the window is text.
    private static func line(_ window: [UInt8], _ index: Int) -> String? {
        guard !window.contains(where: { $0 < 32 && $0 != 9 && $0 != 10 && $0 != 13 }) else { return nil }
        let place = min(index, window.count)
        let start = window[..<place].lastIndex(of: 10).map { $0 + 1 } ?? 0
        let end = window[place...].firstIndex(of: 10) ?? window.count
        // The window may begin or end within a character.
        var bytes = window[start..<end].drop { $0 & 0xC0 == 0x80 }
        for _ in 0..<3 where !UTF8Validator.isValid(Array(bytes)) { bytes = bytes.dropLast() }
        guard UTF8Validator.isValid(Array(bytes)) else { return nil }
        let line = bytes.last == 13 ? bytes.dropLast() : bytes
        return "\"\(String(decoding: line, as: UTF8.self))\""
    }
}
