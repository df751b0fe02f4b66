internal import TapeBytes

/// A breakpoint: somebody looks at the message, edits it, and lets it go on.
package struct Pause: Sendable, Hashable {
    /// The index of the rule.
    package var rule: Int
    /// How long the message waits for somebody before it goes on as it is.
    package var wait: Duration

    package static let standardWait: Duration = .seconds(30)
}

/// What a rule pauses.
struct PauseRule: Sendable {
    enum Message: String, CaseIterable, Sendable {
        case request, response
        case both
        /// Each event of a stream of events.
        case events
        /// Each message of a WebSocket, of both sides.
        case messages
    }

    var message: Message
    var wait: Duration

    /// - Parameter wait: `for` of the rule.
    init(_ node: RuleNode, wait: Duration?, _ reader: RuleReader) throws(SettingSyntaxError) {
        let text = try reader.text(node, "\"pause\"")
        guard let message = Message(rawValue: text) else {
            throw reader.error(
                node.line,
                "\"pause\" is \"\(RuleReader.shown(text))\"; write \(Message.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        self.message = message
        self.wait = wait ?? Pause.standardWait
    }
}
