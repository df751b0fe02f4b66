public import CassetteModel
internal import TapeBytes

/// Distinguishes requests for event streams from others: their clients tell which event they received last.
enum EventStreamRequest {
    private static let type = "text/event-stream"

    /// A reconnecting client sends this field (HTML, 9.2), and every client of an event stream accepts its type.
    static func isAsked(by headers: HeaderFields) -> Bool {
        for index in 0..<headers.count {
            if headers.isNamed("last-event-id", at: index) { return true }
            guard headers.isNamed("accept", at: index), headers.valueBytes(at: index).count >= self.type.utf8.count else { continue }
            if headers.value(at: index).lowercased().contains(self.type) { return true }
        }
        return false
    }
}

extension Interaction {
    /// Whether the exchange was still in progress when the recorded client, or the recorder, left. The rest of its answer is unknown.
    ///
    /// A replay sends the recorded part and is then silent until its client leaves as well. An end or a failure would be an artefact of the
    /// recording.
    public var wasLeftByClient: Bool {
        if case .cut(let cut) = self.outcome, cut.by != .origin { true } else { false }
    }

    /// Whether its answer is an event stream that was still open when the recorded client left.
    ///
    /// A replay keeps it open after the last event. The rest is unknown, and an end would make the client reconnect. If the recorder left
    /// instead, the recorded client may have received more events.
    public var endsInOpenEvents: Bool {
        guard case .cut(let cut) = self.outcome, cut.by == .client else { return false }
        return self.response?.headers.areOfEventStream == true
    }
}
