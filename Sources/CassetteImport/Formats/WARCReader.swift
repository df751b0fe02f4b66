internal import CassetteModel
internal import TapeBytes

/// Reads web archives (WARC 1.0 and 1.1, ISO 28500), whose records contain requests and responses as sent.
///
/// A request and its response are separate records. One names the other, or they follow each other and have the same URL.
struct WARCReader {
    /// The most bytes of one record, which is held in memory.
    private static let recordLimit = 256 << 20
    /// The most records whose other half has not been read yet, and the most bytes of them.
    private static let waitingLimit = 4096
    private static let waitingSize = 512 << 20

    private let context: ImportContext

    init(_ context: ImportContext) { self.context = context }

    private struct Record {
        var entry: Int
        var fields: HeaderFields
        var block: [UInt8]

        func field(_ name: StaticString) -> String? { self.fields.first(name) }
        /// Without the brackets that version 1.0 puts around it.
        var url: String { (self.field("warc-target-uri") ?? "").filter { $0 != "<" && $0 != ">" } }
        var type: String { self.field("warc-type")?.lowercased() ?? "" }
        var isAnswer: Bool { self.type != "request" }
        var id: String { self.field("warc-record-id") ?? "" }

        func belongs(to other: Record) -> Bool {
            guard self.isAnswer != other.isAnswer else { return false }
            let named =
                self.fields.values("warc-concurrent-to").contains(other.id) || other.fields.values("warc-concurrent-to").contains(self.id)
            if named { return true }
            let names = self.field("warc-concurrent-to") != nil || other.field("warc-concurrent-to") != nil
            return !names && self.url == other.url && !self.url.isEmpty
        }
    }

    func read(_ file: any SourceBytes, _ deliver: (ImportedExchange) throws -> Void) throws {
        let input = Input(file, self.context)
        var waiting: [Record] = []
        var size = 0
        var (pairs, answers) = (0, 0)
        while let record = try self.next(input) {
            let type = record.type
            guard ["request", "response", "revisit"].contains(type) else {
                // Not fetched by HTTP, or derived from something else.
                if ["resource", "conversion", "continuation"].contains(type) { self.context.lose(.notHTTP) }
                continue
            }
            guard record.field("content-type")?.lowercased().hasPrefix("application/http") != false else {
                self.context.lose(.notHTTP)
                continue
            }
            if record.isAnswer { answers += 1 }
            guard let index = waiting.lastIndex(where: { $0.belongs(to: record) }) else {
                waiting.append(record)
                size += record.block.count
                while waiting.count > Self.waitingLimit || size > Self.waitingSize {
                    size -= waiting.removeFirst().block.count
                    self.context.lose(.unanswered)
                }
                continue
            }
            let other = waiting.remove(at: index)
            size -= other.block.count
            pairs += 1
            let (request, answer) = record.isAnswer ? (other, record) : (record, other)
            if let exchange = try self.exchange(request, answer) { try deliver(exchange) }
        }
        guard pairs > 0 || answers == 0 else {
            throw self.context.error(
                line: 0, "", "the archive has answers without their requests", .damaged,
                "record it with a program that writes request records, too")
        }
        for record in waiting {
            self.context.entry = record.entry
            self.context.lose(.unanswered)
        }
    }

    private func exchange(_ request: Record, _ answer: Record) throws(CassetteError) -> ImportedExchange? {
        self.context.entry = request.entry
        let messages = WireMessages(self.context)
        let url = SourceWords.url(request.url) ?? SourceWords.url(answer.url)
        let base = url.map { Self.origin(of: $0) } ?? self.context.options.base
        guard var exchange = try messages.request(request.block[...], base: base, .all)?.exchange else { return nil }
        if let url { exchange.request.url = url }
        exchange.started = (request.field("warc-date") ?? answer.field("warc-date")).flatMap { SourceWords.time($0) }
        self.context.lose(.timing)
        self.context.entry = answer.entry
        _ = try messages.respond(answer.block[...], to: &exchange, .all)
        if answer.type == "revisit", exchange.responseBody?.bytes.isEmpty == true {
            // The body is in the record of an earlier visit.
            exchange.cutAnswer("the archive has the body with an earlier visit")
            self.context.lose(.responseBody)
        } else if let reason = answer.field("warc-truncated"), exchange.responseBody != nil {
            exchange.cutAnswer("the archive has cut the body (\(PlainText.escape(reason.utf8, limit: 40)))")
            self.context.lose(.responseBody)
        }
        return exchange
    }

    /// Scheme and authority.
    private static func origin(of url: String) -> String {
        let rest = url.drop { $0 != ":" }.dropFirst(3).prefix { $0 != "/" && $0 != "?" }
        return "\(url.prefix { $0 != ":" })://\(rest)"
    }

    // MARK: Records

    /// The next record; nil at the end of the file.
    private func next(_ input: Input) throws(CassetteError) -> Record? {
        var line = try input.line()
        while let empty = line, empty.isEmpty { line = try input.line() }
        guard let first = line else { return nil }
        self.context.entry += 1
        guard first.starts(with: "WARC/".utf8) else {
            throw self.error("expected a record, found \"\(PlainText.escape(first.prefix(40), limit: 40))\"")
        }
        var fields = HeaderFields()
        while true {
            guard let line = try input.line() else { throw self.cutShort }
            if line.isEmpty { break }
            guard fields.count < 256 else { throw self.error("a record has more than 256 fields") }
            fields.append(line: line)
        }
        guard let length = fields.first("content-length").flatMap({ Int($0) }), length >= 0 else {
            throw self.error("a record has no length")
        }
        guard length <= Self.recordLimit else {
            self.context.losses.note(.responseBody, at: self.context.place(nil))
            try input.skip(length)
            return Record(entry: self.context.entry, fields: HeaderFields(["warc-type: metadata"]), block: [])
        }
        return Record(entry: self.context.entry, fields: fields, block: try input.bytes(length))
    }

    private func error(_ problem: String) -> CassetteError { self.context.error(line: 0, "", problem) }

    private var cutShort: CassetteError {
        self.context.error(line: 0, "", "the file ends within a record", .damaged, "it was cut short: save or copy it again")
    }

    /// Reads an archive by lines or by numbers of bytes.
    private final class Input {
        private static let lineLimit = 64 << 10

        private let file: any SourceBytes
        private let context: ImportContext
        private var buffer: [UInt8] = []
        private var start = 0

        init(_ file: any SourceBytes, _ context: ImportContext) {
            self.file = file
            self.context = context
        }

        /// A line without its end; nil at the end of the file.
        func line() throws(CassetteError) -> [UInt8]? {
            var searched = 0
            while true {
                if let feed = self.buffer[(self.start + searched)...].firstIndex(of: 10) {
                    let line = self.buffer[self.start..<feed]
                    self.start = feed + 1
                    return Array(line.last == 13 ? line.dropLast() : line)
                }
                searched = self.buffer.count - self.start
                guard searched <= Self.lineLimit else {
                    throw self.context.error(line: 0, "", "a line has more than \(Self.lineLimit >> 10) KiB")
                }
                guard try self.fill() else { return searched == 0 ? nil : try self.bytes(searched) }
            }
        }

        func bytes(_ count: Int) throws(CassetteError) -> [UInt8] {
            while self.buffer.count - self.start < count {
                guard try self.fill() else {
                    throw self.context.error(
                        line: 0, "", "the file ends within a record", .damaged, "it was cut short: save or copy it again")
                }
            }
            defer { self.start += count }
            return Array(self.buffer[self.start..<self.start + count])
        }

        func skip(_ count: Int) throws(CassetteError) {
            var rest = count
            while rest > 0 {
                let step = min(rest, 1 << 20)
                _ = try self.bytes(step)
                rest -= step
            }
        }

        private func fill() throws(CassetteError) -> Bool {
            self.buffer.removeFirst(self.start)
            self.start = 0
            let bytes = try self.file.read(256 << 10)
            self.buffer += bytes
            return !bytes.isEmpty
        }
    }
}
