package import CassetteModel
internal import CassetteStore
internal import CassetteTools
internal import TapeBytes

/// Writes a web archive, WARC 1.1 (ISO 28500): a record for each request and one for its response, as HTTP/1.1 sends them.
///
/// HTTP/2 messages are written in the form of HTTP/1.1. WebSocket messages are left out.
package struct WARCRecords: ExchangeWriter {
    /// A record is held in memory until its length is known.
    private static let recordLimit = 128 << 20

    private let target: ExportTarget
    package private(set) var notes: [String] = []

    package init(_ target: ExportTarget) { self.target = target }

    package mutating func begin() throws {
        let block = Array("software: wiretape \(Version.current)\r\nformat: WARC File Format 1.1\r\n".utf8)
        let fields = [("WARC-Filename", VisibleText.line(self.target.name)), ("Content-Type", "application/warc-fields")]
        try self.record("warcinfo", id: Self.id(of: block, 0), date: nil, fields, block)
    }

    package mutating func end() throws {}

    package mutating func append(_ interaction: Interaction, number: Int) throws {
        guard let url = SafeURL.word(interaction.request.url) else {
            return self.notes.append("exchange \(number) was left out: its URL cannot be in a field of a web archive.")
        }
        let request = try self.block(number) { try RawMessages($0, .request).request(interaction) }
        let requestID = Self.id(of: request, 2 * number)
        var shared = [("WARC-Target-URI", url)]
        if let remote = interaction.connection?.remote, let colon = remote.lastIndex(of: ":") {
            shared.append(("WARC-IP-Address", String(remote[..<colon].filter { $0 != "[" && $0 != "]" })))
        }
        guard let response = interaction.response else {
            self.notes.append("exchange \(number) has no answer: only its request was written.")
            return try self.record(
                "request", id: requestID, date: interaction.started, shared + [("Content-Type", "application/http; msgtype=request")],
                request)
        }
        if interaction.webSocket != nil { self.notes.append("the messages of the WebSocket of exchange \(number) were left out.") }
        let answer = try self.block(number) { try RawMessages($0, .response).response(interaction) }
        let answerID = Self.id(of: answer, 2 * number + 1)
        try self.record(
            "request", id: requestID, date: interaction.started,
            shared + [("WARC-Concurrent-To", "<urn:uuid:\(answerID)>"), ("Content-Type", "application/http; msgtype=request")], request)
        var fields = shared + [("WARC-Concurrent-To", "<urn:uuid:\(requestID)>"), ("Content-Type", "application/http; msgtype=response")]
        if response.body?.isComplete == false { fields.append(("WARC-Truncated", "disconnect")) }
        try self.record("response", id: answerID, date: interaction.started, fields, answer)
    }

    // MARK: Records

    private struct TooLong: Error {}

    private func block(_ number: Int, _ write: (ExportTarget) throws -> Void) throws -> [UInt8] {
        var block: [UInt8] = []
        do {
            try write(
                ExportTarget(path: self.target.path) { bytes in
                    block += bytes
                    guard block.count <= Self.recordLimit else { throw TooLong() }
                })
        } catch is TooLong {
            throw CassetteError(
                .tooLarge,
                "exchange \(number) has a message of more than \(Self.recordLimit >> 20) MiB, the limit of a record: leave it out with --filter."
            )
        }
        return block
    }

    private func record(_ type: String, id: String, date: Timestamp?, _ fields: [(String, String)], _ block: [UInt8]) throws {
        // The archive's own record has no date, so it gets the start of Unix time, to be the same each time.
        let date = (date ?? Timestamp(microseconds: 0)).formatted
        var head = "WARC/1.1\r\nWARC-Type: \(type)\r\nWARC-Record-ID: <urn:uuid:\(id)>\r\nWARC-Date: \(date)\r\n"
        for (name, value) in fields { head += "\(name): \(value)\r\n" }
        try self.target.write("\(head)Content-Length: \(block.count)\r\n\r\n")
        try self.target.write(block)
        try self.target.write("\r\n\r\n")
    }

    /// A UUID of version 8 (RFC 9562, 5.8), which is the same each time a record is written.
    private static func id(of block: [UInt8], _ number: Int) -> String {
        var digest = PortableSHA256()
        Array("\(number)\n".utf8).withUnsafeBytes { digest.update($0) }
        block.withUnsafeBytes { digest.update($0) }
        var bytes = Array(digest.finalize().prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        let hex = Array(Hex.encode(bytes))
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(hex[$0]) }.joined(separator: "-")
    }
}

/// A URL as a word of a line.
private enum SafeURL {
    /// As a URI, which has only ASCII: other characters are percent-encoded (RFC 3987, 3.1). Nil if it contains a character that would end
    /// a line or a word.
    static func word(_ url: String) -> String? {
        guard url.utf8.allSatisfy({ $0 > 32 && $0 != 127 }) else { return nil }
        guard !url.utf8.allSatisfy({ $0 < 128 }) else { return url }
        var word: [UInt8] = []
        for byte in url.utf8 {
            if byte < 128 { word.append(byte) } else { word += "%\(Hex.encode([byte]).uppercased())".utf8 }
        }
        return String(decoding: word, as: UTF8.self)
    }
}
