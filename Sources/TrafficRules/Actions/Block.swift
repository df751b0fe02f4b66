internal import TapeBytes

/// How a request is refused without asking anybody.
package enum Block: Sendable, Hashable {
    /// An answer with this status and a short text.
    case status(Int)
    /// The connection is closed (FIN); on HTTP/2 the stream ends.
    case close
    /// The connection is reset (RST); on HTTP/2 the stream (RST_STREAM).
    case reset

    init(_ node: RuleNode, _ reader: RuleReader) throws(SettingSyntaxError) {
        switch try reader.text(node, "\"block\"") {
        case "close": self = .close
        case "reset": self = .reset
        case let text:
            guard let status = Int(text), text.utf8.count == 3, (200...599).contains(status) else {
                throw reader.error(
                    node.line, "\"block\" is \"\(RuleReader.shown(text))\"; write a status from 200 to 599, close or reset")
            }
            self = .status(status)
        }
    }
}
