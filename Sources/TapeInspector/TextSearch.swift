internal import CassetteModel
internal import CassetteStore
internal import CassetteTools
internal import TapeBytes

/// A search for a text in URLs, header fields and decoded bodies, ignoring ASCII case. Works piece by piece.
///
/// Searches the first 64 MiB of a body, as filters do.
final class TextSearch {
    enum Place: String, CaseIterable { case url, headers, body }

    /// Bytes shown before and after a hit.
    private static let margin = 40
    private static let hitLimit = 10_000
    /// The most exchanges searched for one piece.
    private static let piece = 100

    private let moment: InspectedCassette.Moment
    private let cassette: InspectedCassette
    private let needle: [UInt8]
    private let places: Set<Place>
    private let order: [UInt32]
    private let reader: BodyReader
    private var offset = 0
    private var hits = 0
    private var isDone = false
    private var lines: [UInt8] = []

    /// - Parameter order: the exchanges to search, in this order.
    init(_ text: String, in places: Set<Place>, order: [UInt32], moment: InspectedCassette.Moment, cassette: InspectedCassette) {
        self.needle = text.utf8.map(Self.lower)
        self.places = places
        self.order = order
        self.moment = moment
        self.cassette = cassette
        self.reader = BodyReader(cassettePath: cassette.path)
    }

    /// Hits and progress as lines of JSON; nil at the end.
    ///
    /// - Throws: `cancelled`. Bodies that cannot be read are skipped.
    func next() throws(CassetteError) -> [UInt8]? {
        guard !self.isDone else { return nil }
        self.lines = []
        let start = self.offset
        let end = min(self.order.count, self.offset + Self.piece)
        let turn = Turn()
        while self.offset < end, self.hits < Self.hitLimit, !turn.isOver || self.offset == start {
            self.search(Int(self.order[self.offset]))
            try CassetteError.checkCancellation()
            self.offset += 1
            // Show the first hits immediately.
            if !self.lines.isEmpty, self.hits < 50 { break }
        }
        self.isDone = self.offset == self.order.count || self.hits >= Self.hitLimit
        var writer = JSONWriter()
        writer.beginObject(.inline)
        writer.member("looked")
        writer.integer(self.offset)
        writer.member("of")
        writer.integer(self.order.count)
        if self.isDone {
            writer.member("done")
            writer.bool(self.hits < Self.hitLimit)
        }
        writer.endObject()
        return self.lines + writer.bytes + [10]
    }

    private func search(_ ordinal: Int) {
        if self.places.contains(.url) { self.search(Array(self.moment.rows.url(ordinal)), ordinal, "request", "url") }
        guard self.places.contains(.headers) || self.places.contains(.body) else { return }
        guard let interaction = try? self.moment.interaction(ordinal, of: self.cassette) else { return }
        if self.places.contains(.headers) {
            self.search(fields: interaction.request.headers, ordinal, "request")
            if let response = interaction.response {
                self.search(fields: response.headers, ordinal, "response")
                if let trailers = response.trailers { self.search(fields: trailers, ordinal, "response") }
            }
        }
        guard self.places.contains(.body) else { return }
        for side in MessageChoice.allCases {
            let (body, headers) = interaction.body(of: side)
            guard let body, body.size > 0 || body.content != .empty else { continue }
            if let messages = BodyMessages(body, reader: self.reader) {
                for message in messages.all {
                    guard let bytes = try? message.contents().prefix(ExchangeFilter.bodyLimit) else { continue }
                    self.search(bytes, ordinal, side.rawValue, "message \(message.number)")
                }
                continue
            }
            guard let contents = try? BodyContents(body, headers: headers, reader: self.reader, readsBroken: true) else { continue }
            guard let bytes = try? contents.prefix(ExchangeFilter.bodyLimit) else { continue }
            self.search(bytes, ordinal, side.rawValue, "body")
        }
        guard let messages = interaction.webSocket else { return }
        try? self.reader.forEachSocketMessage(of: messages) { message in
            self.search(try message.contents().prefix(ExchangeFilter.bodyLimit), ordinal, "webSocket", "message \(message.number)")
            return self.hits < Self.hitLimit
        }
    }

    private func search(fields: HeaderFields, _ ordinal: Int, _ side: String) {
        for index in 0..<fields.count { self.search(Array(fields.line(at: index)), ordinal, side, "header \(fields.name(at: index))") }
    }

    /// Reports the first hit.
    private func search(_ bytes: [UInt8], _ ordinal: Int, _ side: String, _ place: String) {
        guard let offset = Self.find(self.needle, in: bytes) else { return }
        self.hits += 1
        var start = max(0, offset - Self.margin)
        // Do not begin within a character.
        while start < offset, bytes[start] & 0xC0 == 0x80 { start += 1 }
        let end = min(bytes.count, offset + self.needle.count + Self.margin)
        var writer = JSONWriter()
        writer.beginObject(.inline)
        writer.member("key")
        writer.integer(ordinal + 1)
        writer.member("side")
        writer.string(side)
        writer.member("place")
        writer.string(place)
        writer.member("offset")
        writer.integer(offset)
        for (name, range) in [
            ("before", start..<offset), ("hit", offset..<offset + self.needle.count), ("after", offset + self.needle.count..<end),
        ] {
            writer.member(named: name)
            writer.string(String(decoding: bytes[range], as: UTF8.self))
        }
        writer.endObject()
        self.lines += writer.bytes + [10]
    }

    static func find(_ needle: [UInt8], in bytes: [UInt8]) -> Int? {
        guard let first = needle.first, bytes.count >= needle.count else { return nil }
        return bytes.withUnsafeBytes { bytes in
            let other = first >= 97 && first <= 122 ? first - 32 : first
            var offset = 0
            while true {
                offset = ByteScan.index(of: first, or: other, in: bytes, from: offset)
                guard offset + needle.count <= bytes.count else { return nil }
                var index = 1
                while index < needle.count, self.lower(bytes[offset + index]) == needle[index] { index += 1 }
                if index == needle.count { return offset }
                offset += 1
            }
        }
    }

    private static func lower(_ byte: UInt8) -> UInt8 { byte >= 65 && byte <= 90 ? byte | 32 : byte }
}
