package import CassetteModel
package import CassetteStore
internal import CassettePlayback
package import TapeBytes

/// Compares the uploads of two exchanges, part by part and byte by byte: why does one work and the other does not?
///
/// Boundaries are random, so a part is compared with the part that has its name, wherever it is. Reads each body several times, and keeps a
/// few bytes around each difference.
package struct UploadComparison {
    /// One of the two exchanges.
    package struct Side {
        package var interaction: Interaction
        package var reader: BodyReader

        package init(_ interaction: Interaction, reader: BodyReader) {
            self.interaction = interaction
            self.reader = reader
        }
    }

    /// Where a section of a part differs.
    package struct Bytes {
        /// `header section` or `data`.
        package var what: String
        /// The first byte that differs, from the start of the section.
        package var offset: Int
        package var left: Window
        package var right: Window
    }

    /// The bytes around a difference on one side.
    package struct Window {
        /// The offset of the first byte in the body.
        package var start: Int
        package var bytes: [UInt8]
        /// Those of them that the other side does not have there.
        package var differing: Range<Int>
        /// How many differing bytes there are, shown or not.
        package var count: Int
    }

    /// Two parts with one name, or a part that only one side has.
    package struct Pair {
        package var left: BodyPart?
        package var right: BodyPart?
        package var changes: [FieldChange] = []
        package var bytes: [Bytes] = []

        package var isSame: Bool { self.left != nil && self.right != nil && self.changes.isEmpty && self.bytes.isEmpty }
    }

    /// Differences of the requests themselves, such as of their Content-Type.
    package private(set) var message: [FieldChange] = []
    package private(set) var pairs: [Pair] = []
    /// The defects of each upload.
    package private(set) var findings: (left: [BodyLint.Finding], right: [BodyLint.Finding]) = ([], [])

    package var differs: Bool { !self.message.isEmpty || self.pairs.contains { !$0.isSame } }

    /// How many bytes are shown around a difference.
    private static let shown = 96
    private static let before = 16
    private static let piece = 64 << 10

    /// - Throws: `InspectError` if a request has no body.
    package init(_ left: Side, _ right: Side) throws {
        let (one, other) = (try Upload(left, name: "first"), try Upload(right, name: "second"))
        self.findings = (one.findings, other.findings)
        self.compareMessages(left.interaction.request, right.interaction.request, one, other)
        guard let parts = one.parts, let others = other.parts else {
            try self.compareWhole(one, other)
            return
        }
        let pairs = Self.paired(parts.all, others.all)
        for (left, right) in pairs { self.pairs.append(try Self.compare(left, right, one, other)) }
        let (before, after) = (Self.order(pairs.compactMap { $1 == nil ? nil : $0 }), Self.order(Self.common(others.all, pairs)))
        if before != after {
            self.message.append(FieldChange("order of the parts", before.joined(separator: ", "), after.joined(separator: ", ")))
        }
    }

    // MARK: The requests

    private mutating func compareMessages(_ left: RecordedRequest, _ right: RecordedRequest, _ one: Upload, _ other: Upload) {
        func note(_ place: String, _ left: String?, _ right: String?) {
            if left != right { self.message.append(FieldChange(place, left, right)) }
        }
        note("method", left.method, right.method)
        note("url", URLPieces(left.url).base, URLPieces(right.url).base)
        // The boundary is random, and is compared on its own.
        note("header:content-type", one.type, other.type)
        for name in ["Content-Encoding", "Transfer-Encoding", "Expect"] {
            note("header:\(name.lowercased())", Self.value(name, left.headers), Self.value(name, right.headers))
        }
        if (Self.value("Content-Length", left.headers) == nil) != (Self.value("Content-Length", right.headers) == nil) {
            note("header:content-length", Self.value("Content-Length", left.headers), Self.value("Content-Length", right.headers))
        }
        note("boundary in the Content-Type", one.declares, other.declares)
        note("line ends", one.framing?.lineEnds, other.framing?.lineEnds)
        note(
            "closing delimiter", one.framing.map { $0.isClosed ? "there" : "missing" },
            other.framing.map { $0.isClosed ? "there" : "missing" })
        note("bytes before the first part", one.framing.map { "\($0.preamble)" }, other.framing.map { "\($0.preamble)" })
        note("bytes after the last part", one.framing.map { "\($0.epilogue)" }, other.framing.map { "\($0.epilogue)" })
        if one.parts == nil || other.parts == nil {
            note("body", one.parts == nil ? "not multipart" : "multipart", other.parts == nil ? "not multipart" : "multipart")
        }
    }

    private static func value(_ name: String, _ headers: HeaderFields) -> String? {
        for index in 0..<headers.count where headers.name(at: index).lowercased() == name.lowercased() {
            return String(decoding: headers.valueBytes(at: index), as: UTF8.self)
        }
        return nil
    }

    /// Bodies of which one has no parts.
    private mutating func compareWhole(_ one: Upload, _ other: Upload) throws {
        guard
            let bytes = try Self.difference(
                "data", one.contents, 0..<one.contents.size, other.contents, 0..<other.contents.size)
        else { return }
        self.pairs = [
            Pair(
                changes: [FieldChange("size", "\(one.contents.size)", "\(other.contents.size)")].filter { $0.old != $0.new }, bytes: [bytes]
            )
        ]
    }

    // MARK: Parts

    /// Pairs parts by name, and in order among those with the same name. Of the rest, files go with files: a wrong name is the most frequent
    /// mistake. Parts in the order of the left side, then those that only the right side has.
    private static func paired(_ left: [BodyPart], _ right: [BodyPart]) -> [(BodyPart?, BodyPart?)] {
        var rest = right
        var pairs: [(BodyPart?, BodyPart?)] = left.map { part in
            guard
                let place = rest.firstIndex(where: {
                    $0.name == part.name && (part.name != nil || $0.label == part.label) && $0.isMultipart == part.isMultipart
                        && Self.depth($0) == Self.depth(part)
                })
            else { return (part, nil) }
            return (part, rest.remove(at: place))
        }
        for index in pairs.indices where pairs[index].1 == nil {
            guard let part = pairs[index].0,
                let place = rest.firstIndex(where: {
                    ($0.filename != nil) == (part.filename != nil) && $0.isMultipart == part.isMultipart
                        && Self.depth($0) == Self.depth(part)
                })
            else { continue }
            pairs[index].1 = rest.remove(at: place)
        }
        return pairs + rest.map { (nil, $0) }
    }

    private static func depth(_ part: BodyPart) -> Int { part.label.count { $0 == "." } }

    /// The parts of the left side that have a partner, in the order of their partners.
    private static func common(_ right: [BodyPart], _ pairs: [(BodyPart?, BodyPart?)]) -> [BodyPart] {
        right.compactMap { part in pairs.first { $0.0 != nil && $0.1?.label == part.label }?.0 }
    }

    private static func order(_ parts: [BodyPart?]) -> [String] { parts.compactMap { $0.map { $0.name ?? $0.label } } }

    private static func compare(_ left: BodyPart?, _ right: BodyPart?, _ one: Upload, _ other: Upload) throws -> Pair {
        var pair = Pair(left: left, right: right)
        guard let left, let right else { return pair }
        if let bytes = try self.difference("header section", one.contents, left.head, other.contents, right.head) {
            pair.changes += self.fields(left.fields, right.fields)
            if pair.changes.isEmpty { pair.changes.append(FieldChange("header section", "the same fields", "written differently")) }
            pair.bytes.append(bytes)
        }
        guard !left.isMultipart else { return pair }
        if let bytes = try self.difference("data", one.contents, left.data, other.contents, right.data) {
            if left.data.count != right.data.count {
                pair.changes.append(FieldChange("size", "\(left.data.count)", "\(right.data.count)"))
            }
            pair.bytes.append(bytes)
        }
        return pair
    }

    /// Fields by name, ignoring its case.
    private static func fields(_ left: HeaderFields, _ right: HeaderFields) -> [FieldChange] {
        func values(_ fields: HeaderFields) -> [(name: String, value: String)] {
            (0..<fields.count).map { (fields.name(at: $0), String(decoding: fields.valueBytes(at: $0), as: UTF8.self)) }
        }
        var rest = values(right)
        var changes: [FieldChange] = []
        for (name, value) in values(left) {
            guard let place = rest.firstIndex(where: { $0.name.lowercased() == name.lowercased() }) else {
                changes.append(FieldChange("header:\(name.lowercased())", value, nil))
                continue
            }
            let other = rest.remove(at: place)
            if other.value != value { changes.append(FieldChange("header:\(name.lowercased())", value, other.value)) }
        }
        return changes + rest.map { FieldChange("header:\($0.name.lowercased())", nil, $0.value) }
    }

    // MARK: Bytes

    /// Nil if the ranges have the same bytes.
    private static func difference(
        _ what: String, _ left: BodyContents, _ one: Range<Int>, _ right: BodyContents, _ other: Range<Int>
    ) throws -> Bytes? {
        let shorter = min(one.count, other.count)
        var start = 0
        while start < shorter {
            let count = min(self.piece, shorter - start)
            let (mine, yours) = (
                try left.part(one.lowerBound + start..<one.lowerBound + start + count).prefix(count),
                try right.part(other.lowerBound + start..<other.lowerBound + start + count).prefix(count)
            )
            guard mine == yours else {
                start += zip(mine, yours).prefix { $0 == $1 }.count
                break
            }
            start += count
        }
        guard start < one.count || start < other.count else { return nil }
        var end = 0
        let most = shorter - start
        while end < most {
            let count = min(self.piece, most - end)
            let (mine, yours) = (
                try left.part(one.upperBound - end - count..<one.upperBound - end).prefix(count),
                try right.part(other.upperBound - end - count..<other.upperBound - end).prefix(count)
            )
            guard mine == yours else {
                end += zip(mine.reversed(), yours.reversed()).prefix { $0 == $1 }.count
                break
            }
            end += count
        }
        return Bytes(
            what: what, offset: start,
            left: try self.window(left, one.lowerBound + start..<one.upperBound - end),
            right: try self.window(right, other.lowerBound + start..<other.upperBound - end))
    }

    private static func window(_ contents: BodyContents, _ range: Range<Int>) throws -> Window {
        let start = max(0, range.lowerBound - self.before)
        let bytes = try contents.part(start..<min(contents.size, start + self.shown)).prefix(self.shown)
        let differing = range.lowerBound - start..<min(bytes.count, range.upperBound - start)
        return Window(start: start, bytes: bytes, differing: differing, count: range.count)
    }
}

/// One upload, with its parts.
private struct Upload {
    let contents: BodyContents
    let parts: BodyParts?
    let findings: [BodyLint.Finding]
    /// The Content-Type without its boundary; nil if there is none.
    let type: String?
    /// Whether the Content-Type has a boundary; nil if the body is not multipart.
    let declares: String?
    var framing: BodyParts.Framing? { self.parts?.framing }

    init(_ side: UploadComparison.Side, name: String) throws {
        let request = side.interaction.request
        guard let body = request.body, body.byteCount > 0 else {
            throw InspectError(.noBody, "the \(name) exchange sends no body: choose one that does")
        }
        self.contents = try BodyContents(body, headers: request.headers, reader: side.reader, readsBroken: true).forRandomAccess()
        self.parts = try BodyParts(self.contents, headers: request.headers)
        self.findings =
            try BodyLint(self.contents, headers: request.headers, BodyLint.Context(side: .request, body: body))?.findings ?? []
        let value = request.headers.first("content-type")
        self.type = value.map(Self.withoutBoundary)
        self.declares = self.parts == nil ? nil : MultipartType(request.headers)?.boundary == nil ? "missing" : "there"
    }

    /// The value with dots in place of a random boundary.
    private static func withoutBoundary(_ value: String) -> String {
        guard let start = value.lowercased().firstRange(of: "boundary=") else { return value }
        let place = value.index(
            value.startIndex, offsetBy: value.lowercased().distance(from: value.lowercased().startIndex, to: start.upperBound))
        let rest = value[place...]
        let isQuoted = rest.first == "\""
        let end =
            isQuoted
            ? rest.dropFirst().firstIndex(of: "\"").map { value.index(after: $0) } ?? value.endIndex
            : rest.firstIndex { $0 == ";" || $0 == " " } ?? value.endIndex
        return value[..<place] + (isQuoted ? "\"…\"" : "…") + value[end...]
    }
}
