public import CassetteModel
internal import TapeBytes

extension Interaction {
    /// Whether its answer is a stream of events that went on when the recorded client left, or the recorder.
    ///
    /// A replay holds it open after the last event: nothing more is known of it, and an end would be taken for a reason to connect anew.
    public var endsInOpenEvents: Bool {
        guard case .cut(let cut) = self.outcome, cut.by != .origin, let headers = self.response?.headers,
            let index = headers.firstIndex(of: "content-type")
        else { return false }
        return MediaType(headers.valueBytes(at: index)).isEventStream
    }
}
