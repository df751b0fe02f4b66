package import CassetteModel

/// Divides the body of an answer into its events (text/event-stream), its messages (gRPC), its lines (JSON lines), or its frames (AWS event
/// streams), with all their bytes.
package struct StreamUnits: Sendable {
    package enum Kind: Sendable { case events, messages, lines, frames }

    package struct Unit: Sendable, Hashable {
        package enum Part: Sendable {
            case whole
            /// Bytes of a unit that is too long to be held. More of them follow.
            case part
            /// The last bytes of such a unit.
            case last
        }

        package var bytes: [UInt8]
        package var part: Part

        /// Whether a unit ends with these bytes, so that it counts.
        package var isEnd: Bool { self.part != .part }
    }

    /// Bytes of a unit that are held until its end. A longer one passes in parts, wherever its bytes are cut.
    package static let limit = 1 << 20

    package let kind: Kind
    private var divider: StreamDivider
    private var held: [UInt8] = []
    /// Part of a long unit has passed, and its end has not.
    package private(set) var isInPart = false

    /// Nil if the body is no such stream, or has a content coding.
    package init?(_ fields: HeaderFields) {
        guard let framing = StreamFraming(fields) else { return nil }
        switch framing {
        case .events: self.kind = .events
        case .messages: self.kind = .messages
        case .lines, .records: self.kind = .lines
        case .frames: self.kind = .frames
        case .messagesInBase64, .elements, .parts: return nil
        }
        self.divider = StreamDivider(framing)
    }

    /// - Returns: the units that are complete now, and parts of long ones.
    package mutating func push(_ bytes: some Sequence<UInt8>) -> [Unit] {
        let bytes = Array(bytes)
        var ends: [Int] = []
        bytes.withUnsafeBytes { self.divider.push($0) { ends.append($0) } }
        var (units, start): ([Unit], Int) = ([], 0)
        for end in ends {
            let unit = self.rest() + bytes[start..<end]
            start = end
            if self.isInPart || unit.count > Self.limit {
                units.append(Unit(bytes: unit, part: .last))
                self.isInPart = false
            } else if !unit.isEmpty {
                units.append(Unit(bytes: unit, part: .whole))
            }
        }
        self.held += bytes[start...]
        if self.held.count > Self.limit {
            units.append(Unit(bytes: self.rest(), part: .part))
            self.isInPart = true
        }
        return units
    }

    /// Bytes of a unit that is not complete. They are not held any longer.
    package mutating func rest() -> [UInt8] {
        defer { self.held = [] }
        return self.held
    }
}

extension StreamUnits {
    /// Edits one event, line or frame; nil if nothing of it is content.
    ///
    /// - Parameter edit: gets the data of an event, whose lines are joined by LF (HTML, 9.2.6), a line without its end, or the payload of a frame.
    package static func edited(_ unit: [UInt8], _ kind: Kind, _ edit: ([UInt8]) -> [UInt8]) -> [UInt8]? {
        switch kind {
        case .messages: return nil
        case .frames:
            guard let frame = unit.withUnsafeBytes({ AmazonFrame($0) }) else { return nil }
            let old = Array(unit[frame.payload])
            let new = edit(old)
            return new == old ? unit : AmazonFrame.encoded(headers: unit[AmazonFrame.preludeSize..<frame.payload.lowerBound], payload: new)
        case .lines:
            let end = unit.lastIndex { $0 != 10 && $0 != 13 }.map { $0 + 1 } ?? 0
            // A record of a JSON sequence begins with RS (RFC 7464, 2.2).
            let start = unit.first == 0x1e ? 1 : 0
            guard end > start else { return nil }
            return unit[..<start] + edit(Array(unit[start..<end])) + unit[end...]
        case .events: return self.edited(event: unit, edit)
        }
    }

    private static func edited(event: [UInt8], _ edit: ([UInt8]) -> [UInt8]) -> [UInt8]? {
        let name = Array("data".utf8)
        var lines: [(text: ArraySlice<UInt8>, end: ArraySlice<UInt8>)] = []
        var index = 0
        while index < event.count {
            let end = event[index...].firstIndex { $0 == 10 || $0 == 13 } ?? event.count
            var next = min(end + 1, event.count)
            if end < event.count, event[end] == 13, next < event.count, event[next] == 10 { next += 1 }
            lines.append((event[index..<end], event[end..<next]))
            index = next
        }
        func value(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
            guard line.starts(with: name) else { return nil }
            let rest = line.dropFirst(name.count)
            guard let colon = rest.first else { return rest }
            guard colon == UInt8(ascii: ":") else { return nil }
            let value = rest.dropFirst()
            return value.first == 32 ? value.dropFirst() : value
        }
        let data = lines.compactMap { value($0.text) }
        guard let first = lines.firstIndex(where: { value($0.text) != nil }) else { return nil }
        let old = Array(data.joined(separator: [10]))
        let new = edit(old)
        guard new != old else { return event }
        let end = lines[first].end.isEmpty ? ArraySlice([10]) : lines[first].end
        var edited: [UInt8] = []
        for (number, line) in lines.enumerated() {
            if number == first {
                for part in new.split(separator: 10, omittingEmptySubsequences: false) {
                    edited += name + [UInt8(ascii: ":"), 32] + part + end
                }
            } else if value(line.text) == nil {
                edited += line.text + line.end
            }
        }
        return edited
    }
}
