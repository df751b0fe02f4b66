/// A value of a request that the answer repeats at another place, as protocols of messages define it.
///
/// Places are pointers within one message: the whole body, or an element of a batch.
struct EchoRelation: Sendable {
    /// The pointer to the client's value in the request.
    let source: [UInt8]
    /// The pointer to it in the answer.
    let target: [UInt8]
    /// A member of the answer's message, and the string that it must have.
    let member: (pointer: [UInt8], value: [UInt8])
    /// The method of the request, if it matters.
    let requestMethod: [UInt8]?

    private init(_ source: String, _ target: String, where member: (String, String), requestMethod: String? = nil) {
        self.source = Array(source.utf8)
        self.target = Array(target.utf8)
        self.member = (Array(member.0.utf8), Array(member.1.utf8))
        self.requestMethod = requestMethod.map { Array($0.utf8) }
    }

    static let all = [
        // JSON-RPC 2.0, 6: a server may answer a batch in several messages of a stream, and a single call together with notifications.
        EchoRelation("/id", "/id", where: ("/jsonrpc", "2.0")),
        // Model Context Protocol, Progress.
        EchoRelation("/params/_meta/progressToken", "/params/progressToken", where: ("/method", "notifications/progress")),
        // Model Context Protocol 2026-07-28, Subscriptions: the id of the call names the subscription.
        EchoRelation("/id", "/params/_meta/io.modelcontextprotocol~1subscriptionId", where: ("/jsonrpc", "2.0")),
        EchoRelation("/id", "/result/_meta/io.modelcontextprotocol~1subscriptionId", where: ("/jsonrpc", "2.0")),
        // The server ends a subscription. For other calls, the number is that of a call of the server.
        EchoRelation(
            "/id", "/params/requestId", where: ("/method", "notifications/cancelled"), requestMethod: "subscriptions/listen"),
        // Language Server Protocol 3.17, Work Done Progress and Partial Result Progress.
        EchoRelation("/params/workDoneToken", "/params/token", where: ("/method", "$/progress")),
        EchoRelation("/params/partialResultToken", "/params/token", where: ("/method", "$/progress")),
        // Debug Adapter Protocol, Base Protocol.
        EchoRelation("/seq", "/request_seq", where: ("/type", "response")),
        // OpenAI Realtime: an error names the client's event that caused it.
        EchoRelation("/event_id", "/error/event_id", where: ("/type", "error")),
    ]

    static let sources = Set(Self.all.map(\.source))
    static let targets = Set(Self.all.map(\.target))
    static let members = Set(Self.all.map(\.member.pointer))

    /// The pointer within the message of a request; the number of an element in a batch is left out.
    static func source(of pointer: [UInt8]) -> [UInt8] {
        guard let end = pointer.dropFirst().firstIndex(of: UInt8(ascii: "/")) else { return pointer }
        let first = pointer[1..<end]
        // An element of a sorted array has a digest for its number.
        let isElement = first.first == UInt8(ascii: "*") || !first.isEmpty && first.allSatisfy { (0x30...0x39).contains($0) }
        return isElement ? Array(pointer[end...]) : pointer
    }
}
