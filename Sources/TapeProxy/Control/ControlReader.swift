internal import CassetteModel
internal import TapeExchange

/// Reads the one request of a control connection: octets in, a request or a refusal out.
///
/// Reads no body before the gate has let its head in. Knows no routes.
struct ControlReader {
    enum Outcome: Equatable {
        /// - saysContinue: the client waits for 100 (Continue) before it sends the body (RFC 9110, 10.1.1).
        case needsMore(saysContinue: Bool)
        case request(ControlRequest)
        case refused(ControlAnswer)
    }

    /// Octets of a body: an order with a few hundred rules.
    static let bodyLimit = 64 << 10

    private let gate: ControlGate
    private var parser = HeadParser()
    private var input: [UInt8] = []
    private var request: ControlRequest?
    private var expectsContinue = false
    /// The answer goes without its body (RFC 9110, 9.3.2).
    private(set) var isHead = false
    private var body = BodyParser(framing: .none, side: .request)

    init(gate: ControlGate) {
        self.gate = gate
    }

    /// Takes the next octets; not to be called again once it has given a request or a refusal.
    mutating func read(_ octets: some Sequence<UInt8>) -> Outcome {
        self.input += octets
        do {
            if self.request == nil {
                guard try self.readHead() else { return .needsMore(saysContinue: false) }
                let saysContinue = try !self.readBody()
                guard !saysContinue else { return .needsMore(saysContinue: self.expectsContinue) }
            } else if try !self.readBody() {
                return .needsMore(saysContinue: false)
            }
            return self.request.map { .request($0) } ?? .needsMore(saysContinue: false)
        } catch let refusal as ControlAnswer {
            return .refused(refusal)
        } catch let error as MessageError {
            return .refused(
                ControlAnswer(
                    status: error.status, reason: ProxyAnswer.reason(error.status), code: "bad-request", message: error.message + "."))
        } catch {
            return .refused(ControlAnswer(error))
        }
    }

    /// - Returns: whether the head is whole.
    private mutating func readHead() throws -> Bool {
        guard let parsed = try self.input.withUnsafeBytes({ try self.parser.parseRequest($0) }) else { return false }
        self.input.removeFirst(parsed.consumed)
        let head = parsed.head
        self.isHead = head.method == "HEAD"
        let target = try RequestTarget(head)
        let host = try HostRule.check(head, target: target)
        guard case .origin(let path) = target else {
            throw ControlAnswer(
                status: 400, reason: "Bad Request", code: "target",
                message: "this is the control API and no proxy: ask for a path, as /sessions.")
        }
        try self.gate.admit(head, host: host)
        let framing = try BodyFraming.ofRequest(head)
        if case .length(let length) = framing, length > Self.bodyLimit { throw Self.tooLarge }
        if framing != .none, framing != .length(0) { try Self.checkType(head) }
        self.expectsContinue = head.fields.first("expect")?.lowercased() == "100-continue"
        self.body = BodyParser(framing: framing, side: .request)
        let parts = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        self.request = ControlRequest(
            method: head.method, path: String(parts[0]), query: parts.count > 1 ? String(parts[1]) : "", body: [])
        return true
    }

    /// What a form of a web page can send without asking first is not taken for an order.
    private static func checkType(_ head: RequestHead) throws(ControlAnswer) {
        let type = head.fields.first("content-type")?.prefix { $0 != ";" && $0 != " " }.lowercased()
        guard type == "application/json" else {
            throw ControlAnswer(
                status: 415, reason: "Unsupported Media Type", code: "content-type",
                message: "the body is not said to be JSON: send it with \"Content-Type: application/json\".")
        }
    }

    /// - Returns: whether the body is whole.
    private mutating func readBody() throws -> Bool {
        if self.body.isDone { return true }
        var ranges: [Range<Int>] = []
        let progress = try self.input.withUnsafeBytes { bytes in
            try self.body.consume(bytes) { if case .data(let range) = $0 { ranges.append(range) } }
        }
        for range in ranges { self.request?.body += self.input[range] }
        self.input.removeFirst(progress.consumed)
        guard self.request?.body.count ?? 0 <= Self.bodyLimit else { throw Self.tooLarge }
        return progress.isDone
    }

    private static var tooLarge: ControlAnswer {
        ControlAnswer(
            status: 413, reason: "Content Too Large", code: "too-large",
            message: "the body is longer than \(Self.bodyLimit) octets: no order needs so many.")
    }
}
