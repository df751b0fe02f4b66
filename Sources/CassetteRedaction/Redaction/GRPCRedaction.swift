internal import CassetteFormat
public import CassetteModel
internal import TapeBytes

/// Removes the secrets from the messages of a body of gRPC, gRPC-Web or Connect: decodes each message, redacts its content, and encodes it again with its new
/// length.
///
/// Works on bodies in memory. A message that was cut still lacks the same number of bytes afterwards.
struct GRPCRedaction {
    let content: ContentRedaction
    let framing: MessageFraming
    /// Names of fields, if there are any.
    var schema = GRPCSchema()

    /// The largest decoded message that is held in memory: the default limit of gRPC libraries.
    static let messageLimit = 4 << 20
    /// How many fields of a body's messages are examined one by one: as many as a cassette shows.
    private static let fieldLimit = 65_536

    /// Nil for other bodies.
    init?(_ content: ContentRedaction, headers: HeaderFields, schema: GRPCSchema = GRPCSchema()) {
        guard let framing = MessageFraming(headers) else { return nil }
        self.content = content
        self.framing = framing
        self.schema = schema
    }

    /// The changes to one or several messages.
    struct Result {
        var edits: [Edit] = []
        /// How many placeholders were inserted.
        var count = 0
    }

    /// - Parameter first: the number of the first message in its body, from 0.
    func redacted(_ body: UnsafeRawBufferPointer, from first: Int = 0, isComplete: Bool, notes: inout [String]) -> Result {
        var result = Result()
        var offset = 0
        var index = first
        var parser = ProtoParser(fields: Self.fieldLimit)
        while body.count - offset >= GRPCMessage.prefixSize, self.framing.takes(body[offset]) {
            let start = offset + GRPCMessage.prefixSize
            let length = (offset + 1..<start).reduce(0) { $0 << 8 | Int(body[$1]) }
            guard length <= body.count - start else { break }
            guard self.content.text.mayGoOn(SearchBudget.costOfText) else { return result }
            let payload = UnsafeRawBufferPointer(rebasing: body[start..<start + length])
            let message = Message(
                bytes: payload, isCompressed: body[offset] & 1 != 0, isEnd: self.framing.isEnd(body[offset]), index: index)
            if let new = self.redacted(message, &parser, isComplete: isComplete, notes: &notes) {
                result.count += new.count
                result.edits += Self.edits(from: message, to: new, flags: body[offset], at: offset)
            }
            offset = start + length
            index += 1
        }
        let rest = self.redacted(rest: body[offset...], index, &parser)
        result.edits += rest.edits
        result.count += rest.count
        return result
    }

    // MARK: A message

    struct Message {
        var bytes: UnsafeRawBufferPointer
        var isCompressed: Bool
        /// A last one, in text.
        var isEnd = false
        /// The index in its body, from 0.
        var index: Int
    }

    struct NewMessage {
        var bytes: [UInt8]
        var isCompressed: Bool
        var count: Int

        /// - Parameter flags: those of the old message.
        static func prefix(_ flags: UInt8 = 0, isCompressed: Bool, length: Int) -> [UInt8] {
            [flags & ~1 | (isCompressed ? 1 : 0)] + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) }
        }
    }

    /// Nil if there is nothing to redact.
    func redacted(_ message: Message, isComplete: Bool, notes: inout [String]) -> NewMessage? {
        var parser = ProtoParser(fields: Self.fieldLimit)
        return self.redacted(message, &parser, isComplete: isComplete, notes: &notes)
    }

    private func redacted(_ message: Message, _ parser: inout ProtoParser, isComplete: Bool, notes: inout [String]) -> NewMessage? {
        guard message.isCompressed else {
            return self.redacted(content: message.bytes, message, &parser)
                .map { NewMessage(bytes: $0.bytes, isCompressed: false, count: $0.count) }
        }
        guard !message.bytes.isEmpty else { return nil }
        func note(_ text: String) {
            if !notes.contains(text) { notes.append(text) }
        }
        guard let name = self.framing.coding.flatMap(ContentEncoding.Name.init(rawValue:)), name.isSupported,
            let chain = DecoderChain([name], limits: InflateLimits())
        else {
            note("not searched for secrets behind the message coding \"\(VisibleCoding.text(self.framing.coding))\"")
            return self.opaque(message)
        }
        chain.meter = self.content.text.budget?.meter(coded: message.bytes.count)
        var decoded: [UInt8] = []
        let isWhole: Bool
        do {
            isWhole = try chain.push(message.bytes) { decoded.append(contentsOf: $0) } && chain.finish()
        } catch {
            // The budget is spent, so none of the result is used.
            return nil
        }
        if let kind = chain.problem?.problem.kind, kind == .tooLong || kind == .tooDense {
            note("message \(message.index + 1) is left out: too long to be searched for secrets")
            return NewMessage(bytes: [], isCompressed: false, count: 1)
        }
        guard isWhole, let layer = chain.found.first, layer.leftOver == 0 else {
            note("message \(message.index + 1) is not searched for secrets: its coding \"\(name.rawValue)\" is not what it claims")
            return self.opaque(message)
        }
        guard let new = decoded.withUnsafeBytes({ self.redacted(content: $0, message, &parser) }) else { return nil }
        var coded: [UInt8] = []
        do {
            let encoder = try EncoderChain([layer.coding(nil)])
            try new.bytes.withUnsafeBytes { try encoder.push($0) { coded.append(contentsOf: $0) } }
            try encoder.finish { coded.append(contentsOf: $0) }
        } catch {
            // As with bodies, a message that contains secrets must not be kept just because memory ran out.
            note("message \(message.index + 1) is left out: its coding could not be put on again")
            return NewMessage(bytes: [], isCompressed: false, count: new.count)
        }
        return NewMessage(bytes: coded, isCompressed: true, count: new.count)
    }

    /// Handles bytes in a coding that cannot be removed.
    private func opaque(_ message: Message) -> NewMessage? {
        let edits = self.content.text.edits(in: message.bytes, as: .binary)
        return edits.isEmpty ? nil : NewMessage(bytes: edits.applied(to: message.bytes), isCompressed: true, count: edits.count)
    }

    private func redacted(
        content: UnsafeRawBufferPointer, _ message: Message, _ parser: inout ProtoParser
    ) -> (bytes: [UInt8], count: Int)? {
        if message.isEnd { return Self.applied(self.content.edits(inText: content[...], .plain), to: content) }
        return self.redacted(content: content, message.index, &parser)
    }

    private static let json = HeaderFields(["content-type: application/json"])

    private func redacted(content: UnsafeRawBufferPointer, _ index: Int, _ parser: inout ProtoParser) -> (bytes: [UInt8], count: Int)? {
        switch self.framing.type {
        case .json: return Self.applied(self.content.edits(in: content, headers: Self.json).edits, to: content)
        case .other:
            return Self.applied(self.content.edits(inText: content[...], ReadableText.isReadable(content) ? .plain : .binary), to: content)
        case .proto:
            guard var tree = parser.parse(Array(content)) else {
                return Self.applied(self.content.edits(inText: content[...], .binary), to: content)
            }
            self.schema.name(&tree, index)
            return self.redacted(tree, content)
        }
    }

    private func redacted(_ tree: ProtoMessage, _ content: UnsafeRawBufferPointer) -> (bytes: [UInt8], count: Int)? {
        var redaction = ProtoRedaction(text: self.content.text)
        let redacted = redaction.redacted(tree)?.bytes
        // Without a schema, the content of a field is a guess. A known secret must not survive a wrong guess.
        let left = (redacted ?? Array(content)).withUnsafeBytes { self.content.text.editsOfKnown(in: $0) }
        guard redacted != nil || !left.isEmpty else { return nil }
        return (left.applied(to: redacted ?? Array(content)), redaction.count + left.count)
    }

    private static func applied(_ edits: [Edit], to content: UnsafeRawBufferPointer) -> (bytes: [UInt8], count: Int)? {
        let list = EditList(edits)
        return list.isEmpty ? nil : (list.applied(to: content), list.count)
    }

    /// Makes each edit no larger than the change, so that the recorded arrival of a long message is preserved.
    private static func edits(from old: Message, to new: NewMessage, flags: UInt8, at offset: Int) -> [Edit] {
        var edits: [Edit] = []
        let start = offset + GRPCMessage.prefixSize
        if new.bytes.count != old.bytes.count || new.isCompressed != old.isCompressed {
            let prefix = NewMessage.prefix(flags, isCompressed: new.isCompressed, length: new.bytes.count)
            edits.append(Edit(range: offset..<start, bytes: prefix))
        }
        let shorter = min(old.bytes.count, new.bytes.count)
        var (before, after) = (0, 0)
        while before < shorter, old.bytes[before] == new.bytes[before] { before += 1 }
        while after < shorter - before, old.bytes[old.bytes.count - 1 - after] == new.bytes[new.bytes.count - 1 - after] { after += 1 }
        edits.append(
            Edit(range: start + before..<start + old.bytes.count - after, bytes: Array(new.bytes[before..<new.bytes.count - after])))
        return edits
    }

    // MARK: A cut message

    /// The bytes after the last complete message. Their prefix contains the length of the whole message.
    private func redacted(rest: Slice<UnsafeRawBufferPointer>, _ index: Int, _ parser: inout ProtoParser) -> Result {
        guard !rest.isEmpty else { return Result() }
        let start = rest.startIndex + GRPCMessage.prefixSize
        var result = Result()
        var tail = rest
        if rest.count > GRPCMessage.prefixSize, rest[rest.startIndex] == 0, self.framing.type == .proto {
            let payload = UnsafeRawBufferPointer(rebasing: rest[start...])
            let whole = UnsafeRawBufferPointer(rebasing: payload[..<WholeFields.end(in: payload)])
            if let new = self.redacted(content: whole, index, &parser) {
                let length = (rest.startIndex + 1..<start).reduce(0) { $0 << 8 | Int(rest[$1]) }
                let prefix = NewMessage.prefix(isCompressed: false, length: max(0, length + new.bytes.count - whole.count))
                result.edits = [
                    Edit(range: rest.startIndex..<start, bytes: prefix), Edit(range: start..<start + whole.count, bytes: new.bytes),
                ]
                result.count = new.count
            }
            // A tag and a length before a token could be mistaken for a part of it.
            tail = rest[(start + WholeFields.startOfCut(in: payload, from: whole.count))...]
        }
        let edits = self.content.edits(inText: tail, .binary)
        result.edits += edits
        result.count += edits.count
        return result
    }
}

/// The complete fields at the beginning of a message.
private enum WholeFields {
    /// The end of the last complete field.
    static func end(in bytes: UnsafeRawBufferPointer) -> Int {
        var end = 0
        while let next = self.endOfField(in: bytes, from: end) { end = next }
        return end
    }

    /// The beginning of the value of the next field, which was cut; without a value, the beginning of the field.
    static func startOfCut(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        guard let (tag, length) = self.varint(bytes, start), tag & 7 == 2, let (_, value) = self.varint(bytes, length) else { return start }
        return value
    }

    private static func endOfField(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard let (tag, value) = self.varint(bytes, start) else { return nil }
        let end: Int
        switch tag & 7 {
        case 0:
            guard let (_, next) = self.varint(bytes, value) else { return nil }
            end = next
        case 1: end = value + 8
        case 2:
            guard let (length, next) = self.varint(bytes, value), length <= UInt64(bytes.count - next) else { return nil }
            end = next + Int(length)
        case 5: end = value + 4
        default: return nil
        }
        return end <= bytes.count ? end : nil
    }

    private static func varint(_ bytes: UnsafeRawBufferPointer, _ start: Int) -> (value: UInt64, end: Int)? {
        var value: UInt64 = 0
        for index in 0..<10 where start + index < bytes.count {
            let byte = bytes[start + index]
            value |= UInt64(byte & 0x7F) << UInt64(7 * index)
            if byte < 0x80 { return (value, start + index + 1) }
        }
        return nil
    }
}

/// The name of a coding in a note, limited to visible characters for the sake of terminals.
private enum VisibleCoding {
    static func text(_ coding: String?) -> String {
        guard let coding else { return "unnamed" }
        return String(decoding: coding.utf8.filter { $0 > 32 && $0 < 127 }.prefix(64), as: UTF8.self)
    }
}

/// The knowledge about the messages of a body: the names and types of their fields.
public struct GRPCSchema: Sendable {
    /// Messages of the same body with names, as in a cassette.
    private var recorded: [ProtoMessage?] = []
    /// The type of all messages; nil if it is unknown.
    private let type: ProtoType?

    public init(_ type: ProtoType? = nil) { self.type = type }

    /// - Parameter body: a recorded body, whose names are used if there is no type.
    package init(_ body: Body?, _ type: ProtoType?) {
        self.type = type
        guard case .grpc(let messages) = body?.content else { return }
        self.recorded = messages.messages.map { if case .proto(let message) = $0.content { message } else { nil } }
    }

    /// - Parameter index: the index of the message in its body, from 0.
    func name(_ message: inout ProtoMessage, _ index: Int) {
        if let type = self.type { return message = message.named(type) }
        guard index < self.recorded.count, let recorded = self.recorded[index] else { return }
        message.takeLabels(from: recorded)
    }
}
