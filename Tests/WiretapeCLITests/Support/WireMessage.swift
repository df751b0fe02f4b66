/// A message that a raw client received: compared byte for byte, except for fields of a single connection (RFC 9110, 7.6.1).
struct WireMessage: Equatable, CustomStringConvertible {
    /// The status lines and fields, interim ones first, without the fields of a connection.
    var lines: [[UInt8]]
    var rest: [UInt8]

    private static let connectionFields = ["connection:", "keep-alive:", "proxy-connection:"]

    init(_ bytes: [UInt8]) {
        var lines: [[UInt8]] = []
        var rest = bytes[...]
        var isInterim = true
        while isInterim, !rest.isEmpty {
            isInterim = rest.starts(with: Array("HTTP/1.1 1".utf8))
            while let end = rest.firstIndex(of: 0x0a) {
                let line = Array(rest[...end])
                rest = rest[(end + 1)...]
                let lower = String(decoding: line, as: UTF8.self).lowercased()
                if !Self.connectionFields.contains(where: { lower.hasPrefix($0) }) { lines.append(line) }
                if line == [0x0d, 0x0a] { break }
            }
        }
        self.lines = lines
        self.rest = Array(rest)
    }

    /// One head after another, without a body.
    init(heads bytes: [UInt8]) {
        self.lines = bytes.split(separator: 0x0a, omittingEmptySubsequences: false).map(Array.init).filter { line in
            let lower = String(decoding: line, as: UTF8.self).lowercased()
            return !Self.connectionFields.contains { lower.hasPrefix($0) }
        }
        self.rest = []
    }

    /// Bytes without a head.
    init(body: [UInt8]) {
        self.lines = []
        self.rest = body
    }

    /// The message without the date of the answer, which differs between two answers of one origin.
    var undated: WireMessage {
        var copy = self
        copy.lines.removeAll { String(decoding: $0, as: UTF8.self).lowercased().hasPrefix("date:") }
        return copy
    }

    var description: String {
        let head = self.lines.map { String(decoding: $0, as: UTF8.self) }.joined()
        return head.prefix(600)
            + "… and \(self.rest.count) bytes: \(String(decoding: self.rest.prefix(200), as: UTF8.self).debugDescription)"
    }
}
