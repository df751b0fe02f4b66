public import CassetteModel

/// Moves the dates of live conditional requests back to the day of the recording: a client asks with the dates that refreshed answers
/// gave it.
///
/// Those of header fields alone: a date in a URL or a body stays as it is sent.
public struct LiveDates: Sendable, Hashable {
    private static let names: [StaticString] = ["if-modified-since", "if-unmodified-since", "if-range"]

    private let shift: DateShift

    /// - Parameter shift: of the answers.
    public init(_ shift: DateShift) { self.shift = DateShift(seconds: -shift.seconds) }

    /// Nil where there is nothing to be moved.
    public func recorded(_ headers: HeaderFields) -> HeaderFields? {
        guard (0..<headers.count).contains(where: { Self.isDate(headers, $0) }) else { return nil }
        var moved = HeaderFields()
        for index in 0..<headers.count {
            var line = Array(headers.line(at: index))
            if Self.isDate(headers, index) {
                DateRefresh.move(&line, from: headers.nameBytes(at: index).count + 1, self.shift)
            }
            moved.append(line: line)
        }
        return moved == headers ? nil : moved
    }

    private static func isDate(_ fields: HeaderFields, _ index: Int) -> Bool { self.names.contains { fields.isNamed($0, at: index) } }
}
