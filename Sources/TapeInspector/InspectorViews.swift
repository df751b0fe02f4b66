internal import CassetteModel
internal import CassetteTools
internal import TapeBytes

/// Lists that a page requested: which rows, and in which order.
///
/// A view does not change after it is made. A page whose cassette grows requests another one.
final class InspectorViews: Sendable {
    /// More than a page uses at once. The oldest is removed.
    private static let limit = 8

    struct View: Sendable {
        let id: Int
        let epoch: Int
        /// The number of rows that were searched.
        let through: Int
        let ordinals: [UInt32]
    }

    private let views = Guarded<(next: Int, all: [View])>((1, []))

    func view(_ id: Int) -> View? { self.views.withLock { $0.all.first { $0.id == id } } }

    func add(epoch: Int, through: Int, _ ordinals: [UInt32]) -> View {
        self.views.withLock { views in
            let view = View(id: views.next, epoch: epoch, through: through, ordinals: ordinals)
            views.next += 1
            views.all.append(view)
            if views.all.count > Self.limit { views.all.removeFirst() }
            return view
        }
    }
}

/// Finds the rows that match a filter, piece by piece.
///
/// SAFETY: used by one thread at a time, because `LocalStream` asks for the pieces in turn.
final class ViewSearch {
    /// Rows searched for one piece, and fewer if their bodies are decoded.
    private static let piece = 20_000
    private static let decodedPiece = 200
    /// Rows and keys that are sent together with the view, so that a page can show a short list after one answer.
    private static let shownRows = 100
    private static let shownKeys = 5000

    private let moment: InspectedCassette.Moment
    private let filter: RowFilter?
    /// Only these exchanges are searched; nil for all.
    private let group: RowGroup?
    private let cassette: InspectedCassette
    private let sort: RowSort
    private let descends: Bool
    private let views: InspectorViews
    private let number: (Int) -> Int
    private var order: [UInt32]
    private var offset = 0
    private var found: [UInt32] = []
    /// How many of the found rows have already been listed in a line.
    private var named = 0
    private var isDone = false

    /// - Parameter number: returns a row's number in order of request start.
    init(
        _ moment: InspectedCassette.Moment, filter: RowFilter?, sort: RowSort, descends: Bool, group: RowGroup?,
        of cassette: InspectedCassette,
        views: InspectorViews,
        number: @escaping (Int) -> Int
    ) {
        self.moment = moment
        self.filter = filter
        self.group = group
        self.cassette = cassette
        self.sort = sort
        self.descends = descends
        self.views = views
        self.number = number
        self.order = moment.rows.startOrder() ?? (0..<UInt32(moment.rows.count)).map { $0 }
    }

    /// The progress as a line of JSON; nil after the last line.
    ///
    /// - Throws: `cancelled`. Exchanges that cannot be read do not match.
    func next() throws(CassetteError) -> [UInt8]? {
        guard !self.isDone else { return nil }
        if self.filter != nil || self.group != nil {
            let looksAtRowsAlone = self.filter?.looksAtRowsAlone != false && self.group?.grouping.looksAtRowsAlone != false
            let piece = looksAtRowsAlone ? Self.piece : Self.decodedPiece
            let end = min(self.order.count, self.offset + piece)
            let turn = Turn()
            while self.offset < end {
                let ordinal = self.order[self.offset]
                let isInGroup = self.group.map { $0.contains(Int(ordinal), in: self.moment, of: self.cassette) } ?? true
                if isInGroup, self.filter?.matches(Int(ordinal), in: self.moment) != false { self.found.append(ordinal) }
                try CassetteError.checkCancellation()
                self.offset += 1
                if !looksAtRowsAlone, turn.isOver { break }
            }
        } else {
            self.found = self.order
            self.offset = self.order.count
        }
        var writer = JSONWriter()
        writer.beginObject(.inline)
        writer.member("looked")
        writer.integer(self.offset)
        writer.member("count")
        writer.integer(self.found.count)
        if self.offset == self.order.count {
            self.isDone = true
            let sorted = self.sort.sorted(self.found, descends: self.descends, self.moment.rows)
            let view = self.views.add(epoch: self.moment.rows.epoch, through: self.moment.rows.count, sorted)
            writer.member("view")
            writer.integer(view.id)
            writer.member("epoch")
            writer.integer(view.epoch)
            if sorted.count <= Self.shownKeys { self.write("keys", sorted[...], to: &writer) }
            writer.member("list")
            writer.raw(
                Array(RowsJSON.bytes(sorted.prefix(Self.shownRows).map { Int($0) }, of: self.moment, number: self.number).dropLast()))
        } else if self.sort == .start, !self.descends, self.named < min(self.found.count, Self.shownKeys) {
            // Found in the order of the list, so that a page can show the first rows before all bodies are decoded.
            let end = min(self.found.count, Self.shownKeys)
            self.write("found", self.found[self.named..<end], to: &writer)
            self.named = end
        }
        writer.endObject()
        return writer.bytes + [10]
    }

    private func write(_ name: String, _ ordinals: ArraySlice<UInt32>, to writer: inout JSONWriter) {
        writer.member(named: name)
        writer.beginArray(.inline)
        for ordinal in ordinals {
            writer.element()
            writer.integer(Int(ordinal) + 1)
        }
        writer.endArray()
    }
}
