internal import CassetteFormat

/// Redacts a text that arrives in pieces. Each byte is examined together with as many bytes before and after it as a secret can be long.
final class TextStream {
    /// How many bytes are collected before they are searched.
    private static let blockSize = 1 << 20
    /// How many bytes at the end wait for more, so that a secret that begins before them ends within them.
    private static let overlap = 2 * NamedValue.limit
    /// How many delivered bytes are kept as context, for the names of values that follow and the beginning of a query.
    private static let contextLimit = 4096

    private let redaction: TextRedaction
    private let kind: TextKind
    private var buffer: [UInt8] = []
    /// How many bytes at the buffer's beginning were delivered.
    private var context = 0
    private(set) var count = 0
    /// Columns with secrets in the text delivered so far; nil if there are none.
    private var columns: ColumnSurvey?
    private var isFirst = true

    init(_ redaction: TextRedaction, kind: TextKind) {
        self.redaction = redaction
        self.kind = kind
    }

    func push(_ piece: UnsafeRawBufferPointer, deliver: (UnsafeRawBufferPointer) throws -> Void) rethrows {
        self.buffer.append(contentsOf: piece)
        guard self.buffer.count >= self.context + Self.blockSize else { return }
        try self.process(isLast: false, deliver)
    }

    func finish(deliver: (UnsafeRawBufferPointer) throws -> Void) rethrows {
        try self.process(isLast: true, deliver)
    }

    private func process(isLast: Bool, _ deliver: (UnsafeRawBufferPointer) throws -> Void) rethrows {
        let (redaction, context, kind) = (self.redaction, self.context, self.kind)
        // After the first block, the buffer no longer begins with a header row.
        if self.isFirst, kind == .plain { self.columns = self.buffer.withUnsafeBytes { ColumnSurvey($0) } }
        self.isFirst = false
        var columns = self.columns
        let edits = self.buffer.withUnsafeBytes { text in
            let findings =
                columns?.findings(in: text, from: context, to: text.count, hasMore: !isLast, budget: redaction.budget) ?? []
            // Only the first block has the beginning, and only the last one the end.
            var redaction = redaction
            if context > 0 { redaction.borders.remove(.start) }
            let edits = redaction.edits(in: text, as: kind, findings: findings, hasMore: !isLast).edits
            if isLast, redaction.borders.contains(.rest), redaction.endsWithinSecret(text, as: kind, edits: edits) {
                redaction.vault.note(.rest)
            }
            return edits
        }
        .filter { $0.range.upperBound > context && !$0.range.isEmpty }
        .map { Edit(range: max($0.range.lowerBound, context)..<$0.range.upperBound, bytes: $0.bytes) }
        var cut = isLast ? self.buffer.count : max(context, self.buffer.count - Self.overlap)
        for edit in edits where edit.range.lowerBound < cut && edit.range.upperBound > cut { cut = edit.range.upperBound }
        let ready = edits.filter { $0.range.upperBound <= cut }
        self.count += ready.count
        let moved = ready.map { Edit(range: $0.range.lowerBound - context..<$0.range.upperBound - context, bytes: $0.bytes) }
        try self.buffer.withUnsafeBytes { bytes in
            let part = UnsafeRawBufferPointer(rebasing: bytes[context..<cut])
            if moved.isEmpty {
                if !part.isEmpty { try deliver(part) }
            } else {
                try EditList(moved).applied(to: part).withUnsafeBytes(deliver)
            }
        }
        self.buffer.withUnsafeBytes { _ = self.columns?.findings(in: $0, from: context, to: cut, hasMore: true, budget: nil) }
        let keep = min(cut, Self.contextLimit)
        self.buffer.removeFirst(cut - keep)
        self.context = keep
    }
}
