internal import CassetteTools
internal import TapeBytes

/// What `diff --upload` prints: for people, or as one JSON object.
struct UploadDiffPage {
    let comparison: UploadComparison
    /// What the two sides are called: `exchange 3 of "curl.json", POST http://a/upload`.
    let names: (left: String, right: String)

    // MARK: For people

    var lines: [String] {
        var lines = ["left   \(self.names.left)", "right  \(self.names.right)"]
        if !self.comparison.message.isEmpty {
            lines.append("~ the request")
            lines += self.comparison.message.map(Self.line)
        }
        for pair in self.comparison.pairs { lines += Self.lines(pair) }
        for (side, findings) in [("left", self.comparison.findings.left), ("right", self.comparison.findings.right)] {
            for finding in findings { lines.append("! \(side), \(VisibleText.line(finding.description))") }
        }
        lines.append(self.summary)
        return lines
    }

    private var summary: String {
        let pairs = self.comparison.pairs
        let same = pairs.count { $0.isSame }
        guard self.comparison.differs else { return "the uploads are the same, byte by byte, except for their boundaries." }
        let onlyLeft = pairs.count { $0.right == nil && $0.left != nil }
        let onlyRight = pairs.count { $0.left == nil && $0.right != nil }
        let changed = pairs.count - same - onlyLeft - onlyRight
        return "\(Quantity.count(same, "part")) the same, \(changed) changed, \(onlyLeft) only left, \(onlyRight) only right."
    }

    private static func lines(_ pair: UploadComparison.Pair) -> [String] {
        switch (pair.left, pair.right) {
        case (let left?, nil): return ["- \(VisibleText.line(left.words))"]
        case (nil, let right?): return ["+ \(VisibleText.line(right.words))"]
        case (let left?, let right?):
            guard !pair.isSame else { return ["= \(VisibleText.line(left.words))"] }
            let names = left.words == right.words ? left.words : "\(left.words) → \(right.words)"
            return ["~ \(VisibleText.line(names))"] + pair.changes.map(self.line) + pair.bytes.flatMap(self.lines)
        case (nil, nil): return ["~ the body"] + pair.changes.map(self.line) + pair.bytes.flatMap(self.lines)
        }
    }

    private static func line(_ change: FieldChange) -> String {
        VisibleText.line("    \(change.place): \(change.old ?? "missing") → \(change.new ?? "missing")")
    }

    private static func lines(_ bytes: UploadComparison.Bytes) -> [String] {
        var lines = ["    \(bytes.what), from its byte \(bytes.offset):"]
        for (sign, window) in [("-", bytes.left), ("+", bytes.right)] {
            // As many rows as contain differing bytes, and the row before them.
            let last = min(window.bytes.count, max(window.differing.upperBound, window.differing.lowerBound + 1))
            let rows = HexDump.rows(
                Array(window.bytes.prefix((last + HexDump.rowSize - 1) / HexDump.rowSize * HexDump.rowSize)), from: window.start)
            lines += rows.map { "    \(sign) \($0)" }
            let left = window.count - window.differing.count
            if left > 0 { lines.append("    \(sign) and \(Quantity.bytes(left)) more") }
        }
        return lines
    }

    // MARK: JSON

    var json: String {
        var writer = JSONWriter()
        writer.beginObject(.inline)
        writer.member("left")
        writer.string(self.names.left)
        writer.member("right")
        writer.string(self.names.right)
        self.comparison.write(to: &writer)
        writer.endObject()
        return VisibleText.whole(writer.bytes, .json)
    }
}

/// The two exchanges of `--exchanges`: `3:1`, or `3` for the same number in both cassettes.
struct ExchangePair: Hashable {
    var old: Int
    var new: Int

    init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let old = Int(parts[0]), let new = Int(parts[parts.count - 1]), old > 0, new > 0 else {
            return nil
        }
        (self.old, self.new) = (old, new)
    }
}
