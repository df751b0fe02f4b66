/// Follows the replay of one conversation: which recorded message is due to the client, and which messages the client has yet to send.
///
/// Knows messages by their number in each direction, from 0, but neither their bytes nor the transport. The caller compares and sends them,
/// and supplies the time. A part that the recording sent after n client messages is sent once n messages have come.
public struct ConversationScript: Sendable {
    /// How the recorded conversation ended.
    public enum Ending: Sendable, Hashable {
        case complete
        /// The origin broke off the conversation.
        case cut
        /// The client broke off the conversation; nothing follows the messages received by then.
        case left
        /// Unknown, as in an imported archive. All messages are known, and the client closes when it likes.
        case open
    }

    /// A part of what the recording sent to its client.
    public struct Step: Sendable, Hashable {
        /// How many client messages precede this part; nil if all of them and the client's end do.
        public var after: Int?
        /// Milliseconds in the recording since those messages had arrived or the part before this one was sent, whichever was later.
        public var gap: Double

        public init(after: Int? = nil, gap: Double = 0) {
            self.after = after
            self.gap = gap
        }
    }

    public struct Recording: Sendable, Hashable {
        /// Number of client messages.
        public var requests: Int
        /// Whether the client ended its side. If not, it might have sent more than was recorded.
        public var requestsAreWhole: Bool
        /// Nil if no answer began.
        public var head: Step?
        public var messages: [Step]
        public var end: Step
        public var ending: Ending
        /// The head was sent before the conversation was chosen, as a WebSocket's is: its client sends nothing without it.
        public var headIsSent = false

        public init(
            requests: Int, requestsAreWhole: Bool = true, head: Step? = Step(), messages: [Step] = [], end: Step = Step(),
            ending: Ending = .complete
        ) {
            self.requests = requests
            self.requestsAreWhole = requestsAreWhole
            self.head = head
            self.messages = messages
            self.end = end
            self.ending = ending
        }

        /// Whether part of the answer came before the client's end, so that the client may have waited for it.
        public var isInteractive: Bool {
            if self.headIsSent || self.ending == .left || !self.requestsAreWhole { return true }
            return self.head?.after != nil || self.end.after != nil || self.messages.contains { $0.after != nil }
        }
    }

    public enum Action: Sendable, Hashable {
        case sendHead
        case send(Int)
        /// The recorded end; nothing follows.
        case end
        /// The answer breaks off, as the origin's did; nothing follows.
        case cut
        /// The next part is due at this time.
        case wait(until: Double)
        /// The client's next message or end is needed.
        case listen
        /// Nothing more is sent, and the client acts next: the recorded client had left here, or the ending is not known.
        case hold
    }

    /// How the script classifies a client message.
    public enum Receipt: Sendable, Hashable {
        /// It is this recorded one.
        case matched(Int)
        /// It equals none of the messages that may come now; this is the first of those.
        case differs(from: Int)
        /// All recorded ones have come.
        case surplus
        /// All recorded messages have come, but the recording ended before the client did.
        case unknown
    }

    /// What part of the answer is due to the client, regardless of time.
    enum Debt: Sendable, Hashable { case nothing, head, more }

    private enum Part: Sendable { case head, message(Int), end, nothing }

    public let recording: Recording
    private let order: ConversationOrder
    private let latency: Latency
    private var next: Part
    /// When the next part is due; nil if the client messages before it have not come.
    private var due: Double?
    /// Messages received from the client so far.
    public private(set) var came = 0
    private var isEnded = false
    /// With any order, the recorded messages that have not come; nil if exactly the first `came` have.
    private var missing: MissingMessages?

    public init(_ recording: Recording, order: ConversationOrder = .strict, latency: Latency = .none) {
        self.recording = recording
        self.order = order
        self.latency = latency
        let first: Part = recording.messages.isEmpty ? .end : .message(0)
        self.next = recording.headIsSent ? first : recording.head == nil ? .end : .head
        if order == .any { self.missing = MissingMessages(count: recording.requests) }
    }

    // MARK: The client

    /// A message of the client has come.
    ///
    /// - Parameter equals: whether the message equals the recorded one with this number.
    public mutating func messageCame(where equals: (Int) -> Bool) -> Receipt {
        guard let first = self.missing == nil ? (self.came < self.recording.requests ? self.came : nil) : self.missing?.first else {
            guard !self.recording.requestsAreWhole else { return .surplus }
            self.came += 1
            return .unknown
        }
        guard let matched = self.missing == nil ? (equals(first) ? first : nil) : self.missing?.takeFirst(where: equals) else {
            return .differs(from: first)
        }
        self.came += 1
        return .matched(matched)
    }

    /// The client has ended its side.
    public mutating func clientEnded() { self.isEnded = true }

    /// How many recorded messages the client has not sent.
    public var unsent: Int { max(0, self.recording.requests - self.came) }

    // MARK: The answer

    /// The next action. Call again after each client message, each part sent, and each wait.
    public mutating func next(at now: Double) -> Action {
        guard let step = self.step else { return .listen }
        if case .end = self.next {
            switch self.recording.ending {
            case .left, .open: return .hold
            case .complete, .cut: break
            }
        }
        guard self.isReleased(step) else { return .listen }
        let due = self.due ?? now + self.delay(of: step)
        self.due = due
        guard due <= now else { return .wait(until: due) }
        self.due = nil
        switch self.next {
        case .head:
            self.next = self.recording.messages.isEmpty ? .end : .message(0)
            return .sendHead
        case .message(let number):
            self.next = number + 1 < self.recording.messages.count ? .message(number + 1) : .end
            return .send(number)
        case .end, .nothing:
            self.next = .nothing
            return self.recording.ending == .complete ? .end : .cut
        }
    }

    private var step: Step? {
        switch self.next {
        case .head: self.recording.head
        case .message(let number): self.recording.messages[number]
        case .end: self.recording.end
        case .nothing: nil
        }
    }

    private func isReleased(_ step: Step) -> Bool {
        guard let after = step.after else { return self.isEnded }
        // A hand-edited mark may exceed the number of messages, and would never be reached.
        return self.isEnded || self.came >= min(after, self.recording.requests)
    }

    private func delay(of step: Step) -> Double {
        switch self.latency {
        case .none: return 0
        case .scaled(let factor): return step.gap.isNaN ? 0 : min(max(0, step.gap * factor), Latency.longest)
        case .fixed(let delay):
            // In an answer without a head, the end gets the delay.
            switch self.next {
            case .head: return delay
            case .end: return self.recording.head == nil ? delay : 0
            case .message, .nothing: return 0
            }
        }
    }

    var owes: Debt {
        guard let step = self.step, self.isReleased(step) else { return .nothing }
        guard case .head = self.next else { return .more }
        return self.isReleased(self.recording.messages.first ?? self.recording.end) ? .more : .head
    }
}

/// The recorded client messages that have not come, ascending. Removing one costs nothing, wherever it is.
private struct MissingMessages: Sendable {
    private(set) var first: Int?
    /// By number, the next one that has not come; `count` after the last.
    private var next: [Int]

    init(count: Int) {
        self.first = count > 0 ? 0 : nil
        self.next = Array(1..<max(1, count) + 1)
    }

    /// Takes out the first one that fits.
    mutating func takeFirst(where fits: (Int) -> Bool) -> Int? {
        var before: Int?
        var current = self.first
        while let number = current {
            let after = self.next[number]
            if fits(number) {
                if let before { self.next[before] = after } else { self.first = after < self.next.count ? after : nil }
                return number
            }
            (before, current) = (number, after < self.next.count ? after : nil)
        }
        return nil
    }
}

/// Whether client messages must come in the recorded order.
public enum ConversationOrder: String, Sendable, Hashable, CaseIterable {
    case strict
    /// In any order. A part that was sent after n messages is sent once any n have come.
    case any
}
