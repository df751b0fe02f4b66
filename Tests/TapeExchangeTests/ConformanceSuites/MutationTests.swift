internal import CassetteModel
internal import Testing

@testable internal import TapeExchange
import TapeTestSupport

@Suite struct MutationTests {
    private static let legal: [[UInt8]] = (MessageCases.oddRequests + MessageCases.oddResponses).map { Array($0.utf8) }
    private static let malformed: [[UInt8]] = MessageCases.malformedRequests.map { Array($0.wire.utf8) }
    private static let pieces: [[UInt8]] = [
        "\r", "\n", "\r\n", "\0", " ", "\t", ":", ";", ",", "\r\n\r\n", "Transfer-Encoding: chunked\r\n", "Content-Length: 1\r\n",
        "Connection: a\r\n", "0\r\n", "ffffffffffffffff", "7fffffffffffffff",
        "HTTP/1.1", "\"", "[", "]", "@", "Host: b\r\n", "http://", "::", "/", "\u{FF}", "Upgrade: x\r\nConnection: upgrade\r\n",
        "TE: trailers\r\n",
    ].map { Array($0.utf8) }

    private static func mutated(_ generator: inout SeededGenerator) -> [UInt8] {
        var bytes = (Int.random(in: 0..<4, using: &generator) > 0 ? self.legal : self.malformed).randomElement(using: &generator) ?? []
        for _ in 0..<Int.random(in: 1...2, using: &generator) {
            let place = Int.random(in: 0...bytes.count, using: &generator)
            let other = Int.random(in: place...min(bytes.count, place + 12), using: &generator)
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: if place < bytes.count { bytes[place] = UInt8.random(in: 0...255, using: &generator) }
            case 1: bytes.insert(contentsOf: self.pieces.randomElement(using: &generator) ?? [], at: place)
            case 2: bytes.removeSubrange(place..<other)
            case 3: bytes.insert(contentsOf: bytes[place..<other], at: place)
            case 4: if place < bytes.count { bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator) }
            default:
                let donor = self.malformed.randomElement(using: &generator) ?? []
                bytes = Array(bytes[..<place]) + donor.suffix(Int.random(in: 0...donor.count, using: &generator))
            }
        }
        return bytes
    }

    /// Whether CR or LF occurs outside a pair, or NUL occurs.
    private static func hasStrayLineEnd(_ bytes: some Collection<UInt8>) -> Bool {
        var last: UInt8 = 0
        for byte in bytes {
            if byte == 0 || (byte == 10) != (last == 13) { return true }
            last = byte
        }
        return last == 13
    }

    @Test(arguments: 0..<4) func mutatedMessagesNeverTrapNorPassAStrayLineEnd(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var taken = 0
        for _ in 0..<5_000 {
            let bytes = Self.mutated(&generator)
            let isRequest = !bytes.starts(with: Array("HTTP/".utf8))
            let judge = isRequest ? Verdict.ofRequest : Verdict.ofResponse
            let verdict = judge(bytes, [])
            let split = Int.random(in: 0...bytes.count, using: &generator)
            guard judge(bytes, [split]) == verdict else {
                Issue.record("split at \(split) changes the verdict on \(bytes)")
                return
            }
            guard let length = verdict.headLength, verdict.error == nil else { continue }
            taken += 1
            var isSound = length <= bytes.count && !Self.hasStrayLineEnd(bytes[..<length])
            isSound = isSound && (verdict.body?.consumed ?? 0) <= bytes.count - length
            if isRequest {
                isSound = try isSound && Self.isForwardedAlike(verdict)
            } else {
                isSound = try isSound && Self.isAnsweredAlike(verdict)
            }
            guard isSound else {
                Issue.record("unsound verdict on \(bytes)")
                return
            }
        }
        #expect(taken > 500)
    }

    /// A forwarded message must mean the same to the next strict reader.
    private static func isForwardedAlike(_ verdict: Verdict) throws -> Bool {
        guard let head = verdict.request, let target = verdict.target, let framing = verdict.framing else { return false }
        let out = HopByHop.forwardedRequest(head, target: target)
        guard !self.hasStrayLineEnd(out), let again = try Wire.request(out), again.consumed == out.count else { return false }
        guard !again.head.fields.contains("proxy-authorization"), again.head.method == head.method else { return false }
        let framingAgain = try BodyFraming.ofRequest(again.head)
        guard framingAgain == framing else { return false }
        return HopByHop.forwardedRequest(again.head, target: try RequestTarget(again.head)) == out
    }

    private static func isAnsweredAlike(_ verdict: Verdict) throws -> Bool {
        guard let head = verdict.response, let framing = verdict.framing else { return false }
        let out = HopByHop.forwardedResponse(head, keepsClient: false, clientVersion: .http11)
        guard !self.hasStrayLineEnd(out), let again = try Wire.response(out), again.consumed == out.count else { return false }
        return try again.head.reason == head.reason && BodyFraming.ofResponse(again.head, requestMethod: "GET") == framing
    }
}
