package import CassetteModel
internal import TapeBytes

/// Messages that rules have paused, until somebody decides about them.
///
/// Any thread may use it. Knows no sockets: whoever holds a message puts it here and gets a decision, exactly once unless the message is
/// taken back before.
package final class PauseDesk: Sendable {
    /// Which message waits.
    package enum Stage: String, Sendable, Hashable, CaseIterable {
        case request, response
        /// One event of a stream of events, or one line of JSON lines.
        case event
        /// One message of a WebSocket or a gRPC stream, from the client to the server.
        case clientMessage
        /// The same from the server to the client.
        case serverMessage
    }

    /// What of a message can be changed.
    package struct Content: Sendable, Hashable {
        /// Of a request; empty otherwise.
        package var method = ""
        /// Absolute. Of a request; empty otherwise.
        package var url = ""
        /// Of an answer; 0 otherwise.
        package var status = 0
        package var reason = ""
        /// Of a request or an answer.
        package var headers = HeaderFields()
        /// The payload, with its content codings removed; nil if it is not shown and cannot be changed.
        package var body: [UInt8]?

        package init() {}

        var size: Int { self.url.utf8.count + self.headers.size + (self.body?.count ?? 0) }
    }

    package enum Decision: Sendable, Hashable {
        /// The message goes on as it is.
        case pass
        /// The message goes on with this content.
        case change(Content)
        /// The request is answered with this content, or the answer replaced, and nothing is sent to the origin.
        case answer(Content)
        /// An event or a message is left out. For a request or an answer, the connection closes.
        case drop
    }

    /// A message that waits.
    package struct Item: Sendable {
        package fileprivate(set) var id: Int
        package var stage: Stage
        /// The name of the rule.
        package var rule: String
        /// Of the exchange's request as the client sent it.
        package var method: String
        package var url: String
        package var content: Content
        /// When the exchange began, the message was paused, and it goes on by itself. All since the run began.
        package var began: Duration
        package var paused: Duration
        package var ends: Duration
        /// Whether the client has gone: nobody waits for the message any more.
        package var clientHasLeft = false
        /// Why the body cannot be changed; nil if it can.
        package var bodyNote: String?

        package init(
            stage: Stage, rule: String, method: String, url: String, content: Content, began: Duration, paused: Duration, wait: Duration,
            bodyNote: String? = nil
        ) {
            self.id = 0
            self.stage = stage
            self.rule = rule
            self.method = method
            self.url = url
            self.content = content
            self.began = began
            self.paused = paused
            self.ends = paused + wait
            self.bodyNote = bodyNote
        }
    }

    /// Why a message does not wait.
    package enum Refusal: Error, Sendable, Hashable {
        /// Nobody looks at the page.
        case nobodyWatches
        /// Too many messages wait already, or they hold too many bytes.
        case full
    }

    /// Messages that wait at the same time.
    package static let countLimit = 1000
    /// Bytes that they hold together, with those that were reserved.
    package static let sizeLimit = 64 << 20

    private struct Waiting {
        var item: Item
        let decide: @Sendable (Decision) -> Void
    }

    /// Messages that are listed although their clients have gone.
    private static let leftLimit = 20

    private struct State {
        var waiting: [Int: Waiting] = [:]
        var left: [Item] = []
        var size = 0
        var next = 1
        var changes = 0
    }

    private let state = Guarded(State())
    private let watched = Guarded<@Sendable () -> Bool>({ false })

    package init() {}

    /// Tells whether somebody looks at the page.
    package func setWatched(_ isWatched: @escaping @Sendable () -> Bool) { self.watched.withLock { $0 = isWatched } }

    /// Whether a message would wait.
    package var isWatched: Bool { self.watched.withLock { $0 }() }

    /// - Parameter decide: called once, on any thread, unless the message is removed before.
    /// - Returns: the message's number.
    package func put(_ item: Item, decide: @escaping @Sendable (Decision) -> Void) throws(Refusal) -> Int {
        guard self.isWatched else { throw .nobodyWatches }
        let id = self.state.withLock { state -> Int? in
            guard state.waiting.count < Self.countLimit, state.size + item.content.size <= Self.sizeLimit else { return nil }
            let id = state.next
            state.next += 1
            state.changes += 1
            state.size += item.content.size
            var item = item
            item.id = id
            state.waiting[id] = Waiting(item: item, decide: decide)
            return id
        }
        guard let id else { throw .full }
        return id
    }

    /// Keeps room for bytes that are held until their message can wait.
    package func reserve(_ bytes: Int) throws(Refusal) {
        guard self.isWatched else { throw .nobodyWatches }
        let hasRoom = self.state.withLock { state in
            guard state.size + bytes <= Self.sizeLimit else { return false }
            state.size += bytes
            return true
        }
        guard hasRoom else { throw .full }
    }

    /// Gives room back that was kept.
    package func release(_ bytes: Int) { self.state.withLock { $0.size -= bytes } }

    /// Takes a message back: its time is over, or its exchange has ended.
    package func remove(_ id: Int) { _ = self.state.withLock { Self.take(id, of: &$0) } }

    /// The client of a message has gone. Nobody decides about the message any more, but it stays in the list until its time is over, so that
    /// people see what became of it.
    package func clientLeft(_ id: Int) {
        self.state.withLock { state in
            guard var item = Self.take(id, of: &state)?.item else { return }
            item.clientHasLeft = true
            item.content.body = nil
            if state.left.count == Self.leftLimit { state.left.removeFirst() }
            state.left.append(item)
        }
    }

    /// Decides about a message.
    ///
    /// - Returns: whether the message was still waiting.
    package func decide(_ id: Int, _ decision: Decision) -> Bool {
        guard let waiting = self.state.withLock({ Self.take(id, of: &$0) }) else { return false }
        waiting.decide(decision)
        return true
    }

    /// The messages that wait, the longest waiting first, and those whose client has gone.
    ///
    /// - Parameter now: since the run began.
    package func items(at now: Duration) -> [Item] {
        let items = self.state.withLock { state in
            state.left.removeAll { $0.ends <= now }
            return state.waiting.values.map(\.item) + state.left
        }
        return items.sorted { ($0.paused, $0.id) < ($1.paused, $1.id) }
    }

    package func item(_ id: Int) -> Item? { self.state.withLock { $0.waiting[id]?.item } }

    package var count: Int { self.state.withLock { $0.waiting.count } }

    /// How many messages wait, and a number that is another one when the list is.
    package var progress: (count: Int, change: Int) { self.state.withLock { ($0.waiting.count, $0.changes) } }

    private static func take(_ id: Int, of state: inout State) -> Waiting? {
        guard let waiting = state.waiting.removeValue(forKey: id) else { return nil }
        state.changes += 1
        state.size -= waiting.item.content.size
        return waiting
    }
}
