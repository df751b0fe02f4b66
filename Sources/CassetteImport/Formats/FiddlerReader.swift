internal import CassetteModel
internal import TapeBytes

/// Reads session archives of Fiddler (`.saz`): a ZIP file with `raw/1_c.txt` for the request, `raw/1_s.txt` for the response and
/// `raw/1_m.xml` for metadata.
struct FiddlerReader {
    private let context: ImportContext
    private let zip: ZipArchive
    /// The names in the archive, by their forms with slashes and without leading zeros.
    private let names: [String: String]

    init(_ context: ImportContext, _ zip: ZipArchive) {
        self.context = context
        self.zip = zip
        self.names = Dictionary(zip.names.map { (Self.plain($0), $0) }) { first, _ in first }
    }

    static func isArchive(_ zip: ZipArchive) -> Bool {
        zip.names.contains { name in self.plain(name).hasPrefix("raw/") && name.hasSuffix("_c.txt") }
    }

    private static func plain(_ name: String) -> String { String(name.map { $0 == "\\" ? "/" : $0 }).lowercased() }

    func read(_ deliver: (ImportedExchange) throws -> Void) throws {
        let stems = self.names.keys.filter { $0.hasPrefix("raw/") && $0.hasSuffix("_c.txt") }.map {
            String($0.dropLast("_c.txt".utf8.count))
        }
        // In the order of the sessions, whose numbers may have leading zeros.
        let sorted = stems.sorted { left, right in
            let (one, other) = (Int(left.dropFirst(4)) ?? .max, Int(right.dropFirst(4)) ?? .max)
            return one == other ? left < right : one < other
        }
        for stem in sorted {
            self.context.entry += 1
            if let exchange = try self.exchange(stem) { try deliver(exchange) }
        }
    }

    private func exchange(_ stem: String) throws(CassetteError) -> ImportedExchange? {
        let messages = WireMessages(self.context)
        let sent = try self.file("\(stem)_c.txt") ?? []
        guard !sent.isEmpty else {
            self.context.lose(.unanswered)
            return nil
        }
        let about = String(decoding: try self.file("\(stem)_m.xml") ?? [], as: UTF8.self)
        // Fiddler writes the full URL in the first line. If it does not, the scheme is unknown.
        let base = self.context.options.base
        guard var exchange = try messages.request(sent[...], base: base, .all)?.exchange else { return nil }
        exchange.started = Self.attribute("ClientBeginRequest", of: about).flatMap { SourceWords.time($0) }
        exchange.timing = Self.timing(about)
        let came = try self.file("\(stem)_s.txt") ?? []
        if came.isEmpty {
            exchange.outcome = .failed(Failure(kind: .reset, message: "the session has no answer"))
        } else {
            _ = try messages.respond(came[...], to: &exchange, .all)
        }
        if self.names["\(stem)_w.txt"] != nil { self.context.lose(.unknownPart) }
        return exchange
    }

    private func file(_ name: String) throws(CassetteError) -> [UInt8]? {
        guard let name = self.names[name] else { return nil }
        return try self.zip.read(name)
    }

    private static func timing(_ about: String) -> Timing {
        func time(_ name: String) -> Double? {
            self.attribute(name, of: about).flatMap { SourceWords.time($0) }.map { Double($0.microseconds) / 1000 }
        }
        func span(_ start: Double?, _ end: Double?) -> Double? {
            guard let start, let end, end >= start else { return nil }
            return ((end - start) * 1000).rounded() / 1000
        }
        let sent = time("FiddlerBeginRequest") ?? time("ClientDoneRequest")
        let begun = time("ServerBeginResponse")
        return Timing(
            send: span(time("ClientBeginRequest"), time("ClientDoneRequest")), wait: span(sent, begun),
            receive: span(begun, time("ServerDoneResponse")), total: span(time("ClientBeginRequest"), time("ServerDoneResponse")))
    }

    private static func attribute(_ name: String, of text: String) -> String? {
        guard let start = text.firstRange(of: "\(name)=\"")?.upperBound else { return nil }
        return String(text[start...].prefix { $0 != "\"" })
    }
}
