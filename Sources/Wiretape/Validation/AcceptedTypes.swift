internal import TapeBytes

/// What an `Accept` field lets pass (RFC 9110, 12.5.1).
struct AcceptedTypes: Sendable, CustomStringConvertible {
    /// Ranges of one field: browsers send ten.
    private static let limit = 1000

    private let ranges: [MediaRange]
    private let text: String

    init(_ field: String) {
        self.text = field
        self.ranges = Self.elements(of: field).prefix(Self.limit).compactMap { MediaRange($0) }
    }

    /// A field with no range at all says nothing.
    var acceptsAnything: Bool { self.ranges.isEmpty || self.ranges.contains { $0.type == "*" && $0.weight > 0 } }

    /// A type that is none is within `*/*` alone.
    func accepts(_ contentType: String) -> Bool {
        guard !self.ranges.isEmpty else { return true }
        guard let type = MediaRange(contentType) else { return self.acceptsAnything }
        let best = self.ranges.filter { $0.includes(type) }.max { $0.precedence < $1.precedence }
        return best.map { $0.weight > 0 } ?? false
    }

    var description: String { "\"\(PlainText.escape(self.text.utf8, limit: 200))\"" }

    /// At commas outside quotes.
    private static func elements(of field: String) -> [Substring] {
        var isQuoted = false
        var isEscaped = false
        return field.split { character in
            if isEscaped {
                isEscaped = false
                return false
            }
            if character == "\\", isQuoted { isEscaped = true }
            if character == "\"" { isQuoted.toggle() }
            return character == "," && !isQuoted
        }
    }
}
