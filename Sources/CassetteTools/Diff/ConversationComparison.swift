internal import CassetteFormat
internal import CassetteModel
internal import CassetteStore
internal import TapeBytes

/// Compares the messages of two recorded WebSockets: for each side, the text and binary messages in order, and how it closed.
///
/// Ignores the interleaving of the two sides, which is a matter of timing, and pings and pongs. Holds little data for each message, and two
/// messages in memory.
struct ConversationComparison {
    let bodies: BodyComparison
    let showsAll: Bool

    /// One message of a side: enough data to find it again, and to see which messages are equal.
    private struct Entry {
        var number: Int
        /// The range of the line in its file.
        var line: Range<Int>
        /// A hash of kind and content, without the numbers of placeholders.
        var key: Int
        /// How many messages of the other side precede it.
        var after: Int
    }

    private struct Side {
        var entries: [Entry] = []
        var close: WebSocketClose?
    }

    /// If more messages than this lie between the first and the last difference, they are compared in order, as finding the fewest changes
    /// takes quadratic time.
    private static let alignLimit = 2_000

    /// Places begin with `message 3 →`, using the number in the new cassette, or in the old one if the new one lacks the message.
    func changes(_ old: WebSocketMessages?, _ new: WebSocketMessages?) throws -> [FieldChange] {
        switch (old, new) {
        case (nil, nil): return []
        case (let old?, nil): return [FieldChange("messages", "\(old.count)", nil)]
        case (nil, let new?): return [FieldChange("messages", nil, "\(new.count)")]
        case (let old?, let new?):
            guard old != new else { return [] }
            let (one, other) = (try self.sides(old, self.bodies.old), try self.sides(new, self.bodies.new))
            var changes: [FieldChange] = []
            for side in WebSocketSide.allCases {
                let (before, after) = (one[side] ?? Side(), other[side] ?? Side())
                for (index, next) in self.pairs(before.entries, after.entries) {
                    guard changes.count < JSONComparison.limit else {
                        return changes + [FieldChange("messages", "more than \(JSONComparison.limit) differences", nil)]
                    }
                    changes += try self.changes(index.map { before.entries[$0] }, next.map { after.entries[$0] }, old, new)
                }
                if before.close != after.close {
                    changes.append(
                        FieldChange("close of the \(side.rawValue)", before.close.map(Self.words), after.close.map(Self.words)))
                }
            }
            return changes
        }
    }

    private static func words(_ close: WebSocketClose) -> String {
        let words = SocketMessage.words(close)
        return words.isEmpty ? "without a code" : String(words.dropFirst())
    }

    // MARK: Pairs

    private func sides(_ messages: WebSocketMessages, _ reader: BodyReader) throws -> [WebSocketSide: Side] {
        var sides: [WebSocketSide: Side] = [.client: Side(), .server: Side()]
        var number = 0
        func read(_ digest: some ContentDigest) throws {
            try reader.forEachMessage(of: messages, digest: digest) { message, line in
                number += 1
                switch message.content {
                case .text, .binary:
                    let after = sides[message.from == .client ? .server : .client]?.entries.count ?? 0
                    sides[message.from]?.entries.append(
                        Entry(number: number, line: line, key: Self.key(message, self.showsAll), after: after))
                case .close(let close):
                    if sides[message.from]?.close == nil { sides[message.from]?.close = close }
                case .ping, .pong: break
                }
                return true
            }
        }
        try read(self.bodies.digest())
        return sides
    }

    private static func key(_ message: WebSocketMessage, _ showsAll: Bool) -> Int {
        var hasher = Hasher()
        if message.content.isText { hasher.combine(true) }
        hasher.combine(message.isComplete)
        switch message.content.payload {
        case .file(let sidecar)?: hasher.combine(sidecar.sha256)
        case .text(let bytes)?, .json(let bytes, _)?, .bytes(let bytes)?:
            hasher.combine(showsAll ? bytes : PlaceholderNumbers.leftOut(bytes))
        case nil: break
        }
        return hasher.finalize()
    }

    /// The indexes of corresponding messages, in order; nil if the other side has none.
    private func pairs(_ old: [Entry], _ new: [Entry]) -> [(old: Int?, new: Int?)] {
        let shorter = min(old.count, new.count)
        var (start, end) = (0, 0)
        while start < shorter, old[start].key == new[start].key { start += 1 }
        while end < shorter - start, old[old.count - 1 - end].key == new[new.count - 1 - end].key { end += 1 }
        var pairs: [(old: Int?, new: Int?)] = (0..<start).map { ($0, $0) }
        pairs += self.pairs(old, start..<old.count - end, new, start..<new.count - end)
        pairs += (0..<end).reversed().map { (old.count - 1 - $0, new.count - 1 - $0) }
        return pairs
    }

    private func pairs(_ old: [Entry], _ olds: Range<Int>, _ new: [Entry], _ news: Range<Int>) -> [(old: Int?, new: Int?)] {
        var (removed, inserted): (Set<Int>, Set<Int>) = (Set(olds), Set(news))
        if max(olds.count, news.count) <= Self.alignLimit {
            let difference = new[news].map(\.key).difference(from: old[olds].map(\.key))
            removed = Set(difference.removals.map { if case .remove(let offset, _, _) = $0 { olds.lowerBound + offset } else { -1 } })
            inserted = Set(difference.insertions.map { if case .insert(let offset, _, _) = $0 { news.lowerBound + offset } else { -1 } })
        }
        var pairs: [(old: Int?, new: Int?)] = []
        var (one, other) = (olds.lowerBound, news.lowerBound)
        while one < olds.upperBound || other < news.upperBound {
            let isRemoved = one < olds.upperBound && removed.contains(one)
            let isInserted = other < news.upperBound && inserted.contains(other)
            switch (isRemoved, isInserted) {
            // A message that was removed where another was inserted has changed.
            case (true, true), (false, false):
                pairs.append((one, other))
                (one, other) = (one + 1, other + 1)
            case (true, false):
                pairs.append((one, nil))
                one += 1
            case (false, true):
                pairs.append((nil, other))
                other += 1
            }
        }
        return pairs
    }

    // MARK: Messages

    private func changes(_ old: Entry?, _ new: Entry?, _ olds: WebSocketMessages, _ news: WebSocketMessages) throws -> [FieldChange] {
        var changes: [FieldChange] = []
        guard let number = new?.number ?? old?.number else { return [] }
        if self.showsAll, let old, let new, old.after != new.after {
            changes.append(FieldChange("message \(number) after", "\(old.after)", "\(new.after)"))
        }
        if let old, let new, old.key == new.key { return changes }
        let one = try old.map { try self.message($0, olds, self.bodies.old) }
        let other = try new.map { try self.message($0, news, self.bodies.new) }
        let place = "message \(number) \((other ?? one)?.from == .client ? "→" : "←")"
        guard let one, let other else { return [FieldChange(place, one.map(Self.words), other.map(Self.words))] }
        if Self.kind(one) != Self.kind(other) {
            changes.append(FieldChange("\(place) kind", Self.kind(one), Self.kind(other), drift: .type))
        }
        if one.isComplete != other.isComplete {
            changes.append(FieldChange(place, Self.wholeness(one), Self.wholeness(other), drift: .type))
        }
        guard let before = one.content.payload, let after = other.content.payload else { return changes }
        changes += try self.bodies.changes(of: before.bodyContent, after.bodyContent).map { change in
            var change = change
            change.place = change.place == "body" ? place : "\(place) \(change.place)"
            return change
        }
        return changes
    }

    private func message(_ entry: Entry, _ messages: WebSocketMessages, _ reader: BodyReader) throws -> WebSocketMessage {
        switch messages {
        case .inline(let messages): messages[entry.number - 1]
        case .file(let sidecar, _): try reader.message(in: sidecar, at: entry.line)
        }
    }

    private static func kind(_ message: WebSocketMessage) -> String { message.content.isText ? "text" : "binary" }
    private static func wholeness(_ message: WebSocketMessage) -> String { message.isComplete ? "complete" : "cut short" }

    /// Text as it is, truncated and hidden like all values; for bytes, their number.
    private static func words(_ message: WebSocketMessage) -> String {
        switch message.content.payload {
        case .text(let bytes)?: "\"\(String(decoding: bytes.prefix(Self.shown), as: UTF8.self))\""
        case .json(let bytes, _)?: String(decoding: bytes.prefix(Self.shown), as: UTF8.self)
        case .bytes(let bytes)?: ByteComparison.count(bytes.count)
        case .file(let sidecar)?: ByteComparison.count(sidecar.size)
        case nil: ""
        }
    }

    /// How many bytes of a message are read to show its beginning.
    private static let shown = 4_096
}
