internal import CassetteModel
internal import TapeBytes

/// Reads items that Burp saves as XML: request and response as sent, in base64 or as text.
///
/// Knows only the elements of such files, not XML in general: declares no entities, opens no files, and expects no nested elements.
struct BurpReader {
    private let context: ImportContext

    init(_ context: ImportContext) { self.context = context }

    static func isBeginning(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.first == UInt8(ascii: "<") && String(decoding: bytes, as: UTF8.self).contains("<items burpVersion")
    }

    func read(_ file: any SourceBytes, _ deliver: (ImportedExchange) throws -> Void) throws {
        let text = try file.rest(of: self.context.file)
        var scanner = Scanner(text: text)
        guard scanner.pass("<items") else { throw self.context.error(line: 1, "", "\"<items>\" is missing") }
        while scanner.pass("<item>") {
            self.context.entry += 1
            guard let item = scanner.text(upTo: "</item>") else {
                throw self.context.error(line: scanner.line, "", "the file ends early", .damaged, "it was cut short: save or copy it again")
            }
            if let exchange = try self.exchange(Item(text: item), line: scanner.line) { try deliver(exchange) }
        }
    }

    private func exchange(_ item: Item, line: Int) throws(CassetteError) -> ImportedExchange? {
        let messages = WireMessages(self.context, line: line)
        guard let request = item.element("request") else { throw self.context.error(line: line, "request", "it is missing") }
        let url = item.element("url").map { String(decoding: $0.text, as: UTF8.self) } ?? ""
        let base = self.base(item, url)
        let sent = try self.bytes(request, "request", line)
        guard var exchange = try messages.request(sent[...], base: base, .all)?.exchange else { return nil }
        // The Host field may differ from the host that was contacted.
        if let named = SourceWords.url(url) { exchange.request.url = named }
        exchange.started = item.element("time").flatMap { Self.time(String(decoding: $0.text, as: UTF8.self)) }
        self.context.lose(.timing)
        let came = try item.element("response").map { response throws(CassetteError) in try self.bytes(response, "response", line) } ?? []
        if came.isEmpty {
            exchange.outcome = .failed(Failure(kind: .reset, message: "the item has no answer"))
        } else {
            _ = try messages.respond(came[...], to: &exchange, .all)
        }
        return exchange
    }

    private func base(_ item: Item, _ url: String) -> String {
        func text(_ name: String) -> String? { item.element(name).map { String(decoding: $0.text, as: UTF8.self) } }
        guard let host = text("host"), !host.isEmpty else { return self.context.options.base }
        let scheme = text("protocol") ?? (url.hasPrefix("https") ? "https" : "http")
        let port = text("port").flatMap { Int($0) }
        return "\(scheme)://\(host)\(port.map { $0 == (scheme == "https" ? 443 : 80) ? "" : ":\($0)" } ?? "")"
    }

    private func bytes(_ element: Item.Element, _ name: String, _ line: Int) throws(CassetteError) -> [UInt8] {
        guard element.isBase64 else { return Self.bytes(ofCharacters: element.text) ?? element.text }
        guard let bytes = LooseBase64.decode(element.text[...]) else { throw self.context.error(line: line, name, "this is not base64") }
        return bytes
    }

    /// The bytes of a message of which each is a character, if its length says so: Burp writes a byte above 127 as the character of that number.
    private static func bytes(ofCharacters text: [UInt8]) -> [UInt8]? {
        guard text.contains(where: { $0 >= 128 }), let end = text.firstRange(of: [13, 10, 13, 10])?.upperBound else { return nil }
        let fields = HeaderFields(
            String(decoding: text[..<end], as: UTF8.self).split(whereSeparator: \.isNewline).dropFirst().map(String.init))
        guard let length = fields.first("content-length").flatMap({ Int($0) }), text.count - end != length else { return nil }
        var bytes: [UInt8] = []
        for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
            guard scalar.value < 256 else { return nil }
            bytes.append(UInt8(scalar.value))
        }
        guard let bodyStart = bytes.firstRange(of: [13, 10, 13, 10])?.upperBound, bytes.count - bodyStart == length else { return nil }
        return bytes
    }

    /// Parses the format of Java: `Sat Nov 28 04:19:28 UTC 2026`. Nil for other time zones.
    private static func time(_ text: String) -> Timestamp? {
        let words = text.split(separator: " ")
        guard words.count == 6, ["UTC", "GMT", "Z"].contains(words[4]) else { return nil }
        let day = words[2].utf8.count == 1 ? "0\(words[2])" : "\(words[2])"
        return SourceWords.time(httpDate: "\(words[0]), \(day) \(words[1]) \(words[5]) \(words[3]) GMT")
    }

    /// One item: elements that contain only text.
    private struct Item {
        struct Element {
            var text: [UInt8]
            var isBase64: Bool
        }

        let text: [UInt8]

        func element(_ name: String) -> Element? {
            var scanner = Scanner(text: self.text)
            while scanner.pass("<\(name)") {
                guard let attributes = scanner.text(upTo: ">") else { return nil }
                // A longer name with the same beginning.
                guard attributes.isEmpty || attributes.first == 32 else { continue }
                guard let inner = scanner.text(upTo: "</\(name)>") else { return nil }
                let isBase64 = String(decoding: attributes, as: UTF8.self).contains("base64=\"true\"")
                return Element(text: Self.plain(inner), isBase64: isBase64)
            }
            return nil
        }

        /// The text of CDATA without its marks, or text with the five entities of XML decoded.
        private static func plain(_ text: [UInt8]) -> [UInt8] {
            let (open, close) = (Array("<![CDATA[".utf8), Array("]]>".utf8))
            if text.starts(with: open), text.suffix(close.count).elementsEqual(close) {
                return Array(text.dropFirst(open.count).dropLast(close.count))
            }
            guard text.contains(UInt8(ascii: "&")) else { return text }
            let entities: [(name: [UInt8], byte: UInt8)] = [
                ("&lt;", 60), ("&gt;", 62), ("&amp;", 38), ("&quot;", 34), ("&apos;", 39),
            ].map { (Array($0.0.utf8), $0.1) }
            var plain: [UInt8] = []
            var position = 0
            while position < text.count {
                if text[position] == 38, let entity = entities.first(where: { text[position...].starts(with: $0.name) }) {
                    plain.append(entity.byte)
                    position += entity.name.count
                } else {
                    plain.append(text[position])
                    position += 1
                }
            }
            return plain
        }
    }

    /// Advances through a text from mark to mark, past the contents of CDATA sections.
    private struct Scanner {
        let text: [UInt8]
        private var position = 0
        private(set) var line = 1

        init(text: [UInt8]) { self.text = text }

        /// Advances past the next mark.
        ///
        /// - Returns: whether there is one.
        mutating func pass(_ mark: String) -> Bool { self.text(upTo: mark) != nil }

        /// The text up to the next mark, and advances past the mark; nil if there is none.
        mutating func text(upTo mark: String) -> [UInt8]? {
            let mark = Array(mark.utf8)
            let (open, close) = (Array("<![CDATA[".utf8), Array("]]>".utf8))
            var end = self.position
            while end < self.text.count {
                guard let hit = self.text[end...].firstIndex(where: { $0 == mark[0] || $0 == open[0] }) else { return nil }
                if self.text[hit...].starts(with: mark) {
                    let found = Array(self.text[self.position..<hit])
                    self.line += found.reduce(0) { $0 + ($1 == 10 ? 1 : 0) }
                    self.position = hit + mark.count
                    return found
                }
                end = hit + 1
                guard self.text[hit...].starts(with: open) else { continue }
                // Marks inside a CDATA section do not count.
                guard let closed = Self.find(close, in: self.text, from: hit) else { return nil }
                end = closed + close.count
            }
            return nil
        }

        private static func find(_ mark: [UInt8], in text: [UInt8], from start: Int) -> Int? {
            var position = start
            while let hit = text[position...].firstIndex(of: mark[0]) {
                if text[hit...].starts(with: mark) { return hit }
                position = hit + 1
            }
            return nil
        }
    }
}
