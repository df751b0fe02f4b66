/// Which peer wrote a message: decides how a fault is named and answered.
public enum MessageSide: Sendable, Hashable {
    case request, response

    /// A client is told of its own fault; a fault of the origin is a bad gateway (RFC 9110, 15.6.3).
    func fault(_ code: MessageError.Code, status: Int = 400, _ message: String) -> MessageError {
        MessageError(code, status: self == .request ? status : 502, message)
    }

    var name: String { self == .request ? "request" : "response" }
    var startLineName: String { self == .request ? "request line" : "status line" }
}
