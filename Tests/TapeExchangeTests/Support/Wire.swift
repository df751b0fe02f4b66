internal import TapeExchange

/// Parses wire text in one call, for tests that check the result.
enum Wire {
    static func request(_ text: String, limits: Limits = Limits()) throws -> Parsed<RequestHead>? {
        try self.request(Array(text.utf8), limits: limits)
    }

    static func request(_ bytes: [UInt8], limits: Limits = Limits()) throws -> Parsed<RequestHead>? {
        var parser = HeadParser(limits: limits)
        return try bytes.withUnsafeBytes { try parser.parseRequest($0) }
    }

    static func response(_ text: String, limits: Limits = Limits()) throws -> Parsed<ResponseHead>? {
        try self.response(Array(text.utf8), limits: limits)
    }

    static func response(_ bytes: [UInt8], limits: Limits = Limits()) throws -> Parsed<ResponseHead>? {
        var parser = HeadParser(limits: limits)
        return try bytes.withUnsafeBytes { try parser.parseResponse($0) }
    }

    /// A head from its start line and its field lines.
    static func requestHead(_ lines: String...) throws -> RequestHead {
        guard let parsed = try self.request(lines.joined(separator: "\r\n") + "\r\n\r\n") else { throw Incomplete() }
        return parsed.head
    }

    static func responseHead(_ lines: String...) throws -> ResponseHead {
        guard let parsed = try self.response(lines.joined(separator: "\r\n") + "\r\n\r\n") else { throw Incomplete() }
        return parsed.head
    }

    struct Incomplete: Error {}

    /// The error of a request's head or framing; nil for an accepted request.
    static func refusal(ofRequest text: String) -> MessageError? {
        do {
            guard let parsed = try self.request(text) else { return nil }
            _ = try BodyFraming.ofRequest(parsed.head)
            return nil
        } catch { return error as? MessageError }
    }

    static func refusal(ofResponse text: String, to method: String = "GET") -> MessageError? {
        do {
            guard let parsed = try self.response(text) else { return nil }
            _ = try BodyFraming.ofResponse(parsed.head, requestMethod: method)
            return nil
        } catch { return error as? MessageError }
    }
}
