internal import CassetteModel
internal import CassettePlayback
internal import CassetteStore
internal import CassetteTools
internal import LocalHTTP
internal import TapeBytes

/// The list of a cassette's exchanges: its rows, filtered and sorted views, searches, and exports.
final class ListService: Sendable {
    private let cassette: InspectedCassette
    /// The name for exported files, without a folder.
    private let name: String
    private let views = InspectorViews()
    private let tickets = DownloadTickets()
    /// The positions of rows in order of request start, and the table for which they were computed.
    private let ranks = Guarded<(epoch: Int, count: Int, ranks: [UInt32])?>(nil)

    /// The number of defects in uploads that were checked, by key.
    private let defects = Guarded<(epoch: Int, counts: [Int: Int])>((0, [:]))

    init(_ cassette: InspectedCassette, name: String) {
        self.cassette = cassette
        self.name = name
    }

    // MARK: The list

    func rows(_ arguments: [String: String]) throws -> LocalAnswer {
        let moment = self.cassette.moment
        let count = moment.rows.count
        let ordinals: [Int]
        if let list = arguments["at"] {
            let keys = list.split(separator: ",").map { Int($0) }
            guard keys.count <= RowsJSON.limit, keys.allSatisfy({ $0.map { $0 >= 1 && $0 <= count } == true }) else {
                throw InspectorService.bad("at", "\"at\" takes up to \(RowsJSON.limit) keys of existing rows")
            }
            ordinals = keys.compactMap { $0.map { $0 - 1 } }
        } else {
            guard let from = Int(arguments["from"] ?? "0"), from >= 0, let wanted = Int(arguments["count"] ?? "\(RowsJSON.limit)"),
                wanted >= 0
            else { throw InspectorService.bad("from", "\"from\" and \"count\" take numbers from 0") }
            ordinals = from < count ? Array(from..<min(count, from + min(wanted, RowsJSON.limit))) : []
        }
        let number = self.number(moment.rows)
        return InspectorService.json(RowsJSON.bytes(ordinals, of: moment, number: number))
    }

    /// Returns a function that maps a row to its number on the command line.
    func number(_ table: RowTable) -> (Int) -> Int {
        guard !table.isSorted else { return { $0 + 1 } }
        let ranks = self.ranks.withLock { known in
            if let known, known.epoch == table.epoch, known.count == table.count { return known.ranks }
            let order = table.startOrder() ?? []
            var ranks = [UInt32](repeating: 0, count: order.count)
            for (rank, ordinal) in order.enumerated() { ranks[Int(ordinal)] = UInt32(rank) }
            known = (table.epoch, table.count, ranks)
            return ranks
        }
        return { Int(ranks[$0]) + 1 }
    }

    // MARK: Marks

    /// The most rows whose uploads are checked for one answer, and the largest upload that is.
    private static let markLimit = 200
    private static let markedSize = 4 << 20
    /// The most verdicts that are remembered.
    private static let rememberedMarks = 100_000

    /// How many defects the uploads of rows have, as an object from keys to numbers. Rows without defects are left out.
    func marks(_ arguments: [String: String]) throws -> LocalAnswer {
        let moment = self.cassette.moment
        let keys = (arguments["at"] ?? "").split(separator: ",").map { Int($0) }
        guard keys.count <= Self.markLimit, keys.allSatisfy({ $0.map { $0 >= 1 && $0 <= moment.rows.count } == true }) else {
            throw InspectorService.bad("at", "\"at\" takes up to \(Self.markLimit) keys of existing rows")
        }
        let reader = BodyReader(cassettePath: self.cassette.path)
        var writer = JSONWriter()
        writer.beginObject(.inline)
        writer.member("epoch")
        writer.integer(moment.rows.epoch)
        writer.member("defects")
        writer.beginArray(.inline)
        for key in keys.compactMap({ $0 }) {
            let row = moment.rows[key - 1]
            guard row.requestSize > 0, row.requestSize <= Self.markedSize else { continue }
            let known = self.defects.withLock { $0.epoch == moment.rows.epoch ? $0.counts[key] : nil }
            let count =
                try known
                ?? (try moment.interaction(key - 1, of: self.cassette).uploadDefects(reader, limit: Self.markedSize) ?? 0)
            if known == nil {
                self.defects.withLock { defects in
                    if defects.epoch != moment.rows.epoch || defects.counts.count >= Self.rememberedMarks {
                        defects = (moment.rows.epoch, [:])
                    }
                    defects.counts[key] = count
                }
            }
            guard count > 0 else { continue }
            writer.element()
            writer.beginArray(.inline)
            writer.element()
            writer.integer(key)
            writer.element()
            writer.integer(count)
            writer.endArray()
        }
        writer.endArray()
        writer.endObject()
        return InspectorService.json(writer.bytes + [10])
    }

    // MARK: Groups

    func groups(_ arguments: [String: String]) throws -> LocalAnswer {
        let grouping = try RowGrouping(arguments["by"] ?? "")
        return InspectorService.json(try grouping.bytes(self.cassette.moment, of: self.cassette))
    }

    // MARK: Views and searches

    func makeView(_ body: [UInt8]) throws -> LocalStream {
        let order = try InspectorOrder(body)
        let sort = try order.text("sort") ?? RowSort.start.rawValue
        guard let sort = RowSort(rawValue: sort) else {
            throw InspectorService.bad(
                "sort", "there is no sort \"\(sort)\": use one of \(RowSort.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        let search = ViewSearch(
            self.cassette.moment, filter: try self.filter(order.text("filter")), sort: sort,
            descends: order.values["descends"]?.bool ?? false, group: try RowGroup(order), of: self.cassette, views: self.views,
            number: self.number(self.cassette.moment.rows))
        return InspectorService.lines { try search.next() }
    }

    private func filter(_ text: String?) throws(LocalAnswer) -> RowFilter? {
        guard let text, text.contains(where: { !$0.isWhitespace }) else { return nil }
        do {
            return RowFilter(try FilterParser.parse(text), cassette: self.cassette)
        } catch {
            throw LocalAnswer(status: 422, reason: "Unprocessable Content", code: "filter", message: error.message + ".")
        }
    }

    /// The keys of the rows, with four bytes each, least significant byte first.
    func view(_ id: String) throws -> LocalAnswer {
        guard let view = Int(id).flatMap({ self.views.view($0) }) else {
            throw LocalAnswer(status: 404, reason: "Not Found", code: "not-found", message: "that view no longer exists: create it again.")
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(view.ordinals.count * 4)
        for ordinal in view.ordinals {
            let key = ordinal + 1
            for shift in stride(from: UInt32(0), to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: key >> shift)) }
        }
        return LocalAnswer(
            status: 200, reason: "OK", fields: ["X-Epoch: \(view.epoch)", "X-Through: \(view.through)"], type: "application/octet-stream",
            body: bytes)
    }

    func search(_ body: [UInt8]) throws -> LocalStream {
        let order = try InspectorOrder(body)
        guard let text = try order.text("text"), !text.isEmpty else {
            throw InspectorService.bad("text", "\"text\" is missing: name what to search for")
        }
        var places = Set(TextSearch.Place.allCases)
        if let wanted = order.values["in"], wanted.kind == .array {
            places = []
            for value in wanted.elements {
                guard let place = value.string.flatMap(TextSearch.Place.init(rawValue:)) else {
                    throw InspectorService.bad("in", "\"in\" takes \(TextSearch.Place.allCases.map(\.rawValue).joined(separator: ", "))")
                }
                places.insert(place)
            }
        }
        let moment = self.cassette.moment
        let view = order.values["view"]?.int.flatMap { self.views.view($0) }
        let found = view.flatMap { $0.epoch == moment.rows.epoch ? $0.ordinals : nil }
        let search = TextSearch(
            text, in: places, order: found ?? moment.rows.startOrder() ?? (0..<UInt32(moment.rows.count)).map { $0 }, moment: moment,
            cassette: self.cassette)
        return InspectorService.lines { try search.next() }
    }

    // MARK: Exports

    func ticket(_ body: [UInt8]) throws -> LocalAnswer {
        let order = try InspectorOrder(body)
        let text = try order.text("format") ?? ""
        guard let format = ViewExport.Format(rawValue: text) else {
            throw InspectorService.bad(
                "format", "there is no format \"\(text)\": use one of \(ViewExport.Format.allCases.map(\.rawValue).joined(separator: ", "))"
            )
        }
        let rows = self.cassette.moment.rows
        let keys = try order.keys("keys", of: rows.count)
        let ticket = self.tickets.issue(
            DownloadTickets.Order(
                format: format, view: order.values["view"]?.int, keys: keys.isEmpty ? nil : keys, epoch: keys.isEmpty ? nil : rows.epoch))
        var writer = JSONWriter()
        writer.beginObject(.inline)
        writer.member("path")
        writer.string("/d/\(ticket)/\(self.fileName(format))")
        writer.endObject()
        return InspectorService.json(writer.bytes + [10])
    }

    /// In ASCII, for use in a path and a header field.
    private func fileName(_ format: ViewExport.Format) -> String {
        let name = self.name.split(separator: "/").last.map(String.init) ?? ""
        let stem = name.hasSuffix(".json") ? name.dropLast(5) : name[...]
        let plain = String(
            stem.unicodeScalars.map { scalar in
                scalar.isASCII
                    && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil || "-_".unicodeScalars.contains(scalar))
                    ? Character(scalar) : "_"
            })
        return "\(plain.isEmpty ? "cassette" : plain).\(format.fileExtension)"
    }

    func holds(ticket: String) -> Bool { self.tickets.has(ticket) }

    func download(_ ticket: String) throws -> LocalStream {
        guard let order = self.tickets.take(ticket) else {
            throw LocalAnswer(
                status: 404, reason: "Not Found", code: "ticket",
                message: "that download was already fetched or has expired: request it again.")
        }
        if order.format == .cassette {
            return try CassetteDownload(self.cassette, name: self.fileName(.cassette)).stream()
        }
        let moment = self.cassette.moment
        let view = order.view.flatMap { self.views.view($0) }
        guard order.view == nil || view?.epoch == moment.rows.epoch, order.epoch == nil || order.epoch == moment.rows.epoch else {
            throw LocalAnswer(
                status: 409, reason: "Conflict", code: "epoch", message: "the cassette was replaced by another file: load it again.")
        }
        let export = ViewExport(
            order.format,
            order.keys?.map { UInt32($0 - 1) } ?? view?.ordinals ?? moment.rows.startOrder() ?? (0..<UInt32(moment.rows.count)).map { $0 },
            moment,
            of: self.cassette,
            number: self.number(moment.rows))
        let head = LocalAnswer(
            status: 200, reason: "OK", fields: ["Content-Disposition: attachment; filename=\"\(self.fileName(order.format))\""],
            type: order.format.type,
            body: [])
        return LocalStream(head: head, framing: .chunked) { try export.next() }
    }
}
