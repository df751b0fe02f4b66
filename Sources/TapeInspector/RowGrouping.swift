internal import CassetteModel
internal import LocalHTTP
internal import TapeBytes

/// What exchanges are grouped by.
struct RowGrouping {
    private enum Kind {
        case host, path, connection, type, status
        /// The value of a request's header field, such as one with the name of a test.
        case field(String)
    }

    /// The most groups in an answer.
    private static let limit = 1000
    /// The most bars of one group.
    private static let spanLimit = 300

    private let kind: Kind

    init(_ text: String) throws(LocalAnswer) {
        switch text {
        case "host": self.kind = .host
        case "path": self.kind = .path
        case "connection": self.kind = .connection
        case "type": self.kind = .type
        case "status": self.kind = .status
        default:
            guard text.hasPrefix("header:"), text.utf8.count > 7, text.utf8.count < 200 else {
                throw InspectorService.bad("by", "\"by\" takes host, path, connection, type, status or header:NAME")
            }
            self.kind = .field(text.dropFirst("header:".count).lowercased())
        }
    }

    /// Whether rows can be grouped without their exchanges.
    var looksAtRowsAlone: Bool { if case .field = self.kind { false } else { true } }

    /// The group of a row; empty if it has none.
    func value(_ ordinal: Int, in moment: InspectedCassette.Moment, of cassette: InspectedCassette) -> String {
        let (row, table) = (moment.rows[ordinal], moment.rows)
        switch self.kind {
        case .host: return Self.parts(table.url(ordinal)).host
        case .path:
            let parts = Self.parts(table.url(ordinal))
            return parts.host + parts.path
        case .connection: return row.connection < 0 ? "" : "\(row.connection)"
        case .type: return table.text(row.responseType).map { MediaType(Array($0.utf8)[...]).essence } ?? ""
        case .status: return row.outcomeWords ?? (row.status > 0 ? "\(row.status)" : "")
        case .field(let name):
            guard let headers = (try? moment.interaction(ordinal, of: cassette))?.request.headers else { return "" }
            for index in 0..<headers.count where headers.name(at: index).lowercased() == name {
                return String(decoding: headers.valueBytes(at: index), as: UTF8.self)
            }
            return ""
        }
    }

    /// The authority, and the path without numbers and identifiers, which would make each exchange a group of its own.
    static func parts(_ url: ArraySlice<UInt8>) -> (host: String, path: String) {
        let text = String(decoding: url, as: UTF8.self)
        guard let scheme = text.firstRange(of: "://") else { return ("", text) }
        let rest = text[scheme.upperBound...]
        let host = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let path = rest[host.endIndex...].prefix { $0 != "?" && $0 != "#" }
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).map { segment in
            let digits = segment.utf8.count { $0 >= 48 && $0 <= 57 }
            let isID = digits > 0 && (digits == segment.utf8.count || segment.utf8.count >= 16 && digits >= 4)
            return isID ? "…" : String(segment)
        }
        return (String(host), path.isEmpty ? "/" : segments.joined(separator: "/"))
    }

    private struct Group {
        var value: String
        var count = 0
        var failed = 0
        var sent = 0
        var size = 0
        var time = 0.0
        var start = Int64.max
        var end = Int64.min
        var remote: UInt32 = 0
        var tls: UInt32 = 0
        var spans: [(key: Int, start: Int64, end: Int64, isFailed: Bool)] = []
    }

    /// The groups as JSON, the largest first, and those of connections in the order in which they began.
    func bytes(_ moment: InspectedCassette.Moment, of cassette: InspectedCassette) throws -> [UInt8] {
        let table = moment.rows
        var places: [String: Int] = [:]
        var groups: [Group] = []
        for ordinal in 0..<table.count {
            if ordinal % 256 == 0 { try CassetteError.checkCancellation() }
            let value = self.value(ordinal, in: moment, of: cassette)
            let place = places[value] ?? groups.count
            if place == groups.count {
                places[value] = place
                groups.append(Group(value: value))
            }
            let row = table[ordinal]
            let isFailed = !row.isComplete || row.status >= 400
            groups[place].count += 1
            if isFailed { groups[place].failed += 1 }
            groups[place].sent += max(0, row.requestSize)
            groups[place].size += max(0, row.responseSize)
            groups[place].time += row.phases[7].isFinite ? Double(row.phases[7]) : 0
            groups[place].start = min(groups[place].start, row.started)
            groups[place].end = max(groups[place].end, row.end)
            if groups[place].remote == 0 { (groups[place].remote, groups[place].tls) = (row.remote, row.tls) }
            if groups[place].spans.count < Self.spanLimit {
                groups[place].spans.append((ordinal + 1, row.started, row.end, isFailed))
            }
        }
        let count = groups.count
        if case .connection = self.kind { groups.sort { $0.start < $1.start } } else { groups.sort { $0.count > $1.count } }
        var writer = JSONWriter()
        writer.beginObject(.inline)
        writer.member("epoch")
        writer.integer(table.epoch)
        writer.member("count")
        writer.integer(count)
        writer.member("groups")
        writer.beginArray(.inline)
        for group in groups.prefix(Self.limit) {
            writer.element()
            self.write(group, table, &writer)
        }
        writer.endArray()
        writer.endObject()
        return writer.bytes + [10]
    }

    private func write(_ group: Group, _ table: RowTable, _ writer: inout JSONWriter) {
        writer.beginObject(.inline)
        writer.member("value")
        writer.string(group.value)
        for (name, number) in [
            ("count", group.count), ("failed", group.failed), ("sent", group.sent), ("size", group.size), ("start", Int(group.start)),
            ("end", Int(group.end)),
        ] {
            writer.member(named: name)
            writer.integer(number)
        }
        writer.member("time")
        writer.milliseconds(group.time)
        if case .connection = self.kind {
            for (name, text) in [("remote", table.text(group.remote)), ("tls", table.text(group.tls))] {
                guard let text else { continue }
                writer.member(named: name)
                writer.string(text)
            }
            writer.member("spans")
            writer.beginArray(.inline)
            for span in group.spans {
                writer.element()
                writer.beginArray(.inline)
                for number in [span.key, Int(span.start), Int(span.end), span.isFailed ? 1 : 0] {
                    writer.element()
                    writer.integer(number)
                }
                writer.endArray()
            }
            writer.endArray()
        }
        writer.endObject()
    }
}

/// One group, to which a list is limited.
struct RowGroup {
    let grouping: RowGrouping
    private let value: String

    /// From the member `group` of a request: `{"by": "host", "value": "api.example"}`; nil if it has none.
    init?(_ order: InspectorOrder) throws(LocalAnswer) {
        guard let group = order.values["group"], group.kind == .object else { return nil }
        guard let by = group["by"]?.string, let value = group["value"]?.string else {
            throw InspectorService.bad("group", "\"group\" takes an object with \"by\" and \"value\"")
        }
        self.grouping = try RowGrouping(by)
        self.value = value
    }

    func contains(_ ordinal: Int, in moment: InspectedCassette.Moment, of cassette: InspectedCassette) -> Bool {
        self.grouping.value(ordinal, in: moment, of: cassette) == self.value
    }
}
