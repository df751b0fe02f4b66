internal import CassetteFormat
public import CassetteModel
internal import CassetteStore
public import TapeBytes

/// Makes one cassette of several: exchanges in order of their start, numbered anew, with copies of the bodies beside them.
///
/// Writes under a name of its own and takes the wanted one when everything is on the disk; that name must be free. Holds one exchange in
/// memory at a time.
public struct CassetteMerger {
    private let inputs: [CassetteReader]
    private let digest: () -> any ContentDigest

    /// - Throws: where an input is no cassette, or torn: what it has lost would be lost for good.
    public init(_ paths: [String], digest: @escaping () -> any ContentDigest = { PortableSHA256() }) throws(CassetteError) {
        var inputs: [CassetteReader] = []
        for path in paths {
            let reader = try CassetteReader(path: path)
            if let damage = reader.damage {
                throw CassetteError(.damaged, "\(damage.summary): mend it with \"wiretape develop \(path)\" first.")
            }
            inputs.append(reader)
        }
        self.inputs = inputs
        self.digest = digest
    }

    /// - Returns: how many exchanges were written.
    public func write(
        to path: String, recorder: String, progress: (_ done: Int, _ of: Int) -> Void = { _, _ in }
    ) throws(CassetteError) -> Int {
        guard !CassettePlace.exists(path) else {
            throw CassetteError(.unwritable, "\"\(path)\" is there already, and merging replaces nothing: name a new file.")
        }
        let members = try CassetteHeadMembers.merged(self.inputs)
        let location = FileLocation(path)
        let temporary = location.sibling(".\(location.name).merge")
        if CassettePlace.exists(temporary) { try CassettePlace.remove(temporary) }
        let appender = try CassetteAppender.create(temporary, recorder: recorder, members: members)
        do {
            let store = try BodyStore(cassettePath: path)
            let count = try self.append(to: appender, store, progress)
            try store.syncAll()
            try appender.sync()
            try CassettePlace.take(path, with: temporary)
            return count
        } catch {
            try? CassettePlace.remove(temporary)
            // Bodies that were copied and that nothing names now.
            if !CassettePlace.exists(path), let store = try? BodyStore(cassettePath: path) {
                _ = try? CassetteReferences(familyOf: path).tidy(store)
            }
            throw error as? CassetteError ?? CassetteError(.unwritable, "\"\(path)\" was not written (\(error)): try another disk.")
        }
    }

    private func append(
        to appender: CassetteAppender, _ store: BodyStore, _ progress: (_ done: Int, _ of: Int) -> Void
    ) throws -> Int {
        let order = try self.order()
        let copiers = self.inputs.map { BodyCopier(from: $0.path, to: store, digest: self.digest) }
        var connections = ConnectionNumbers()
        var writer = JSONWriter()
        for (place, origin) in order.enumerated() {
            progress(place, order.count)
            let reader = self.inputs[origin.input]
            var interaction = try self.interaction(reader, origin.position)
            interaction.id = place + 1
            if let body = interaction.request.body { interaction.request.body = try copiers[origin.input].copy(body) }
            if let body = interaction.response?.body { interaction.response?.body = try copiers[origin.input].copy(body) }
            if let connection = interaction.connection {
                interaction.connection?.id = connections.number(of: connection, input: origin.input)
            }
            writer.removeAll()
            InteractionEncoder.encode(interaction, into: &writer)
            try appender.append([writer.bytes])
        }
        progress(order.count, order.count)
        return order.count
    }

    private func interaction(_ reader: CassetteReader, _ position: Int) throws(CassetteError) -> Interaction {
        let bytes = try reader.bytes(at: position)
        do {
            return try InteractionDecoder.decode(bytes)
        } catch {
            return try InteractionDecoder.decode(bytes, at: InteractionPlace(file: reader.path, line: reader.line(at: position)))
        }
    }

    /// By start; exchanges of the same instant in the order of the inputs.
    private func order() throws(CassetteError) -> [(input: Int, position: Int)] {
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
        return starts.map { ($0.input, $0.position) }
    }
}
