/// Reads the events of a `text/event-stream` as a client does (HTML Living Standard, 9.2.6), in pieces of any size.
///
/// Returns events that have data. An event without a blank line after it is not complete.
package struct EventReader {
    package struct Event: Sendable, Hashable {
        /// `message` if the stream does not name the type.
        package var type: String
        /// The last id in the stream, of this event or an earlier one; empty if there was none.
        package var id: String
        /// The lines of `data`, joined by LF.
        package var data: [UInt8]
        /// The number of bytes of the stream up to the end of the event.
        package var end: Int

        package init(type: String, id: String, data: [UInt8], end: Int) {
            self.type = type
            self.id = id
            self.data = data
            self.end = end
        }
    }

    /// The most data of one event, and the longest line, in bytes: as much as Wiretape's client accepts. The rest is left out.
    package static let limit = 16 << 20

    /// The number of bytes up to the end of the last blank line. The bytes after it belong to an incomplete event.
    package private(set) var blockEnd = 0

    private var offset = 0
    private var line: [UInt8] = []
    private var isFirstLine = true
    /// The last byte was a CR, so a LF after it is part of the same line end.
    private var skipsLineFeed = false
    private var type = ""
    private var id = ""
    private var data: [UInt8] = []
    private var hasData = false

    package init() {}

    package mutating func push(_ piece: UnsafeRawBufferPointer, _ deliver: (Event) throws -> Void) rethrows {
        for byte in piece {
            self.offset += 1
            let isSecondOfEnd = self.skipsLineFeed && byte == 10
            self.skipsLineFeed = byte == 13
            guard !isSecondOfEnd else {
                if self.blockEnd == self.offset - 1 { self.blockEnd = self.offset }
                continue
            }
            guard byte == 10 || byte == 13 else {
                if self.line.count < Self.limit { self.line.append(byte) }
                continue
            }
            if let event = self.endLine() { try deliver(event) }
        }
    }

    private mutating func endLine() -> Event? {
        var line = self.line[...]
        if self.isFirstLine, line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
        self.isFirstLine = false
        defer { self.line.removeAll(keepingCapacity: self.line.count < 4096) }
        guard !line.isEmpty else { return self.endEvent() }
        let name = line.prefix { $0 != UInt8(ascii: ":") }
        var value = line.dropFirst(name.count + 1)
        if value.first == 32 { value = value.dropFirst() }
        if name.elementsEqual("data".utf8) {
            if self.hasData { self.data.append(10) }
            self.hasData = true
            self.data += value.prefix(max(0, Self.limit - self.data.count))
        } else if name.elementsEqual("event".utf8) {
            self.type = String(decoding: value, as: UTF8.self)
        } else if name.elementsEqual("id".utf8), !value.contains(0) {
            self.id = String(decoding: value, as: UTF8.self)
        }
        return nil
    }

    private mutating func endEvent() -> Event? {
        defer { (self.type, self.data, self.hasData) = ("", [], false) }
        self.blockEnd = self.offset
        guard self.hasData else { return nil }
        return Event(type: self.type.isEmpty ? "message" : self.type, id: self.id, data: self.data, end: self.offset)
    }
}
