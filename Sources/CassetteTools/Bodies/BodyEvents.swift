internal import CassetteFormat
package import CassetteModel
internal import TapeBytes

/// The messages of a body that its sender made bit by bit, for display, numbered from 1: events, values, frames or parts.
///
/// Holds none of them: each pass over them reads the body. Messages of gRPC are `BodyMessages`.
package struct BodyEvents {
    package let count: Int
    /// The size of an event that has not ended, in bytes.
    package let rest: Int
    /// What one of them is called: `event`, `line`, `value`, `frame`, `message` or `part`.
    package let noun: String
    private let framing: StreamFraming
    private let contents: BodyContents
    private let arrival: Arrival?

    private struct Enough: Error {}

    /// Nil for a body of another type, and for one without an event. Throws errors of reading.
    ///
    /// Lines and elements of arrays count only if the body arrived in several pieces: most bodies in JSON are one value for people.
    package init?(_ body: Body, headers: HeaderFields, contents: BodyContents) throws {
        guard let framing = Self.framing(body, headers) else { return nil }
        self.framing = framing
        self.noun = Self.noun(framing)
        var reader = StreamReader(framing)
        var count = 0
        try contents.forEachPiece { piece in reader.push(piece) { _ in count += 1 } }
        reader.finish { _ in count += 1 }
        guard count > 0 else { return nil }
        self.count = count
        self.rest = contents.size - reader.end
        self.contents = contents
        // In a coded body, the sizes of pieces refer to the coded bytes.
        self.arrival = body.codings.isEmpty && contents.inflated == nil ? body.arrival : nil
    }

    private static func framing(_ body: Body, _ headers: HeaderFields) -> StreamFraming? {
        if case .events = body.content { return .events }
        if case .grpc = body.content { return nil }
        guard let index = headers.firstIndex(of: "content-type"), let framing = StreamFraming(type: headers.valueBytes(at: index)) else {
            return nil
        }
        switch framing {
        case .lines, .records, .elements: return body.arrival.map { $0.pieces.count > 1 } == true ? framing : nil
        case .events, .messages, .messagesInBase64, .frames, .parts: return framing
        }
    }

    private static func noun(_ framing: StreamFraming) -> String {
        switch framing {
        case .events: "event"
        case .messages, .messagesInBase64: "message"
        case .lines: "line"
        case .records, .elements: "value"
        case .frames: "frame"
        case .parts: "part"
        }
    }

    /// Passes one after another, until `take` returns false.
    package func forEach(_ take: (BodyEvent) throws -> Bool) throws {
        var (reader, number) = (StreamReader(self.framing), 0)
        var times = ArrivalTimes(self.arrival)
        func deliver(_ event: EventReader.Event) throws {
            number += 1
            let at = times.time(ofEnd: event.end)
            guard try take(BodyEvent(number: number, noun: self.noun, event: event, at: at)) else { throw Enough() }
        }
        do {
            try self.contents.forEachPiece { piece in try reader.push(piece, deliver) }
            try reader.finish(deliver)
        } catch is Enough {}
    }

    /// Nil if there are fewer.
    package func event(_ number: Int) throws -> BodyEvent? {
        var found: BodyEvent?
        try self.forEach { event in
            if event.number == number { found = event }
            return found == nil
        }
        return found
    }
}

/// Reads the messages of a stream of any kind as events.
private struct StreamReader {
    private let framing: StreamFraming
    private var events = EventReader()
    private var divider: StreamDivider
    private var held: [UInt8] = []
    private var base64: [UInt8] = []
    private var offset = 0
    /// The number of bytes up to the end of the last message.
    private(set) var end = 0

    init(_ framing: StreamFraming) {
        self.framing = framing
        self.divider = StreamDivider(framing == .messagesInBase64 ? .messages : framing)
    }

    mutating func push(_ piece: UnsafeRawBufferPointer, _ deliver: (EventReader.Event) throws -> Void) rethrows {
        switch self.framing {
        case .events:
            try self.events.push(piece, deliver)
            self.end = self.events.blockEnd
        case .messagesInBase64:
            // Each group of four characters is decoded by itself: padding may stand between two messages.
            self.base64 += piece.filter { $0 > 32 }
            let whole = self.base64.count & ~3
            var decoded: [UInt8] = []
            for start in stride(from: 0, to: whole, by: 4) {
                decoded += Base64.decode(Array(self.base64[start..<start + 4])) ?? []
            }
            self.base64.removeFirst(whole)
            try decoded.withUnsafeBytes { try self.divide($0, deliver) }
            self.offset += piece.count - decoded.count
            self.end = self.held.isEmpty ? self.offset : self.end
        case .messages, .lines, .records, .elements, .frames, .parts: try self.divide(piece, deliver)
        }
    }

    /// The last line of a text, or the last record, may have no end.
    mutating func finish(_ deliver: (EventReader.Event) throws -> Void) rethrows {
        guard self.framing == .lines || self.framing == .records, let event = self.event(self.held[...], end: self.offset) else { return }
        self.end = self.offset
        try deliver(event)
    }

    private mutating func divide(_ piece: UnsafeRawBufferPointer, _ deliver: (EventReader.Event) throws -> Void) rethrows {
        var ends: [Int] = []
        self.divider.push(piece) { ends.append($0) }
        var start = 0
        for end in ends {
            self.held.append(contentsOf: piece[start..<end])
            self.end = self.offset + end
            if let event = self.event(self.held[...], end: self.end) { try deliver(event) }
            self.held.removeAll(keepingCapacity: true)
            start = end
        }
        if self.held.count < EventReader.limit { self.held.append(contentsOf: piece[start...]) }
        self.offset += piece.count
    }

    /// Nil if the bytes hold nothing, such as an empty line.
    private func event(_ bytes: ArraySlice<UInt8>, end: Int) -> EventReader.Event? {
        switch self.framing {
        case .events: return nil
        case .lines, .records, .elements:
            var text = bytes
            if self.framing == .elements, let comma = text.firstIndex(where: { $0 > 32 }) { text = text[(comma + 1)...] }
            while let first = text.first, first <= 32 { text.removeFirst() }
            while let last = text.last, last <= 32 { text.removeLast() }
            return text.isEmpty ? nil : EventReader.Event(type: "message", id: "", data: Array(text), end: end)
        case .messages, .messagesInBase64:
            guard let flags = bytes.first else { return nil }
            // The trailers of gRPC-web, and the end of a stream of Connect.
            let type = flags & 0x80 != 0 ? "trailers" : flags & 0x02 != 0 ? "end" : flags & 0x01 != 0 ? "compressed" : "message"
            return EventReader.Event(type: type, id: "", data: Array(bytes.dropFirst(GRPCMessage.prefixSize)), end: end)
        case .frames:
            guard let frame = Array(bytes).withUnsafeBytes({ AmazonFrame($0) }) else {
                return EventReader.Event(type: "broken", id: "", data: Array(bytes), end: end)
            }
            let type = frame.header(":event-type") ?? frame.header(":exception-type") ?? frame.header(":error-code") ?? "message"
            let start = bytes.startIndex
            return EventReader.Event(
                type: type, id: "", data: Array(bytes[start + frame.payload.lowerBound..<start + frame.payload.upperBound]), end: end)
        case .parts(let boundary):
            // The rest of the delimiter's line comes before a part, and the next delimiter ends it.
            let part = bytes.dropLast(min(bytes.count, boundary.bytes.count + 4)).drop { $0 == 32 || $0 == 9 }.dropFirst(2)
            guard let data = Self.data(of: part) else { return nil }
            let fields = PartHeaderSection(bytes: Array(part[..<data])).fields
            return EventReader.Event(type: fields.first("content-type") ?? "message", id: "", data: Array(part[data...]), end: end)
        }
    }

    /// Where the data begins after the fields of a part; nil if they have no end.
    private static func data(of part: ArraySlice<UInt8>) -> Int? {
        if part.starts(with: [13, 10]) { return part.startIndex + 2 }
        var index = part.startIndex
        while index + 3 < part.endIndex {
            if part[index] == 13, part[index + 1] == 10, part[index + 2] == 13, part[index + 3] == 10 { return index + 4 }
            index += 1
        }
        return nil
    }
}

/// The arrival times of a body's bytes.
private struct ArrivalTimes {
    private let isThinned: Bool
    private var pieces: ArraySlice<Arrival.Piece>
    /// The number of bytes up to the end of the first of `pieces`.
    private var end: Int

    init(_ arrival: Arrival?) {
        self.isThinned = arrival?.isThinned == true
        self.pieces = (arrival?.pieces ?? [])[...]
        self.end = self.pieces.first?.size ?? 0
    }

    /// Milliseconds from the response's head; nil if unknown. Offsets must ascend.
    mutating func time(ofEnd offset: Int) -> Double? {
        while self.end < offset, self.pieces.count > 1 {
            self.pieces.removeFirst()
            self.end = ExchangeRow.sum(self.end, self.pieces.first?.size ?? 0)
        }
        return self.isThinned && self.pieces.count == 1 ? nil : self.pieces.first?.at
    }
}

/// One event in the form shown by views.
package struct BodyEvent {
    package let number: Int
    /// `event`, `line` and so on.
    package let noun: String
    package let event: EventReader.Event
    /// Milliseconds from the response's head to the event's last byte; nil if unknown.
    package let at: Double?

    package var contents: BodyContents { BodyContents(self.event.data) }

    /// `event 2, price, id 7, 18 B, 3.1 ms after the head`
    package var words: String {
        var words = ["\(self.noun) \(self.number)"]
        if self.event.type != "message" { words.append(self.event.type) }
        if !self.event.id.isEmpty { words.append("id \(self.event.id)") }
        words.append(Quantity.bytes(self.event.data.count))
        if let at { words.append("\(Quantity.milliseconds(at)) after the head") }
        return words.joined(separator: ", ")
    }

    package var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject(.lines)
        writer.member("event")
        writer.string(self.event.type)
        writer.member("id")
        writer.string(self.event.id)
        if let at {
            writer.member("at")
            writer.milliseconds(at)
        }
        writer.member("data")
        writer.string(String(decoding: self.event.data, as: UTF8.self))
        writer.endObject()
        return writer.bytes
    }
}
