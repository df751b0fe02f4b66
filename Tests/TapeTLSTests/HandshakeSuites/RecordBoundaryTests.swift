import Testing

@testable import TapeTLS
import TapeTestSupport

/// A stream may be cut anywhere, and the result must be the same.
struct RecordBoundaryTests {
    private let authority: TestAuthority

    init() throws {
        self.authority = try TestAuthority()
    }

    /// Moves ciphertext in pieces of the given sizes until neither side has any.
    private func run(_ pair: TLSPair, pieces: (Int) -> Int) {
        pair.client.receive()
        while true {
            let (up, down) = (pair.client.output(), pair.server.output())
            guard !up.isEmpty || !down.isEmpty else { return }
            for (bytes, end) in [(up, pair.server), (down, pair.client)] {
                var rest = bytes[...]
                while !rest.isEmpty {
                    let count = max(1, min(pieces(rest.count), rest.count))
                    end.receive(rest.prefix(count))
                    rest = rest.dropFirst(count)
                }
            }
        }
    }

    private func exchange(_ version: TLSVersion, pieces: (Int) -> Int) throws {
        let pair = try self.authority.pair(maximum: version, peer: .example(protocols: ["http/1.1"]), protocolName: "http/1.1")
        self.run(pair, pieces: pieces)
        #expect(pair.isEstablished)
        let bytes = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        try pair.client.send("request".utf8)
        try pair.server.send(bytes)
        pair.client.closeOutput()
        pair.server.closeOutput()
        self.run(pair, pieces: pieces)
        #expect(pair.server.text == "request")
        #expect(pair.client.plaintext == bytes)
        #expect(pair.client.isEnded)
        #expect(pair.server.isEnded)
    }

    @Test(arguments: [TLSVersion.tls12, .tls13], [1, 2, 3, 5, 6, 64, 16_384])
    func piecesOfEverySizeLeadToTheSameEnd(version: TLSVersion, size: Int) throws {
        try self.exchange(version) { _ in size }
    }

    @Test(arguments: 0..<20)
    func piecesOfChanceLeadToTheSameEnd(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        try self.exchange(seed % 2 == 0 ? .tls12 : .tls13) { Int.random(in: 1...$0, using: &generator) }
    }

    @Test func aRecordCutAtEachByteIsReadOnce() throws {
        let pair = try self.authority.pair()
        pair.run()
        var wanted = ""
        for cut in 0..<60 {
            let text = "record \(cut) "
            try pair.client.send(text.utf8)
            wanted += text
            let bytes = pair.client.output()
            pair.server.receive(bytes.prefix(cut))
            pair.server.receive(bytes.dropFirst(cut))
            #expect(pair.server.text == wanted)
        }
    }

    @Test func recordsJoinedAreReadAll() throws {
        let pair = try self.authority.pair()
        pair.run()
        var bytes: [UInt8] = []
        for number in 0..<300 {
            try pair.client.send("\(number) ".utf8)
            bytes += pair.client.output()
        }
        #expect(TLSRecord.split(bytes).count == 300)
        pair.server.receive(bytes)
        #expect(pair.server.text == (0..<300).map { "\($0) " }.joined())
    }

    /// The hello of a client with a post-quantum key is longer than a segment.
    @Test func aHelloInManyRecordsIsReadWhole() throws {
        let pair = try self.authority.pair(maximum: .tls12)
        pair.client.receive()
        let hello = pair.client.output()
        for byte in hello.dropFirst(5) {
            #expect(!pair.server.isEstablished)
            #expect(pair.server.failure == nil)
            pair.server.receive([TLSRecord.handshake, 3, 1, 0, 1, byte])
        }
        #expect(pair.server.hello?.serverName == "example.test")
        pair.run()
        // Its signature covers messages rather than records (RFC 8446, 5.1).
        #expect(pair.isEstablished)
    }
}
