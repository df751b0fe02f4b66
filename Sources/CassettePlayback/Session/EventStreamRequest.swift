public import CassetteModel
internal import TapeBytes

/// What requests for streams of events are told apart by, whatever the rules compare: the last event that the client has had.
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

    static func lastEventID(in headers: HeaderFields) -> String? { headers.first("last-event-id") }
}

extension CassetteSession {
    /// The exchanges that answer a request for a stream of events: first those whose client had had the same of it. Waits for the disk.
    func resumptions(of pending: PendingRequest, _ key: Int, _ source: any RequestSource) throws(CassetteError) -> [Int] {
        let members = self.groups.members(ofKey: key).map(Int.init)
        let answered = self.state.withLock { state in members.map { state.assignments.answered[$0] } }
        let left = zip(members, answered).filter { $1 == 0 }.map(\.0).prefix(Self.candidateLimit)
        let used = zip(members, answered).filter { $1 > 0 }.map(\.0).suffix(Self.exampleLimit)
        var equal: [Int] = []
        for index in (left + used).sorted() where try self.lastEventID(at: index, source) == pending.lastEventID { equal.append(index) }
        // What is repeated is the same stream; in a strict order, another one may be due.
        if !equal.isEmpty, self.repetition != .never, self.order == .any { return equal }
        let equals = Set(equal)
        return equal + members.filter { !equals.contains($0) }
    }

    private func lastEventID(at index: Int, _ source: any RequestSource) throws(CassetteError) -> String? {
        if let known = self.state.withLock({ $0.lastEventIDs[index] }) { return known }
        let request = try source.comparedRequest(
            at: index, rules: self.rules, detail: .digests, redaction: nil, digest: self.digest)
        let read = EventStreamRequest.lastEventID(in: request.headers)
        self.state.withLock { $0.lastEventIDs[index] = .some(read) }
        return read
    }
}

extension Interaction {
    /// Whether its answer is a stream of events that went on when the recorded client left, or the recorder.
    ///
    /// A replay holds it open after the last event: nothing more is known of it, and an end would be taken for a reason to connect anew.
    public var endsInOpenEvents: Bool {
        if case .cut(let cut) = self.outcome, cut.by != .origin { self.response?.headers.areOfEventStream == true } else { false }
    }
}
