internal import CassetteModel
internal import CassettePlayback
internal import CassetteRedaction
internal import CassetteRun
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

    /// An error.
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

    /// The answer on the wire; the connection closes after it.
    ///
    /// - Parameter isHead: whether the request was for the head alone.
    func bytes(isHead: Bool = false) -> [UInt8] {
        let head =
            (["HTTP/1.1 \(self.status) \(self.reason)"] + self.fields + [
                "Content-Type: application/json", "X-Content-Type-Options: nosniff", "Cache-Control: no-store",
                "Content-Length: \(self.body.count)", "Connection: close",
            ]).joined(separator: "\r\n")
        return Array("\(head)\r\n\r\n".utf8) + (isHead ? [] : self.body)
    }

    static let tooManyConnections = ControlAnswer(
        status: 503, reason: "Service Unavailable", code: "connections",
        message: "the control API has reached its connection limit: close some connections.")

    static let tooSlow = ControlAnswer(
        status: 408, reason: "Request Timeout", code: "timeout", message: "the request did not arrive in time: send it in one piece.")

    static let stopping = ControlAnswer(
        status: 503, reason: "Service Unavailable", code: "stopping",
        message: "wiretape is stopping: try again after it has been restarted.")
}

/// What went wrong, as an answer.
extension ControlAnswer {
    init(_ error: any Error) {
        switch error {
        case let error as ControlAnswer: self = error
        case let error as SessionError: self.init(error)
        case let error as CassetteError: self.init(error)
        case let error as MatchRuleError:
            self.init(status: 400, reason: "Bad Request", code: "rules", message: error.message)
        case let error as SettingSyntaxError:
            self.init(status: 400, reason: "Bad Request", code: "rules", message: error.message)
        case let error as RunPlan.Expired:
            self.init(status: 422, reason: "Unprocessable Content", code: "expired", message: error.message)
        default:
            self.init(
                status: 500, reason: "Internal Server Error", code: "failed",
                message: "the session could not be opened (\(error)): try again, or without a port of its own.")
        }
    }

    private init(_ error: SessionError) {
        switch error.code.value {
        case .invalid: self.init(status: 400, reason: "Bad Request", code: "invalid", message: error.message)
        case .notFound: self.init(status: 404, reason: "Not Found", code: "not-found", message: error.message)
        case .nameTaken: self.init(status: 409, reason: "Conflict", code: "name-taken", message: error.message)
        case .cassetteInUse: self.init(status: 409, reason: "Conflict", code: "cassette-in-use", message: error.message)
        case .tooMany: self.init(status: 503, reason: "Service Unavailable", code: "too-many", message: error.message)
        case .stopping: self.init(status: 503, reason: "Service Unavailable", code: "stopping", message: error.message)
        }
    }

    /// The cassette does not fit the order: 409 for a state that may pass, 422 for one that a person must correct.
    private init(_ error: CassetteError) {
        switch error.code {
        case .unsafePath: self.init(status: 400, reason: "Bad Request", code: "cassette-name", message: error.message)
        case .inUse: self.init(status: 409, reason: "Conflict", code: "cassette-in-use", message: error.message)
        case .notFound: self.init(status: 422, reason: "Unprocessable Content", code: "no-cassette", message: error.message)
        case .noSpace: self.init(status: 507, reason: "Insufficient Storage", code: "disk-full", message: error.message)
        default: self.init(status: 422, reason: "Unprocessable Content", code: "cassette", message: error.message)
        }
    }
}
