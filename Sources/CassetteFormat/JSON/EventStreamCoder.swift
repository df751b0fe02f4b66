internal import CassetteModel
internal import TapeBytes

/// Reads and writes server-sent events in a cassette's structure.
///
/// An event is an object if each of its lines is a name, a colon, a space and a value, and no name repeats, except for consecutive `data`
/// lines. Otherwise it is an array of its lines.
enum EventStreamCoder {
    // MARK: Writing

    static func write(_ stream: EventStream, into writer: inout JSONWriter) {
        let (events, rest) = stream.split
        writer.member("events")
        writer.beginArray(.lines)
        stream.bytes.withUnsafeBytes { bytes in
            for event in events {
                writer.element()
                let lines = event.map { UnsafeRawBufferPointer(rebasing: bytes[$0]) }
                if let fields = self.fields(lines) {
                    self.object(fields, lines, stream.style, &writer)
                } else {
                    writer.beginArray(.inline)
                    for line in lines {
                        writer.element()
                        writer.string(utf8: line)
                    }
                    writer.endArray()
                }
            }
        }
        writer.endArray()
        if stream.lineEnd != .lineFeed {
            writer.member("lineEnd")
            writer.raw("\"\\r\\n\"")
        }
        guard !rest.isEmpty else { return }
        writer.member("rest")
        stream.bytes[rest].withUnsafeBytes { writer.string(utf8: $0) }
    }

    /// The names, each with its number of consecutive lines; nil for an event that cannot be an object.
    private static func fields(_ lines: [UnsafeRawBufferPointer]) -> [(name: String, count: Int)]? {
        guard !lines.isEmpty else { return nil }
        var fields: [(name: String, count: Int)] = []
        for line in lines {
            let colon = ByteScan.index(of: UInt8(ascii: ":"), in: line, from: 0)
            guard colon > 0, colon + 1 < line.count, line[colon + 1] == 32, line[..<colon].allSatisfy({ $0 >= 97 && $0 <= 122 }) else {
                return nil
            }
            let name = String(decoding: line[..<colon], as: UTF8.self)
            if fields.last?.name == name {
                guard name == "data" else { return nil }
                fields[fields.count - 1].count += 1
            } else {
                guard name != "json", !fields.contains(where: { $0.name == name }) else { return nil }
                fields.append((name, 1))
            }
        }
        return fields
    }

    private static func object(
        _ fields: [(name: String, count: Int)], _ lines: [UnsafeRawBufferPointer], _ style: JSONStyle, _ writer: inout JSONWriter
    ) {
        let hasJSON = lines.contains { self.isStructure($0, style) }
        writer.beginObject(hasJSON ? .lines : .inline)
        var index = 0
        for (name, count) in fields {
            let values = lines[index..<index + count].map { UnsafeRawBufferPointer(rebasing: $0[(name.utf8.count + 2)...]) }
            index += count
            guard let value = values.first else { continue }
            if count > 1 {
                writer.member(named: name)
                writer.beginArray(.inline)
                for value in values {
                    writer.element()
                    writer.string(utf8: value)
                }
                writer.endArray()
            } else if hasJSON, self.isStructure(lines[index - 1], style) {
                writer.member("json")
                JSONBody.write(value, into: &writer, depth: writer.depth)
            } else {
                writer.member(named: name)
                writer.string(utf8: value)
            }
        }
        writer.endObject()
    }

    /// Whether a line is `data` with JSON that the style restores.
    private static func isStructure(_ line: UnsafeRawBufferPointer, _ style: JSONStyle) -> Bool {
        guard EventStream.isJSON(line) else { return false }
        let json = UnsafeRawBufferPointer(rebasing: line[EventStream.prefix.count...])
        guard let found = JSONBody.style(of: json), found.indent == nil, found.tail.isEmpty else { return false }
        return JSONBody.restore(json, style: style)?.withUnsafeBytes { $0.elementsEqualFast(json) } == true
    }

    // MARK: Reading

    static func decode(_ value: JSONValue, _ reader: ObjectReader, style: JSONStyle, lineEnd: LineEnd) throws(CassetteError) -> EventStream
    {
        guard value.kind == .array else { throw reader.error(value, "events", "expected an array") }
        var bytes: [UInt8] = []
        for event in value.elements {
            switch event.kind {
            case .array:
                for line in event.elements { bytes += try self.line(line, reader) + lineEnd.bytes }
            case .object:
                for member in event.members { try self.member(member.name, member.value, reader, style, lineEnd, &bytes) }
            case .string, .number, .true, .false, .null:
                throw reader.error(event, "events", "expected an event: an object, or an array of its lines")
            }
            bytes += lineEnd.bytes
        }
        bytes += try reader.utf8("rest") ?? []
        return EventStream(bytes: bytes, lineEnd: lineEnd, style: style)
    }

    private static func member(
        _ name: JSONValue, _ value: JSONValue, _ reader: ObjectReader, _ style: JSONStyle, _ lineEnd: LineEnd, _ bytes: inout [UInt8]
    ) throws(CassetteError) {
        guard let text = name.utf8, !text.isEmpty, text.allSatisfy({ $0 >= 97 && $0 <= 122 }) else {
            throw reader.error(name, "events", "expected the name of a field, such as data")
        }
        if text.elementsEqual("json".utf8) {
            guard let json = value.raw.withUnsafeBytes({ JSONBody.restore($0, style: style) }) else {
                throw reader.error(value, "events", "expected JSON that fits its style", code: .tooLarge)
            }
            bytes += EventStream.prefix + json + lineEnd.bytes
            return
        }
        let start = text + [UInt8(ascii: ":"), 32]
        guard value.kind == .array else {
            bytes += start + (try self.line(value, reader)) + lineEnd.bytes
            return
        }
        for element in value.elements { bytes += start + (try self.line(element, reader)) + lineEnd.bytes }
    }

    private static func line(_ value: JSONValue, _ reader: ObjectReader) throws(CassetteError) -> [UInt8] {
        guard let text = value.utf8, !text.contains(where: { $0 == 10 || $0 == 13 }) else {
            throw reader.error(value, "events", "expected a string of one line; more lines are an array of strings")
        }
        return text
    }
}
