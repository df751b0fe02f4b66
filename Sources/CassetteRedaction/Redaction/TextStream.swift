/// Redacts a text that comes in pieces: each octet is looked at with as much before and behind it as a secret can be long.
final class TextStream {
    /// Octets that are collected before they are looked at.
    private static let blockSize = 1 << 20
    /// Octets at the end that wait for more: a secret that begins in front of them has its end within them.
    private static let overlap = 2 * TextSurvey.valueLimit
    /// Octets that were delivered and stay in sight: the names of values that follow, the beginning of a query.
    private static let contextLimit = 4096

    private let redaction: TextRedaction
    private let kind: TextKind
    private var buffer: [UInt8] = []
    /// Octets at the buffer's beginning that were delivered.
    private var context = 0
    private(set) var count = 0
    /// Columns of secrets in the text, as far as it was delivered; nil if there are none.
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
        // Behind the beginning, the text in sight does not begin with a field's name.
        if self.isFirst, kind == .plain { self.columns = self.buffer.withUnsafeBytes { ColumnSurvey($0) } }
        self.isFirst = false
        var columns = self.columns
        let edits = self.buffer.withUnsafeBytes { text in
            let findings = columns?.findings(in: text, from: context, to: text.count, hasMore: !isLast) ?? []
            return redaction.edits(in: text, as: kind, findings: findings, hasMore: !isLast).edits
        }
        .filter { $0.range.upperBound > context && !$0.range.isEmpty }
        .map { Edit(range: max($0.range.lowerBound, context)..<$0.range.upperBound, octets: $0.octets) }
        var cut = isLast ? self.buffer.count : max(context, self.buffer.count - Self.overlap)
        for edit in edits where edit.range.lowerBound < cut && edit.range.upperBound > cut { cut = edit.range.upperBound }
        let ready = edits.filter { $0.range.upperBound <= cut }
        self.count += ready.count
        let moved = ready.map { Edit(range: $0.range.lowerBound - context..<$0.range.upperBound - context, octets: $0.octets) }
        try self.buffer.withUnsafeBytes { bytes in
            let part = UnsafeRawBufferPointer(rebasing: bytes[context..<cut])
            if moved.isEmpty {
                if !part.isEmpty { try deliver(part) }
            } else {
                try EditList(moved).applied(to: part).withUnsafeBytes(deliver)
            }
        }
        self.buffer.withUnsafeBytes { _ = self.columns?.findings(in: $0, from: context, to: cut, hasMore: true) }
        let keep = min(cut, Self.contextLimit)
        self.buffer.removeFirst(cut - keep)
        self.context = keep
    }
}
