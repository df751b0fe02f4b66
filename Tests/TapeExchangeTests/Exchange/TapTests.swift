import CassetteModel
import TapeBytes
import TapeExchange
import Testing
import TapeTestSupport

@Suite struct TapTests {
    private func tap(_ framing: BodyFraming = .none) -> Tap {
        Tap(id: 7, started: Timestamp(microseconds: 1), request: RecordedRequest(method: "GET", url: "http://h/"), framing: framing)
    }

    private func feed(_ tap: inout Tap, _ side: Tap.Side, _ text: String, at: Double = 0) -> [UInt8]? {
        Array(text.utf8).withUnsafeBytes { tap.data(side, $0, at: at) }
    }

    @Test func aWholeExchangeHasItsBodiesAndItsTimes() {
        var tap = self.tap(.length(2))
        tap.connected(ConnectionInfo(id: 3, remote: "1.2.3.4:80", isReused: false), blocked: nil, dns: 1, connect: 2)
        #expect(self.feed(&tap, .request, "hi") == nil)
        tap.requestEnded(at: 5, sendStarted: 4)
        tap.interim(InterimResponse(version: .http11, status: 103, reason: [], headers: HeaderFields(), at: 6))
        tap.responseBegan(RecordedResponse(status: 200), framing: .chunked, at: 10)
        tap.chunk(.response, size: 5, line: nil, at: 10)
        #expect(self.feed(&tap, .response, "hello", at: 10) == nil)
        tap.lastChunk(.response, line: nil)
        tap.trailers(.response, HeaderFields(["T: 1"]))
        tap.responseEnded()
        let exchange = tap.ended(.complete, at: 12)
        #expect(exchange.interaction.id == 7)
        #expect(exchange.interaction.outcome == .complete)
        #expect(exchange.requestBody?.bytes == Array("hi".utf8))
        #expect(exchange.requestBody?.isComplete == true)
        #expect(exchange.responseBody?.bytes == Array("hello".utf8))
        #expect(exchange.responseBody?.isComplete == true)
        #expect(exchange.interaction.response?.trailers?.lines == ["T: 1"])
        #expect(exchange.interaction.interim.map(\.status) == [103])
        let timing = exchange.interaction.timing
        #expect((timing.dns, timing.connect, timing.send) == (1, 2, 1))
        #expect((timing.wait, timing.receive, timing.total) == (5, 2, 12))
    }

    @Test func absentEmptyAndCutAreThree() {
        var none = self.tap(.none)
        none.requestEnded(at: 0, sendStarted: 0)
        #expect(none.ended(.complete, at: 0).requestBody == nil)
        var empty = self.tap(.length(0))
        empty.requestEnded(at: 0, sendStarted: 0)
        let emptyBody = empty.ended(.complete, at: 0).requestBody
        #expect(emptyBody?.size == 0)
        #expect(emptyBody?.isComplete == true)
        var cut = self.tap(.length(9))
        _ = self.feed(&cut, .request, "part")
        let exchange = cut.ended(.cut(Cut(by: .client, reason: "left")), at: 1)
        #expect(exchange.requestBody?.isComplete == false)
        #expect(exchange.requestBody?.size == 4)
    }

    @Test func anExchangeThatFailedHasNoResponse() {
        var tap = self.tap()
        let exchange = tap.ended(.failed(Failure(kind: .refused, message: "no")), at: 3)
        #expect(exchange.interaction.response == nil)
        #expect(exchange.responseBody == nil)
        #expect(exchange.interaction.timing.receive == nil)
        #expect(exchange.interaction.timing.total == 3)
    }

    @Test func aLargeBodyComesOutInBlocks() {
        var tap = self.tap()
        tap.responseBegan(RecordedResponse(status: 200), framing: .untilClose, at: 0)
        let text = String(repeating: "x", count: BodyTap.blockSize)
        #expect(self.feed(&tap, .response, text) == nil)
        #expect(self.feed(&tap, .response, "y")?.isEmpty == false)
        tap.responseEnded()
        #expect(tap.ended(.complete, at: 1).responseBody?.isSpilled == true)
    }

    @Test func aStoppedClockGivesNoNegativeTimes() {
        var tap = self.tap()
        tap.requestEnded(at: 3, sendStarted: 5)
        tap.responseBegan(RecordedResponse(status: 200), framing: .none, at: 1)
        tap.responseEnded()
        let timing = tap.ended(.complete, at: 0).interaction.timing
        #expect((timing.send, timing.wait, timing.receive) == (0, 0, 0))
    }

    @Test func aTunnelLeavesItsCounts() {
        var tap = self.tap()
        tap.tunnelled(TunnelCounts(sent: 1, received: 2))
        #expect(tap.ended(.complete, at: 0).interaction.tunnel == TunnelCounts(sent: 1, received: 2))
    }

    @Test func aConnectionComesWithTheTimeOfItsHandshake() {
        var tap = self.tap()
        let details = TLSDetails(version: "TLSv1.3", cipher: "TLS_AES_128_GCM_SHA256", sni: "h")
        tap.connected(
            ConnectionInfo(id: 1, remote: "1.2.3.4:443", isReused: false, tls: details), blocked: nil, dns: nil, connect: 2, tls: 3)
        let exchange = tap.ended(.complete, at: 9)
        #expect(exchange.interaction.connection?.tls == details)
        #expect(exchange.interaction.timing.tls == 3)
        #expect(exchange.interaction.timing.connect == 2)
    }

    @Test func aSecondConnectionTakesThePlaceOfTheFirst() {
        var tap = self.tap()
        tap.connected(ConnectionInfo(id: 1, remote: "r", isReused: false), blocked: nil, dns: 1, connect: 2, tls: 3)
        tap.connected(ConnectionInfo(id: 2, remote: "r", isReused: true), blocked: nil, dns: nil, connect: nil)
        let interaction = tap.ended(.complete, at: 9).interaction
        #expect(interaction.connection?.id == 2)
        #expect((interaction.timing.dns, interaction.timing.connect, interaction.timing.tls) == (nil, nil, nil))
    }
}

@Suite struct BodyTapTests {
    /// Feeds pieces with these sizes and times; returns the blocks that were passed on, and the final body.
    private func tap(_ pieces: [(size: Int, at: Double)], isChunked: Bool = false) -> (blocks: [[UInt8]], body: TapedBody) {
        var tap = BodyTap(isChunked: isChunked)
        var blocks: [[UInt8]] = []
        var next = 0
        for piece in pieces {
            let bytes = (next..<next + piece.size).map { UInt8(truncatingIfNeeded: $0) }
            next += piece.size
            if isChunked { tap.chunk(size: piece.size, line: nil, at: piece.at) }
            if let block = bytes.withUnsafeBytes({ tap.data($0, at: piece.at) }) { blocks.append(block) }
        }
        return (blocks, tap.ended(isComplete: true))
    }

    @Test func aSmallBodyIsKept() {
        let (blocks, body) = self.tap([(3, 0), (2, 0)])
        #expect(blocks.isEmpty)
        #expect(body.bytes == [0, 1, 2, 3, 4])
        #expect(!body.isSpilled)
        #expect(body.size == 5)
        #expect(body.arrival == nil)
    }

    @Test func aBodyOfTheBlocksSizeIsKeptAndOneByteMoreIsNot() {
        #expect(!self.tap([(BodyTap.blockSize, 0)]).body.isSpilled)
        let (blocks, body) = self.tap([(BodyTap.blockSize, 0), (1, 0)])
        #expect(body.isSpilled)
        #expect(blocks.joined().count + body.bytes.count == BodyTap.blockSize + 1)
    }

    @Test(arguments: 0..<20) func blocksAndTheRestAreTheBody(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let pieces = (0..<Int.random(in: 1...30, using: &generator)).map { _ in (Int.random(in: 0...12_000, using: &generator), 0.0) }
        let (blocks, body) = self.tap(pieces)
        let size = pieces.reduce(0) { $0 + $1.0 }
        #expect(body.size == size)
        #expect(Array(blocks.joined()) + body.bytes == (0..<size).map { UInt8(truncatingIfNeeded: $0) })
        #expect(blocks.allSatisfy { !$0.isEmpty && $0.count <= 2 * BodyTap.blockSize })
        #expect(body.isSpilled == !blocks.isEmpty)
    }

    @Test(arguments: 0..<20) func aBlockThatTheCallerStoresIsNotedAsOneThatIsHandedOn(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let sizes = [10, 5000, BodyTap.blockSize, BodyTap.blockSize + 1, 200_000]
        let pieces = (0..<12).map { (sizes.randomElement(using: &generator) ?? 1, Double($0 / 2) * 9) }
        let expected = self.tap(pieces)
        var tap = BodyTap(isChunked: false)
        var blocks: [[UInt8]] = []
        var next = 0
        for (size, at) in pieces {
            let bytes = (next..<next + size).map { UInt8(truncatingIfNeeded: $0) }
            next += size
            if tap.isBlock(size) {
                tap.passed(size, at: at)
                blocks.append(bytes)
            } else if let block = bytes.withUnsafeBytes({ tap.data($0, at: at) }) {
                blocks.append(block)
            }
        }
        let body = tap.ended(isComplete: true)
        #expect(blocks == expected.blocks && body.bytes == expected.body.bytes && body.size == expected.body.size)
        #expect(body.arrival == expected.body.arrival && body.isSpilled == expected.body.isSpilled)
    }

    @Test func readsOfOneBurstAreOnePiece() {
        let arrival = self.tap([(1, 0), (2, 1.5), (3, 3.4), (4, 9), (5, 20)]).body.arrival
        #expect(arrival?.pieces == [.init(at: 0, size: 6), .init(at: 9, size: 4), .init(at: 20, size: 5)])
        #expect(arrival?.isChunked == false)
    }

    @Test func everyChunkIsAPiece() {
        let arrival = self.tap([(1, 0), (16, 0)], isChunked: true).body.arrival
        #expect(arrival?.isChunked == true)
        #expect(arrival?.pieces == [.init(at: 0, size: 1), .init(at: 0, size: 16)])
    }

    @Test func aChunkThatWasCutKeepsItsLine() {
        var tap = BodyTap(isChunked: true)
        tap.chunk(size: 10, line: nil, at: 0)
        _ = [1, 2].withUnsafeBytes { tap.data(UnsafeRawBufferPointer(rebasing: $0[..<2]), at: 0) }
        let arrival = tap.ended(isComplete: false).arrival
        #expect(arrival?.pieces == [.init(at: 0, size: 2, line: "a")])
    }

    @Test func morePiecesThanTheLimitAreMerged() {
        let count = Arrival.pieceLimit + 10
        for isChunked in [false, true] {
            let body = self.tap((0..<count).map { (1, Double($0) * 10) }, isChunked: isChunked).body
            #expect(body.arrival?.pieces.count == Arrival.pieceLimit)
            #expect(body.arrival?.isThinned == true)
            #expect(body.arrival?.pieces.reduce(0) { $0 + $1.size } == count)
        }
    }
}

@Suite struct TapedExchangeCodingTests {
    private let coded = HeaderFields(["content-encoding: gzip"])

    private func isCoded(
        request: HeaderFields = HeaderFields(), requestBody: Bool = false, response: HeaderFields? = nil, responseBody: Bool = false
    ) -> Bool {
        let body = TapedBody(size: 1, isComplete: true, bytes: [1])
        var interaction = Interaction(
            id: 1, started: Timestamp(microseconds: 0), request: RecordedRequest(method: "GET", url: "http://h/", headers: request))
        interaction.response = response.map { RecordedResponse(status: 200, headers: $0) }
        return TapedExchange(
            interaction: interaction, requestBody: requestBody ? body : nil, responseBody: responseBody ? body : nil
        ).isCoded
    }

    @Test func aBodyWithACodingOnEitherSideCounts() {
        #expect(self.isCoded(request: self.coded, requestBody: true))
        #expect(self.isCoded(response: self.coded, responseBody: true))
    }

    @Test func aFieldWithoutABodyDoesNot() {
        #expect(!self.isCoded(request: self.coded))
        #expect(!self.isCoded(response: self.coded))
        #expect(!self.isCoded(requestBody: true, response: HeaderFields(["X: y"]), responseBody: true))
        #expect(!self.isCoded())
    }
}

@Suite struct TapedExchangeTests {
    @Test func itWeighsAsMuchAsItsBodies() {
        let interaction = Interaction(id: 1, started: Timestamp(microseconds: 0), request: RecordedRequest(method: "GET", url: "http://h/"))
        let body = TapedBody(size: 1000, isComplete: true, bytes: [1, 2, 3], isSpilled: true)
        let empty = TapedExchange(interaction: interaction)
        #expect(TapedExchange(interaction: interaction, requestBody: body, responseBody: body).weight == empty.weight + 6)
        #expect(empty.weight > 0)
    }
}
