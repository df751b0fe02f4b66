import Testing

@testable import TapeTLS
import TapeTestSupport

/// With any input, an end needs input, has ended or has failed, and never gives plaintext that was not sent.
struct DamagedHandshakeTests {
    private let authority: TestAuthority
    private let leaf: Leaf

    init() throws {
        self.authority = try TestAuthority()
        self.leaf = try self.authority.leaf()
    }

    private func pair(_ client: borrowing TLSClientContext, _ server: borrowing TLSServerContext) throws -> TLSPair {
        try self.authority.pair(client, server, peer: .example(protocols: ["http/1.1"]), leaf: self.leaf, protocolName: "http/1.1")
    }

    /// The invariants of an end after any input.
    private func expectOrder(_ end: TLSEnd, sent: [UInt8], _ comment: @autoclosure () -> Comment) {
        #expect(sent.starts(with: end.plaintext), comment())
        #expect(end.pendingOutput < 65_536, comment())
        if let failure = end.failure {
            #expect(!failure.message.isEmpty)
            #expect(end.receive([22, 3, 1]) == .failed(failure), comment())
        }
        let last = end.inputEnded()
        #expect(end.isEnded ? last == .ended : end.failure != nil, comment())
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func aWholeConnectionComesThrough(version: TLSVersion) throws {
        let pair = try self.pair(self.authority.clientContext(maximum: version), TestAuthority.serverContext())
        _ = TLSTranscript.play(pair)
        #expect(pair.client.plaintext == TLSTranscript.response)
        #expect(pair.server.plaintext == TLSTranscript.request)
        #expect(pair.client.isEnded)
        #expect(pair.server.isEnded)
    }

    /// Damage in transit, at any time of an open connection.
    @Test(arguments: [TLSVersion.tls12, .tls13])
    func aDamagedConnectionFailsInOrder(version: TLSVersion) throws {
        let client = try self.authority.clientContext(maximum: version)
        let server = try TestAuthority.serverContext()
        var failures = 0
        for seed in 0..<UInt64(400 * FuzzSettings.factor) {
            var generator = SeededGenerator(seed: seed)
            let pair = try self.pair(client, server)
            var turns = Int.random(in: 0..<7, using: &generator)
            _ = TLSTranscript.play(pair) { bytes, _ in
                turns -= 1
                guard turns < 0, let mutation = Mutation.allCases.randomElement(using: &generator) else { return bytes }
                return mutation.apply(to: bytes, using: &generator)
            }
            if pair.client.failure != nil || pair.server.failure != nil { failures += 1 }
            self.expectOrder(pair.client, sent: TLSTranscript.response, "\(version), seed \(seed)")
            self.expectOrder(pair.server, sent: TLSTranscript.request, "\(version), seed \(seed)")
        }
        // Otherwise the damage does not reach either end. The keys are new each time, and about half of the connections fail.
        #expect(failures > 150 * FuzzSettings.factor)
    }

    /// The bytes for another end, with damage.
    @Test(arguments: [TLSVersion.tls12, .tls13])
    func aTranscriptWithDamageFailsInOrder(version: TLSVersion) throws {
        let client = try self.authority.clientContext(maximum: version)
        let server = try TestAuthority.serverContext()
        let transcript = TLSTranscript.play(try self.pair(client, server))
        for seed in 0..<UInt64(400 * FuzzSettings.factor) {
            var generator = SeededGenerator(seed: seed)
            let pair = try self.pair(client, server)
            let isServer = seed % 2 == 0
            let end = isServer ? pair.server : pair.client
            var bytes = Array((isServer ? transcript.fromClient : transcript.fromServer).joined())
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                bytes = Mutation.allCases.randomElement(using: &generator)?.apply(to: bytes, using: &generator) ?? bytes
            }
            end.receive()
            while !bytes.isEmpty {
                let count = Int.random(in: 1...bytes.count, using: &generator)
                end.receive(bytes.prefix(count))
                bytes.removeFirst(count)
            }
            self.expectOrder(end, sent: [], "\(version), seed \(seed)")
        }
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func aHandshakeCutAtEachLengthIsAnEnd(version: TLSVersion) throws {
        let client = try self.authority.clientContext(maximum: version)
        let server = try TestAuthority.serverContext()
        let transcript = TLSTranscript.play(try self.pair(client, server))
        for (bytes, isServer) in [(transcript.fromClient[0], true), (transcript.fromServer[0], false)] {
            for length in bytes.indices {
                let pair = try self.pair(client, server)
                let end = isServer ? pair.server : pair.client
                end.receive()
                end.receive(bytes.prefix(length))
                if isServer {
                    #expect(end.hello == nil)
                    #expect(end.progress == .needsInput)
                    #expect(
                        end.inputEnded() == .failed(TLSFailure(cause: .closed, message: "it closed the connection during the handshake")))
                }
                self.expectOrder(end, sent: [], "\(version), \(isServer ? "server" : "client"), \(length) bytes")
            }
        }
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func garbageAfterTheHandshakeFailsInOrder(version: TLSVersion) throws {
        let client = try self.authority.clientContext(maximum: version)
        let server = try TestAuthority.serverContext()
        for seed in 0..<UInt64(100 * FuzzSettings.factor) {
            var generator = SeededGenerator(seed: seed)
            let pair = try self.pair(client, server)
            pair.run()
            #expect(pair.isEstablished)
            for end in [pair.client, pair.server] {
                for _ in 0..<4 {
                    var garbage = (0..<Int.random(in: 1...400, using: &generator)).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
                    // Half of them begin like a record.
                    if Bool.random(using: &generator) {
                        garbage.insert(
                            contentsOf: [UInt8.random(in: 20...24, using: &generator), 3, 3, 0, UInt8(min(garbage.count, 255))], at: 0)
                    }
                    end.receive(garbage)
                }
                self.expectOrder(end, sent: [], "\(version), seed \(seed)")
            }
        }
    }

    @Test func garbageInsteadOfAHandshakeFailsInOrder() throws {
        let client = try self.authority.clientContext()
        let server = try TestAuthority.serverContext()
        for seed in 0..<UInt64(500 * FuzzSettings.factor) {
            var generator = SeededGenerator(seed: seed)
            let pair = try self.pair(client, server)
            for end in [pair.client, pair.server] {
                end.receive()
                let length = Int.random(in: 0...200, using: &generator)
                let garbage = (0..<length).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
                let start: [UInt8] = [22, 3, 1, 0, UInt8(max(1, length)), UInt8.random(in: 0...24, using: &generator), 0, 0]
                end.receive(Bool.random(using: &generator) ? start + garbage : garbage)
                self.expectOrder(end, sent: [], "seed \(seed)")
            }
        }
    }
}
