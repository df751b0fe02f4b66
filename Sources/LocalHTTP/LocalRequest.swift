internal import CassetteModel
internal import TapeExchange

/// An admitted request to a server on a loopback address.
package struct LocalRequest: Sendable, Hashable {
    package var method: String
    /// Without the query, as sent.
    package var path: String
    /// The query; empty if there is none.
    package var query: String
    package var body: [UInt8]
    /// The value of Range; nil if there is none.
    package var range: String?
    /// The value of If-Match; nil if there is none.
    package var ifMatch: String?
    /// Whether the client may send more requests on the connection.
    package var keepsAlive: Bool

    package init(
        method: String, path: String, query: String, body: [UInt8], range: String? = nil, ifMatch: String? = nil, keepsAlive: Bool = true
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.body = body
        self.range = range
        self.ifMatch = ifMatch
        self.keepsAlive = keepsAlive
    }

    /// The decoded values of a query's parameters, by name. The first of several counts. nil if one is not percent-encoded UTF-8.
    package var arguments: [String: String]? {
        var arguments: [String: String] = [:]
        for part in self.query.split(separator: "&") {
            let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentCoding.decode(sides[0]), let value = PercentCoding.decode(sides.count > 1 ? sides[1] : "") else {
                return nil
            }
            if arguments[name] == nil { arguments[name] = value }
        }
        return arguments
    }
}

/// Percent-encoding of a URL's parts (RFC 3986, 2.1).
package enum PercentCoding {
    /// nil for a percent sign without two hex digits, and for invalid UTF-8. A plus sign is kept.
    package static func decode(_ text: some StringProtocol) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(self.digit), let low = rest.popFirst().flatMap(self.digit) else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - 48
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - 87
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - 55
        default: nil
        }
    }
}

/// Reads the requests of a connection one after another: takes bytes, and returns a request or a refusal.
///
/// Reads no body before the gate has admitted its head. Knows no routes.
package struct LocalRequestReader {
    package enum Outcome: Equatable {
        /// - saysContinue: the client waits for 100 (Continue) before it sends the body (RFC 9110, 10.1.1).
        case needsMore(saysContinue: Bool)
        case request(LocalRequest)
        case refused(LocalAnswer)
    }

    private let gate: LocalGate
    private let bodyLimit: Int
    private let takesBytes: Bool
    private var parser = HeadParser()
    private var input: [UInt8] = []
    private var request: LocalRequest?
    private var expectsContinue = false
    /// The answer is sent without its body (RFC 9110, 9.3.2).
    package private(set) var isHead = false
    /// Whether the client has presented the token on this connection. Known as soon as a head is complete, before its body.
    package private(set) var hasShownToken = false
    private var body = BodyParser(framing: .none, side: .request)

    /// - Parameters:
    ///   - bodyLimit: in bytes. The default is enough for an order with a few hundred rules.
    ///   - takesBytes: whether a body may also be `application/octet-stream`, which no form on a web page can send either.
    package init(gate: LocalGate, bodyLimit: Int = 64 << 10, takesBytes: Bool = false) {
        self.takesBytes = takesBytes
        self.gate = gate
        self.bodyLimit = bodyLimit
    }

    /// Whether no part of another request has arrived.
    package var isIdle: Bool { self.input.isEmpty && self.request == nil }

    /// Takes the next bytes. Must not be called between a request and `next`, or after a refusal.
    package mutating func read(_ bytes: some Sequence<UInt8>) -> Outcome {
        self.input += bytes
        do {
            if self.request == nil {
                guard try self.readHead() else { return .needsMore(saysContinue: false) }
                let saysContinue = try !self.readBody()
                guard !saysContinue else { return .needsMore(saysContinue: self.expectsContinue) }
            } else if try !self.readBody() {
                return .needsMore(saysContinue: false)
            }
            return self.request.map { .request($0) } ?? .needsMore(saysContinue: false)
        } catch let refusal as LocalAnswer {
            return .refused(refusal)
        } catch let error as MessageError {
            return .refused(LocalAnswer(error))
        } catch {
            return .refused(
                LocalAnswer(
                    status: 500, reason: "Internal Server Error", code: "failed", message: "the request could not be read (\(error))."))
        }
    }

    /// Continues after an answered request, with the bytes that followed it.
    ///
    /// - Parameter bytes: more bytes.
    package mutating func next(_ bytes: some Sequence<UInt8>) -> Outcome {
        self.request = nil
        self.expectsContinue = false
        self.isHead = false
        return self.read(bytes)
    }

    /// - Returns: whether the head is complete.
    private mutating func readHead() throws -> Bool {
        guard let parsed = try self.input.withUnsafeBytes({ try self.parser.parseRequest($0) }) else { return false }
        self.input.removeFirst(parsed.consumed)
        let head = parsed.head
        self.isHead = head.method == "HEAD"
        let target = try RequestTarget(head)
        let host = try HostRule.check(head, target: target)
        guard case .origin(let path) = target else {
            throw LocalAnswer(
                status: 400, reason: "Bad Request", code: "target",
                message: "this is the \(self.gate.server.name), not a proxy: request a path, such as \(self.gate.server.example).")
        }
        let parts = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        if try self.gate.admit(head, path: String(parts[0]), host: host) { self.hasShownToken = true }
        let framing = try BodyFraming.ofRequest(head)
        if case .length(let length) = framing, length > self.bodyLimit { throw self.tooLarge }
        if framing != .none, framing != .length(0) { try self.checkType(head) }
        self.expectsContinue = head.fields.first("expect")?.lowercased() == "100-continue"
        self.body = BodyParser(framing: framing, side: .request)
        self.request = LocalRequest(
            method: head.method, path: String(parts[0]), query: parts.count > 1 ? String(parts[1]) : "", body: [],
            range: head.fields.first("range"), ifMatch: head.fields.first("if-match"),
            keepsAlive: head.version >= .http11 && head.fields.first("connection")?.lowercased() != "close")
        return true
    }

    /// Refuses content types that a form on a web page can send without a preflight.
    private func checkType(_ head: RequestHead) throws(LocalAnswer) {
        let type = head.fields.first("content-type")?.prefix { $0 != ";" && $0 != " " }.lowercased()
        guard type == "application/json" || self.takesBytes && type == "application/octet-stream" else {
            throw LocalAnswer(
                status: 415, reason: "Unsupported Media Type", code: "content-type",
                message: "the body is not declared as JSON: send it with \"Content-Type: application/json\".")
        }
    }

    /// - Returns: whether the body is complete.
    private mutating func readBody() throws -> Bool {
        if self.body.isDone { return true }
        var ranges: [Range<Int>] = []
        let progress = try self.input.withUnsafeBytes { bytes in
            try self.body.consume(bytes) { if case .data(let range) = $0 { ranges.append(range) } }
        }
        for range in ranges { self.request?.body += self.input[range] }
        self.input.removeFirst(progress.consumed)
        guard self.request?.body.count ?? 0 <= self.bodyLimit else { throw self.tooLarge }
        return progress.isDone
    }

    private var tooLarge: LocalAnswer {
        LocalAnswer(
            status: 413, reason: "Content Too Large", code: "too-large",
            message: "the body is longer than \(self.bodyLimit) bytes: send less.")
    }
}
