internal import Foundation

/// Cuts octets into lines that end in LF, CRLF or CR, however chunks cut them.
///
/// Knows no character set: a line is octets, without its end.
struct LineSplitter: Sendable {
    /// Octets of the longest line: a whole answer of that size in one line is nothing that a reader of lines wants.
    static let limit = 16 << 20

    private var line: [UInt8] = []
    /// The octet before was a CR, whose line is out: an LF now belongs to it.
    private var isBehindReturn = false

    /// - Returns: the lines that are whole by now.
    /// - Throws: for a line past the limit.
    mutating func push(_ chunk: some Sequence<UInt8>) throws(WiretapeError) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        for octet in chunk {
            let isSecond = self.isBehindReturn && octet == 10
            self.isBehindReturn = octet == 13
            switch octet {
            case _ where isSecond: break
            case 10, 13:
                lines.append(self.line)
                self.line = []
            default: self.line.append(octet)
            }
        }
        guard self.line.count <= Self.limit else {
            throw WiretapeError(.stream, "a line of the answer has more than \(Self.limit) octets: read it by bytes")
        }
        return lines
    }

    /// What stands behind the last line end; nil for nothing.
    mutating func finish() -> [UInt8]? {
        defer { self.line = [] }
        return self.line.isEmpty ? nil : self.line
    }
}
