internal import CassetteFormat
internal import CassetteModel
internal import TapeBytes

/// Rows as arrays, one for each column, so that names are written only once.
enum RowsJSON {
    /// The most rows in one answer.
    static let limit = 500

    /// - Parameter number: returns a row's number in order of request start.
    static func bytes(_ ordinals: [Int], of moment: InspectedCassette.Moment, number: (Int) -> Int) -> [UInt8] {
        let table = moment.rows
        let rows = ordinals.map { table[$0] }
        var writer = JSONWriter(reserving: 16 << 10)
        func column<Element>(_ name: StaticString, _ elements: [Element], _ write: (Element, inout JSONWriter) -> Void) {
            writer.member(name)
            writer.beginArray(.inline)
            for element in elements {
                writer.element()
                write(element, &writer)
            }
            writer.endArray()
        }
        writer.beginObject(.inline)
        writer.member("epoch")
        writer.integer(table.epoch)
        column("key", ordinals) { $1.integer($0 + 1) }
        column("number", ordinals) { $1.integer(number($0)) }
        // Microseconds since 1970 are exact integers in JavaScript until the year 2255.
        column("start", rows) { $1.integer(Int($0.started)) }
        column("method", rows) { $1.string(table.text($0.method) ?? "") }
        column("url", ordinals) { ordinal, writer in table.url(ordinal).withUnsafeBytes { writer.string(utf8: $0) } }
        column("status", rows) { $1.integer(max(0, Int($0.status))) }
        column("grpc", rows) { $1.integer(Int($0.grpc)) }
        column("outcome", rows) { row, writer in row.outcomeWords.map { writer.string($0) } ?? writer.raw("null") }
        column("type", rows) { row, writer in
            guard let type = table.text(row.responseType) else { return writer.raw("null") }
            let essence = MediaType(Array(type.utf8)[...]).essence
            writer.string(essence.isEmpty ? String(type.prefix(64)) : essence)
        }
        column("requestType", rows) { row, writer in
            guard let type = table.text(row.requestType) else { return writer.raw("null") }
            let essence = MediaType(Array(type.utf8)[...]).essence
            writer.string(essence.isEmpty ? String(type.prefix(64)) : essence)
        }
        column("version", rows) { row, writer in
            writer.string(StoredRow.version(row.status > 0 ? row.responseVersion : row.requestVersion).description)
        }
        column("remote", rows) { row, writer in table.text(row.remote).map { writer.string($0) } ?? writer.raw("null") }
        column("sent", rows) { $0.requestSize == StoredRow.none ? $1.raw("null") : $1.integer($0.requestSize) }
        column("size", rows) { $0.responseSize == StoredRow.none ? $1.raw("null") : $1.integer($0.responseSize) }
        column("messages", rows) { $1.integer(Int($0.messages)) }
        column("tls", rows) { row, writer in table.text(row.tls).map { writer.string($0) } ?? writer.raw("null") }
        column("rules", rows) { row, writer in
            guard let rules = table.text(row.rules) else { return writer.raw("null") }
            writer.string(rules.split(separator: "\n").joined(separator: ", "))
        }
        column("secret", rows) { $1.integer($0.hasPlaceholder ? 1 : 0) }
        column("phases", rows) { row, writer in
            writer.beginArray(.inline)
            for index in 0..<8 {
                writer.element()
                if row.phases[index].isFinite { writer.milliseconds(Double(row.phases[index])) } else { writer.raw("null") }
            }
            writer.endArray()
        }
        writer.endObject()
        return writer.bytes + [10]
    }
}
