internal import TapeBytes

/// An answer of the control API: a status and one JSON object.
///
/// An error's object is `{"error": {"code": ..., "message": ...}}`: the code is for programs, the message for people.
struct ControlAnswer: Error, Sendable, Hashable {
    var status: Int
    var reason: String
    /// `Name: value`, without line ends.
    var fields: [String]
    var body: [UInt8]

    init(status: Int, reason: String, fields: [String] = [], body: [UInt8]) {
        self.status = status
        self.reason = reason
        self.fields = fields
        self.body = body
    }

    /// A refusal.
    init(status: Int, reason: String, fields: [String] = [], code: String, message: String) {
        var writer = JSONWriter()
        writer.beginObject(.inline)
        writer.member("error")
        writer.beginObject(.inline)
        writer.member("code")
        writer.string(code)
        writer.member("message")
        writer.string(message)
        writer.endObject()
        writer.endObject()
        self.init(status: status, reason: reason, fields: fields, body: writer.bytes + [UInt8(ascii: "\n")])
    }

    /// The answer as octets; the connection ends with it.
    ///
    /// - Parameter isHead: whether the request was for the head alone.
    func octets(isHead: Bool = false) -> [UInt8] {
        let head =
            (["HTTP/1.1 \(self.status) \(self.reason)"] + self.fields + [
                "Content-Type: application/json", "X-Content-Type-Options: nosniff", "Cache-Control: no-store",
                "Content-Length: \(self.body.count)", "Connection: close",
            ]).joined(separator: "\r\n")
        return Array("\(head)\r\n\r\n".utf8) + (isHead ? [] : self.body)
    }

    static let tooManyConnections = ControlAnswer(
        status: 503, reason: "Service Unavailable", code: "connections",
        message: "the control API serves as many connections as it may: let some end.")

    static let tooSlow = ControlAnswer(
        status: 408, reason: "Request Timeout", code: "timeout", message: "the request did not come in time: send it in one piece.")

    static let stopping = ControlAnswer(
        status: 503, reason: "Service Unavailable", code: "stopping", message: "wiretape is being stopped: start it again.")
}
