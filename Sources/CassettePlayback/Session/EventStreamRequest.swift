public import CassetteModel
internal import TapeBytes

/// Tells requests for streams of events from others: such a client says which event it received last.
enum EventStreamRequest {
    private static let type = "text/event-stream"

    /// A client that connects anew sends the field (HTML, 9.2), and all that follow events accept their type.
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
    /// Whether the exchange went on when the recorded client left, or the recorder: nothing is known of the rest of its answer.
    ///
    /// A replay sends what there is and is then silent until its client leaves, too. An end, or a failure, would be the recording's own.
    public var wasLeftByClient: Bool {
        if case .cut(let cut) = self.outcome, cut.by != .origin { true } else { false }
    }

    /// Whether its answer is a stream of events that went on when the recorded client left, or the recorder.
    ///
    /// A replay holds it open after the last event: nothing more is known of it, and an end would be taken for a reason to connect anew.
    public var endsInOpenEvents: Bool {
        self.wasLeftByClient && self.response?.headers.areOfEventStream == true
    }
}
