internal import TapeBytes

/// The header section of one part: its exact bytes, and its field lines.
///
/// Does not interpret fields.
public struct PartHeaderSection: Sendable, Hashable {
    /// Field lines with their line ends, and the empty line, if there is one.
    public var bytes: [UInt8]

    public init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The section in the form required by RFC 2046: each line ends in CRLF, and an empty line follows.
    public init(lines: some Sequence<[UInt8]>) {
        self.bytes = []
        for line in lines { self.bytes += line + [13, 10] }
        self.bytes += [13, 10]
    }

    /// The range of one line without its line end, and the line end.
    struct Line {
        var content: Range<Int>
        var lineEnd: LineEnd
    }

    /// Passes the lines in order, including the empty one.
    func forEachLine(_ body: (Line) -> Void) {
        self.bytes.withUnsafeBytes { bytes in
            var start = 0
            while start < bytes.count {
                let feed = ByteScan.index(of: 10, in: bytes, from: start)
                let next = min(feed + 1, bytes.count)
                let lineEnd = LineEnd.before(next, from: start, in: bytes)
                body(Line(content: start..<next - lineEnd.count, lineEnd: lineEnd))
                start = next
            }
        }
    }

    /// The fields, with folded lines joined by a space (RFC 5322, 2.2.3: unfolding). Only `bytes` is exact.
    public var fields: HeaderFields {
        var lines: [[UInt8]] = []
        self.forEachLine { line in
            let content = self.bytes[line.content]
            guard let first = content.first else { return }
            if first == 32 || first == 9, let last = lines.indices.last {
                lines[last] += [32] + content.drop { $0 == 32 || $0 == 9 }
            } else {
                lines.append(Array(content))
            }
        }
        var fields = HeaderFields()
        for line in lines { fields.append(line: line) }
        return fields
    }

    /// The lines, if writing them with CRLF and an empty line restores exactly these bytes, and each is valid in a message's header
    /// section; nil otherwise.
    public var canonicalLines: [[UInt8]]? {
        var lines: [[UInt8]] = []
        self.forEachLine { lines.append(Array(self.bytes[$0.content])) }
        guard lines.popLast()?.isEmpty == true, lines.allSatisfy(Self.isPlainLine) else { return nil }
        return PartHeaderSection(lines: lines) == self ? lines : nil
    }

    private static func isPlainLine(_ line: [UInt8]) -> Bool {
        guard let first = line.first else { return false }
        return first != 32 && first != 9 && !line.contains { $0 == 0 || $0 == 13 }
    }
}
