internal import CassetteFormat
public import CassetteModel
internal import CassetteRedaction
internal import CassetteStore
public import TapeBytes

/// Merges several cassettes into one: sorts exchanges by their start, renumbers them, and copies the bodies in files.
///
/// An exchange that is in several cassettes, as in copies of one recording, is written once. Writes to a temporary file, and renames it
/// when everything is on disk; the final name must be free. Holds one exchange in memory, or those that started at the same instant.
public struct CassetteMerger {
    private let inputs: [CassetteReader]
    private let digest: () -> any ContentDigest

    /// - Throws: if an input is not a cassette, or is torn: the lost exchanges would be missing from the new cassette.
    public init(_ paths: [String], digest: @escaping () -> any ContentDigest = { PortableSHA256() }) throws(CassetteError) {
        var inputs: [CassetteReader] = []
        for path in paths {
            let reader = try CassetteReader(path: path)
            if let damage = reader.damage {
                throw CassetteError(.damaged, "\(damage.summary): repair it with \"wiretape decode \(path)\" first.")
            }
            guard try OpenConversations(of: path).missing(in: reader).isEmpty else {
                throw CassetteError(
                    .damaged,
                    "\"\(path)\" has exchanges whose recording has not ended: end its recorder, or add them to it with \"wiretape decode "
                        + "\(path)\" first.")
            }
            inputs.append(reader)
        }
        self.inputs = inputs
        self.digest = digest
    }

    /// How many exchanges a merge has handled.
    public struct Count: Sendable, Hashable {
        public var written = 0
        /// Copies of exchanges that were written from another cassette.
        public var left = 0
        /// Placeholders in exchanges of more than one cassette, such as `{{token:1}}`, sorted. Each recording numbers its secrets itself, so
        /// they may have replaced different secrets.
        public var sharedPlaceholders: [String] = []
    }

    public func write(
        to path: String, recorder: String, progress: (_ done: Int, _ of: Int) -> Void = { _, _ in }
    ) throws(CassetteError) -> Count {
        guard !CassettePlace.exists(path) else {
            throw CassetteError(.unwritable, "\"\(path)\" already exists, and \"wiretape merge\" never replaces a file: name a new one.")
        }
        try CassettePlace.checkName(path)
        let members = try CassetteHeadMembers.merged(self.inputs)
        let temporary = try CassettePlace.stagedPath(of: path, by: .merge)
        let appender = try CassetteAppender.create(temporary, recorder: recorder, members: members)
        CassettePlace.withhold(temporary, fromAnyOf: self.inputs.map(\.path))
        do {
            let store = try BodyStore(cassettePath: path, model: temporary, disk: .system)
            let count = try self.append(to: appender, store, progress)
            try store.syncAll()
            try appender.sync()
            try CassettePlace.take(path, with: temporary)
            return count
        } catch {
            try? CassettePlace.remove(temporary)
            // Removes copied bodies that nothing refers to.
            if !CassettePlace.exists(path), let store = try? BodyStore(cassettePath: path) {
                _ = try? CassetteReferences(familyOf: path, mayBeMissing: true).tidy(store)
                CassettePlace.removeEmptyBodies(of: path)
            }
            throw error as? CassetteError
                ?? CassetteError(.unwritable, "\"\(path)\" could not be written (\(error)): try another disk.", cause: error)
        }
    }

    /// The placeholders that have the same place in copies of one exchange. They stand for the same secrets, also if a former merge has
    /// given those of one cassette other numbers.
    public func commonPlaceholders() throws -> CommonPlaceholders {
        let order = try self.order()
        let readers = self.inputs.map { BodyReader(cassettePath: $0.path) }
        var common = CommonPlaceholders()
        // Each with the inputs in which its copies were found: an exchange of one input has at most one copy in another.
        var instant: [(input: Int, sketch: PlaceholderSketch, copies: Set<Int>)] = []
        for (place, origin) in order.enumerated() {
            if place > 0, order[place - 1].started != origin.started { instant = [] }
            let isAlone =
                (place == 0 || order[place - 1].started != origin.started)
                && (place + 1 == order.count || order[place + 1].started != origin.started)
            guard !isAlone else { continue }
            let interaction = try self.inputs[origin.input].interaction(at: origin.position)
            let sketch = PlaceholderSketch(MergedInstant.comparable(interaction), of: interaction, readers[origin.input], self.digest)
            var met: Set<Int> = [origin.input]
            for index in instant.indices where instant[index].sketch.text == sketch.text && !instant[index].copies.contains(origin.input) {
                let other = instant[index]
                guard met.insert(other.input).inserted else { continue }
                instant[index].copies.insert(origin.input)
                common.add(sketch.numbers, of: origin.input, equalTo: other.sketch.numbers, of: other.input)
            }
            instant.append((origin.input, sketch, []))
        }
        return common
    }

    private func append(
        to appender: CassetteAppender, _ store: BodyStore, _ progress: (_ done: Int, _ of: Int) -> Void
    ) throws -> Count {
        let order = try self.order()
        let copiers = self.inputs.map { BodyCopier(from: $0.path, to: store, digest: self.digest) }
        var connections = ConnectionNumbers()
        var writer = JSONWriter()
        var count = Count()
        var instant = MergedInstant()
        var placeholders = MergedPlaceholders()
        for (place, origin) in order.enumerated() {
            progress(place, order.count)
            let reader = self.inputs[origin.input]
            var interaction = try reader.interaction(at: origin.position)
            // Most instants have one exchange, which need not be compared.
            let isAlone =
                (place == 0 || order[place - 1].started != origin.started)
                && (place + 1 == order.count || order[place + 1].started != origin.started)
            guard isAlone || !instant.isCopy(interaction, input: origin.input) else {
                count.left += 1
                continue
            }
            count.written += 1
            interaction.id = count.written
            if let body = interaction.request.body { interaction.request.body = try copiers[origin.input].copy(body) }
            if let body = interaction.response?.body { interaction.response?.body = try copiers[origin.input].copy(body) }
            interaction.webSocket = try interaction.webSocket.map { try copiers[origin.input].copy($0) }
            if let connection = interaction.connection {
                interaction.connection?.id = connections.number(of: connection, input: origin.input)
            }
            writer.removeAll()
            InteractionEncoder.encode(interaction, into: &writer)
            try appender.append([writer.bytes])
            placeholders.add(writer.bytes, input: origin.input)
        }
        progress(order.count, order.count)
        count.sharedPlaceholders = placeholders.shared.map(\.description).sorted()
        return count
    }

    /// Sorted by start; exchanges of the same instant are in the order of the inputs.
    private func order() throws(CassetteError) -> [(started: Timestamp, input: Int, position: Int)] {
        var starts: [(started: Timestamp, input: Int, position: Int)] = []
        for (input, reader) in self.inputs.enumerated() {
            for position in 0..<reader.count {
                let summary = try reader.bytes(at: position).withUnsafeBytes { InteractionSummaryReader.read($0) }
                guard let summary else {
                    throw CassetteError(
                        .damaged,
                        "\"\(reader.path)\" line \(try reader.line(at: position)): an interaction lacks its id, start, method or url: correct it or restore the file."
                    )
                }
                starts.append((summary.started, input, position))
            }
        }
        starts.sort { ($0.started, $0.input, $0.position) < ($1.started, $1.input, $1.position) }
        return starts
    }
}

/// Finds copies among the exchanges that started at one instant.
private struct MergedInstant {
    private var started: Timestamp?
    /// The exchanges to write, and the inputs that contain each of them.
    private var kept: [(interaction: Interaction, inputs: Set<Int>)] = []

    /// Whether another input contains the same exchange. Each exchange of one input has at most one copy in another.
    mutating func isCopy(_ interaction: Interaction, input: Int) -> Bool {
        if self.started != interaction.started {
            self.started = interaction.started
            self.kept = []
        }
        let comparable = Self.comparable(interaction)
        if let index = self.kept.firstIndex(where: { $0.interaction == comparable && !$0.inputs.contains(input) }) {
            self.kept[index].inputs.insert(input)
            return true
        }
        self.kept.append((comparable, [input]))
        return false
    }

    /// Without numbers and filenames that are specific to a cassette; a file is compared by its digest.
    static func comparable(_ interaction: Interaction) -> Interaction {
        var interaction = interaction
        interaction.id = 0
        interaction.connection?.id = 0
        interaction.request.body = interaction.request.body.map(self.comparable)
        if let body = interaction.response?.body { interaction.response?.body = self.comparable(body) }
        switch interaction.webSocket {
        case .file(let sidecar, let count): interaction.webSocket = .file(self.comparable(sidecar), count: count)
        case .inline(let messages): interaction.webSocket = .inline(messages.map { $0.mapFile(self.comparable) })
        case nil: break
        }
        return interaction
    }

    private static func comparable(_ body: Body) -> Body {
        var body = body
        body.original = body.original.map(self.comparable)
        switch body.content {
        case .file(let sidecar): body.content = .file(self.comparable(sidecar))
        case .multipart(let parts):
            body.content = .multipart(
                parts.mapData { content in
                    guard case .file(let sidecar) = content else { return content }
                    return .file(self.comparable(sidecar))
                })
        case .grpc(let messages): body.content = .grpc(messages.mapFiles(self.comparable))
        case .raw(let slice): body.content = .raw(RawSlice(path: "", offset: 0, size: slice.size, crc32: slice.crc32))
        case .empty, .text, .encodedText, .json, .form, .lines, .events, .binary: break
        }
        return body
    }

    private static func comparable(_ sidecar: Sidecar) -> Sidecar { Sidecar(path: "", size: sidecar.size, sha256: sidecar.sha256) }
}

/// Finds placeholders that occur in the exchanges of several cassettes. Bodies in files are not read.
private struct MergedPlaceholders {
    /// The cassette in which each was seen first.
    private var inputs: [Placeholder: Int] = [:]
    private(set) var shared: Set<Placeholder> = []

    mutating func add(_ interaction: [UInt8], input: Int) {
        PlaceholderTally.forEach(in: interaction) { placeholder in
            let first = self.inputs[placeholder] ?? input
            self.inputs[placeholder] = first
            if first != input { self.shared.insert(placeholder) }
        }
    }
}

/// The members of a cassette's document other than its interactions, such as match rules.
enum CassetteHeadMembers {
    /// Written by the appender of the new cassette.
    private static let own: Set<String> = ["wiretape", "recorder", "interactions"]

    /// The members before and after the interactions, each with its text.
    static func read(_ reader: CassetteReader) throws(CassetteError) -> [UnknownMember] {
        let tail = try reader.tail()
        let text = try reader.head() + (tail.isEmpty ? Array("]}".utf8) : tail)
        do {
            let document = try JSONDocument(text)
            return document.root.members.compactMap { member in
                guard let name = member.name.string, !self.own.contains(name) else { return nil }
                return UnknownMember(name: name, json: Array(member.value.raw))
            }
        } catch {
            throw CassetteError(
                .damaged, "\"\(reader.path)\" does not begin like a cassette (\(error.reason)): restore it from a copy.", cause: error)
        }
    }

    /// The members of all inputs, without duplicates. Throws if two differ, as one cassette cannot have both.
    static func merged(_ readers: [CassetteReader]) throws(CassetteError) -> [UnknownMember] {
        var members: [(member: UnknownMember, path: String)] = []
        var unredacted: [String] = []
        for reader in readers {
            let own = try self.read(reader)
            if !own.contains(where: { $0.name == CassetteHead.redactionMember }) { unredacted.append(reader.path) }
            for member in own {
                guard let known = members.first(where: { $0.member.name == member.name }) else {
                    members.append((member, reader.path))
                    continue
                }
                guard self.areEqual(known.member.json, member.json) else {
                    throw CassetteError(
                        .damaged,
                        "\"\(known.path)\" and \"\(reader.path)\" have different \"\(member.name)\", and a merged cassette can have only one: \(self.advice(member))"
                    )
                }
            }
        }
        // Live requests would be compared without their secrets, so exchanges recorded with secrets would never match.
        if let redacted = members.first(where: { $0.member.name == CassetteHead.redactionMember }), let path = unredacted.first {
            throw CassetteError(
                .damaged, "\"\(redacted.path)\" was recorded with redaction and \"\(path)\" without: run \"wiretape redact \(path)\" first."
            )
        }
        return members.map(\.member)
    }

    private static func advice(_ member: UnknownMember) -> String {
        member.name == CassetteHead.redactionMember
            ? "give both the same rules with \"wiretape redact FILE --redact RULE\"." : "make them equal, or remove one."
    }

    private static func areEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        guard let one = try? JSONDocument(one), let other = try? JSONDocument(other) else { return one == other }
        return JSONComparison(one.root, other.root).changes.isEmpty
    }
}

/// Copies the files of a body into the store of another cassette, and updates their names.
struct BodyCopier {
    private let reader: BodyReader
    private let store: BodyStore
    private let digest: () -> any ContentDigest

    init(from path: String, to store: BodyStore, digest: @escaping () -> any ContentDigest) {
        self.reader = BodyReader(cassettePath: path)
        self.store = store
        self.digest = digest
    }

    func copy(_ body: Body) throws -> Body {
        var body = body
        if let original = body.original { body.original = try self.copy(original) }
        switch body.content {
        case .file(let sidecar): body.content = .file(try self.copy(sidecar))
        case .multipart(let parts):
            body.content = .multipart(
                try parts.mapData { content in
                    guard case .file(let sidecar) = content else { return content }
                    return .file(try self.copy(sidecar))
                })
        case .grpc(let messages): body.content = .grpc(try messages.mapFiles { try self.copy($0) })
        case .raw(let slice): body.content = .raw(try self.copy(slice))
        case .empty, .text, .encodedText, .json, .form, .lines, .events, .binary: break
        }
        return body
    }

    // MARK: Conversations

    func copy(_ messages: WebSocketMessages) throws -> WebSocketMessages {
        switch messages {
        case .inline(let messages): return .inline(try messages.map { try $0.mapFile(self.copy) })
        case .file(let sidecar, _):
            let (copy, count) = try self.copyMessages(sidecar)
            return .file(copy, count: count)
        }
    }

    /// Copies a file of messages, each of which may refer to another file.
    private func copyMessages(_ messages: Sidecar) throws -> (Sidecar, count: Int) {
        let spool = try self.store.makeSpool()
        var digest = self.digest()
        var count = 0
        var line: [UInt8] = []
        func write(_ bytes: [UInt8]) throws {
            try bytes.withUnsafeBytes { bytes in
                try spool.write(bytes)
                digest.update(bytes)
            }
        }
        var buffer: [UInt8] = []
        func open(_ digest: some ContentDigest) throws -> BodyStream { try self.reader.open(messages, digest: digest) }
        try Self.forEachPiece(of: open(self.digest())) { piece in
            for byte in piece {
                line.append(byte)
                guard byte == 0x0a else { continue }
                count += 1
                buffer += try self.copyFile(namedIn: line, InteractionPlace(file: messages.path, line: count))
                line.removeAll(keepingCapacity: true)
            }
            try write(buffer)
            buffer.removeAll(keepingCapacity: true)
        }
        try write(line.isEmpty ? [] : self.copyFile(namedIn: line, InteractionPlace(file: messages.path, line: count + 1)))
        return (try spool.finish(sha256: Hex.encode(digest.finalize()), ext: "jsonl"), count)
    }

    /// The same message with the name of the copy, if it has a file.
    private func copyFile(namedIn line: [UInt8], _ place: InteractionPlace) throws -> [UInt8] {
        guard line.withUnsafeBytes({ ByteSearch.contains(".bodies/", in: $0) }) else { return line }
        var writer = JSONWriter(reserving: 512)
        WebSocketMessageCoder.encode(try WebSocketMessageCoder.decode(line, place).mapFile(self.copy), isOneLine: true, into: &writer)
        writer.byte(0x0a)
        return writer.bytes
    }

    /// The copy is checked against the digest.
    private func copy(_ sidecar: Sidecar) throws -> Sidecar {
        func open(_ digest: some ContentDigest) throws -> BodyStream { try self.reader.open(sidecar, digest: digest) }
        let stream = try open(self.digest())
        let spool = try self.store.makeSpool()
        try Self.forEachPiece(of: stream) { try spool.write($0) }
        let name = sidecar.path.split(separator: "/").last ?? ""
        let fileExtension = name.split(separator: ".").dropFirst().last.map(String.init) ?? "bin"
        return try spool.finish(sha256: sidecar.sha256, ext: fileExtension)
    }

    private func copy(_ slice: RawSlice) throws -> RawSlice {
        let spool = try self.store.rawSpool()
        var copy = try spool.append([])
        try Self.forEachPiece(of: self.reader.open(slice)) { try spool.append($0, to: &copy) }
        return copy
    }

    private static func forEachPiece(of stream: BodyStream, _ take: (UnsafeRawBufferPointer) throws -> Void) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: ByteSource.pieceSize, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let count = try stream.read(into: buffer)
            guard count > 0 else { return }
            try take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }
}

/// Renumbers the connections of several cassettes, each of which counts from 1.
struct ConnectionNumbers {
    private struct Key: Hashable {
        var input: Int
        var id: Int
    }

    private var numbers: [Key: Int] = [:]

    mutating func number(of connection: ConnectionInfo, input: Int) -> Int {
        let key = Key(input: input, id: connection.id)
        if let number = self.numbers[key] { return number }
        let number = self.numbers.count + 1
        self.numbers[key] = number
        return number
    }
}
