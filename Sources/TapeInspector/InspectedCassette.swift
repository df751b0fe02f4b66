internal import CassetteFormat
package import CassetteModel
internal import CassetteStore
internal import TapeBytes

/// The cassette that a page shows: its rows, and its interactions by their position in the file.
///
/// Any thread may refresh or query it.
package final class InspectedCassette: Sendable {
    struct Moment: Sendable {
        var epoch: CassetteFollower.Epoch
        var rows: RowTable
        /// Why the file could not be read at the last check; nil if it could.
        var problem: String?

        /// Whether all known interactions are in the table.
        var isIndexed: Bool { self.rows.epoch == self.epoch.number && self.rows.count == self.epoch.ranges.count }
    }

    let path: String
    let schema: ProtoSchema?
    private let follower: CassetteFollower
    private let state: Guarded<Moment>
    private let builder: Guarded<RowTableBuilder>

    /// Locates the interactions without reading them.
    package init(path: String, schema: ProtoSchema? = nil) throws(CassetteError) {
        self.path = path
        self.schema = schema
        self.follower = try CassetteFollower(path: path)
        let epoch = self.follower.epoch
        var builder = RowTableBuilder(epoch: epoch.number)
        self.state = Guarded(Moment(epoch: epoch, rows: builder.snapshot()))
        self.builder = Guarded(builder)
    }

    var moment: Moment { self.state.withLock { $0 } }

    /// Looks for new interactions and reads missing rows, up to about one block of them.
    ///
    /// - Returns: whether anything changed.
    func refresh() -> Bool {
        // One thread at a time: two threads would both append the same rows.
        self.builder.withLock { self.refresh(&$0) }
    }

    private func refresh(_ builder: inout RowTableBuilder) -> Bool {
        let before = self.moment
        var problem: String?
        if before.isIndexed {
            do throws(CassetteError) {
                guard try self.follower.follow() != .none else {
                    if before.problem != nil { self.state.withLock { $0.problem = nil } }
                    return before.problem != nil
                }
            } catch {
                problem = error.message
                guard problem != before.problem else { return false }
            }
        }
        let epoch = self.follower.epoch
        if builder.snapshot().epoch != epoch.number { builder = RowTableBuilder(epoch: epoch.number) }
        let end = min(epoch.ranges.count, builder.count + RowTable.blockSize)
        for range in epoch.ranges[builder.count..<end] { builder.append(Self.row(epoch, range), at: range) }
        let moment = Moment(epoch: epoch, rows: builder.snapshot(), problem: problem)
        self.state.withLock { $0 = moment }
        return true
    }

    private static func row(_ epoch: CassetteFollower.Epoch, _ range: Range<Int>) -> InteractionRow {
        let row = (try? epoch.bytes(range))?.withUnsafeBytes { InteractionRowReader.read($0) }
        if let row { return row }
        // Its page explains what is wrong with it.
        var unreadable = InteractionRow()
        unreadable.method = "?"
        unreadable.url = "this exchange cannot be read"
        unreadable.isUnusual = true
        return unreadable
    }
}

extension InspectedCassette.Moment {
    /// - Throws: if its text is invalid.
    func interaction(_ ordinal: Int, of cassette: InspectedCassette) throws(CassetteError) -> Interaction {
        try CassetteError.checkCancellation()
        let range = self.epoch.ranges[ordinal]
        let bytes = try self.epoch.bytes(range)
        do {
            return try InteractionDecoder.decode(bytes, at: .textAlone).named(by: cassette.schema)
        } catch {
            throw CassetteError(
                error.code, "the exchange at byte \(range.lowerBound) of \"\(cassette.path)\": \(error.message)", cause: error)
        }
    }
}
