internal import COpenSSL
import Testing

@testable import TapeTLS
import TapeTestSupport

/// Calls in any order, which no handler makes: nothing crashes, plaintext stays intact, and OpenSSL's error queue stays empty (`TLSEnd`
/// checks it after each call).
struct RandomWalkTests {
    private enum Step: CaseIterable {
        case send, sendLarge, carry, carryPart, receiveNothing, close, look, answer, garbage, end
    }

    private let authority: TestAuthority
    private let leaf: Leaf
    /// Sent data is a part of this: two parts are hardly ever equal.
    private let noise: [UInt8]

    init() throws {
        var generator = SeededGenerator(seed: 0)
        self.noise = (0..<100_000).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
        self.authority = try TestAuthority()
        self.leaf = try self.authority.leaf()
    }

    /// One end, its sent bytes, and the part of them that is still in transit.
    private final class Walker {
        let end: TLSEnd
        var sent: [UInt8] = []
        var onTheWay: [UInt8] = []

        init(_ end: TLSEnd) { self.end = end }
    }

    private func send(_ count: Int, _ walker: Walker, using generator: inout SeededGenerator) {
        let start = Int.random(in: 0...(self.noise.count - count), using: &generator)
        let bytes = self.noise[start..<(start + count)]
        do {
            try walker.end.send(bytes)
            #expect(walker.end.isEstablished)
            walker.sent += bytes
        } catch {
            #expect(!error.message.isEmpty)
        }
    }

    private func carry(_ from: Walker, to other: Walker, part: Int?) {
        from.onTheWay += from.end.output()
        let count = min(part ?? .max, from.onTheWay.count)
        other.end.receive(from.onTheWay.prefix(count))
        from.onTheWay.removeFirst(count)
    }

    private func look(_ end: TLSEnd) {
        _ = (end.version, end.cipher, end.protocolName, end.isResumed, end.peerCertificates)
        #expect(ERR_peek_error() == 0)
        ERR_clear_error()
    }

    private func take(
        _ step: Step, _ own: Walker, _ other: Walker, isHonest: Bool, using generator: inout SeededGenerator
    ) {
        switch step {
        case .send: self.send(Int.random(in: 0...100, using: &generator), own, using: &generator)
        case .sendLarge: self.send(Int.random(in: 0...40_000, using: &generator), own, using: &generator)
        case .carry: self.carry(own, to: other, part: nil)
        case .carryPart: self.carry(own, to: other, part: Int.random(in: 0...600, using: &generator))
        case .receiveNothing: own.end.receive()
        case .look: self.look(own.end)
        case .answer: if own.end.hello == nil { own.end.answer = TLSEnd.Answer(leaf: self.leaf, protocolName: nil) }
        // The other steps end connections, so they are rare.
        case .close: if UInt8.random(in: 0..<8, using: &generator) == 0 { own.end.closeOutput() }
        case .end: if !isHonest, UInt8.random(in: 0..<16, using: &generator) == 0 { own.end.inputEnded() }
        case .garbage:
            guard !isHonest, UInt8.random(in: 0..<16, using: &generator) == 0 else { return }
            own.end.receive((0..<20).map { _ in UInt8(truncatingIfNeeded: generator.next()) })
        }
    }

    @Test(arguments: [TLSVersion.tls10, .tls12, .tls13])
    func callsInAnyOrderKeepTheRules(version: TLSVersion) throws {
        let client = try self.authority.clientContext(minimum: version, maximum: version)
        let server = try TestAuthority.serverContext(minimum: version)
        let sessions = TLSSessionCache(capacity: 4)
        var established = 0
        for seed in 0..<UInt64(60 * FuzzSettings.factor) {
            var generator = SeededGenerator(seed: seed)
            let isHonest = seed % 2 == 0
            let peer = TLSPeer(host: "example.test", serverName: "example.test", protocols: ["http/1.1"], sessionKey: "\(seed % 8)")
            let pair = try self.authority.pair(client, server, peer: peer, leaf: self.leaf, sessions: sessions)
            let walkers = [Walker(pair.client), Walker(pair.server)]
            pair.client.receive()
            for _ in 0..<200 {
                let turn = Int.random(in: 0...1, using: &generator)
                guard let step = Step.allCases.randomElement(using: &generator) else { continue }
                self.take(step, walkers[turn], walkers[1 - turn], isHonest: isHonest, using: &generator)
            }
            if isHonest { for _ in 0..<6 { for turn in 0...1 { self.carry(walkers[turn], to: walkers[1 - turn], part: nil) } } }
            established += pair.isEstablished ? 1 : 0
            for turn in 0...1 {
                let (read, sent) = (walkers[1 - turn].end.plaintext, walkers[turn].sent)
                #expect(isHonest ? read == sent : sent.starts(with: read), "\(version), seed \(seed)")
                if isHonest { #expect(walkers[turn].end.failure == nil, "\(version), seed \(seed)") }
            }
        }
        #expect(established >= 30 * FuzzSettings.factor)
    }
}
