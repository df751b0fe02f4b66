internal import TapeExchange

/// The result of all rules for one message and its body, independent of the pieces of the input.
struct Verdict: Equatable {
    var request: RequestHead?
    var response: ResponseHead?
    var headLength: Int?
    var target: RequestTarget?
    var host: Authority?
    var framing: BodyFraming?
    var body: BodyTranscript?
    var error: MessageError?

    /// The error of the head or of the body.
    var refusal: MessageError? { self.error ?? self.body?.error }

    /// Reads a request in pieces of the given sizes, and the rest in one piece.
    static func ofRequest(_ bytes: [UInt8], pieces: [Int] = []) -> Verdict {
        var verdict = Verdict()
        do {
            var parser = HeadParser()
            let parsed = try self.head(bytes, pieces) { try parser.parseRequest($0) }
            guard let (parsed, left) = parsed else { return verdict }
            verdict.request = parsed.head
            verdict.headLength = parsed.consumed
            let framing = try BodyFraming.ofRequest(parsed.head)
            verdict.framing = framing
            let target = try RequestTarget(parsed.head)
            verdict.target = target
            verdict.host = try HostRule.check(parsed.head, target: target)
            verdict.body = BodyTranscript.of(Array(bytes[parsed.consumed...]), framing: framing, pieces: left)
        } catch { verdict.error = error as? MessageError }
        return verdict
    }

    static func ofResponse(_ bytes: [UInt8], pieces: [Int] = []) -> Verdict {
        var verdict = Verdict()
        do {
            var parser = HeadParser()
            let parsed = try self.head(bytes, pieces) { try parser.parseResponse($0) }
            guard let (parsed, left) = parsed else { return verdict }
            verdict.response = parsed.head
            verdict.headLength = parsed.consumed
            let framing = try BodyFraming.ofResponse(parsed.head, requestMethod: "GET")
            verdict.framing = framing
            verdict.body = BodyTranscript.of(Array(bytes[parsed.consumed...]), framing: framing, pieces: left)
        } catch { verdict.error = error as? MessageError }
        return verdict
    }

    /// The head, and the sizes of the pieces that remain for the body.
    private static func head<Head: Sendable>(
        _ bytes: [UInt8], _ pieces: [Int], _ parse: (UnsafeRawBufferPointer) throws -> Parsed<Head>?
    ) throws -> (Parsed<Head>, [Int])? {
        var count = 0
        for (index, size) in (pieces + [bytes.count]).enumerated() {
            count = min(bytes.count, count + size)
            if let parsed = try bytes[..<count].withUnsafeBytes({ try parse($0) }) {
                return (parsed, [count - parsed.consumed] + pieces.dropFirst(index + 1))
            }
        }
        return nil
    }

    /// Whether every split into two pieces, and every byte alone, give this verdict too.
    static func isTheSameForEverySplit(_ bytes: [UInt8], _ judge: ([UInt8], [Int]) -> Verdict) -> Bool {
        let whole = judge(bytes, [])
        guard judge(bytes, Array(repeating: 1, count: bytes.count)) == whole else { return false }
        return (0...bytes.count).allSatisfy { judge(bytes, [$0]) == whole }
    }
}
