internal import NIOHTTP1

/// What the origin says to one request.
///
/// Does not know how it is sent: `OriginHandler` frames it.
struct Answer: Sendable, Equatable {
    var status: HTTPResponseStatus
    var headers: HTTPHeaders
    /// One piece is sent with a length; several are sent as chunks with a pause between them.
    var pieces: [[UInt8]]

    init(_ status: HTTPResponseStatus, _ type: String, _ body: [UInt8], headers: HTTPHeaders = [:]) {
        self.status = status
        self.headers = ["Content-Type": type]
        self.headers.add(contentsOf: headers)
        self.pieces = [body]
    }

    init(_ status: HTTPResponseStatus, text: String, headers: HTTPHeaders = [:]) {
        self.init(status, "text/plain; charset=utf-8", Array(text.utf8), headers: headers)
    }

    init(_ status: HTTPResponseStatus, json: String, headers: HTTPHeaders = [:]) {
        self.init(status, "application/json", Array(json.utf8), headers: headers)
    }
}
