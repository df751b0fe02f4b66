import CassetteModel
import TapeExchange
import TapeTestSupport
import Testing

@testable import TapeProxy

/// In whatever order the events of an exchange arrive, it ends once, is recorded once, and releases both connections.
@Suite struct AnyOrderTests {
    private static let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nanswer".utf8)
    private static let requests = [
        "GET http://h/ HTTP/1.1\r\nHost: h\r\n\r\n", "POST http://h/ HTTP/1.1\r\nHost: h\r\nContent-Length: 6\r\n\r\nupload",
        "PUT http://h/ HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n6\r\nupload\r\n0\r\n\r\n",
    ]

    @Test func anExchangeEndsAndIsRecordedOnce() throws {
        for seed in 0..<rounds(600) { try self.run(UInt64(seed)) }
    }

    private func run(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let isDurable = Int.random(in: 0..<4, using: &generator) == 0
        let scene = try ExchangeScene {
            $0.durability = isDurable ? .full : .normal
            $0.limits.pipelined = 1 << 20
        }
        let request = Array(Self.requests[Int(seed) % Self.requests.count].utf8)
        var (sent, answered, isConnected, isOver) = (0, 0, false, false)
        for _ in 0..<60 where !isOver {
            switch Int.random(in: 0..<24, using: &generator) {
            case 0...5:
                let end = min(request.count, sent + Int.random(in: 1...30, using: &generator))
                scene.client(Array(request[sent..<end]))
                sent = end
            case 6, 7:
                scene.connected()
                isConnected = isConnected || !scene.heard().contains("nobody dials")
            case 8...13 where isConnected:
                let end = min(Self.answer.count, answered + Int.random(in: 1...20, using: &generator))
                scene.origin(String(decoding: Self.answer[answered..<end], as: UTF8.self))
                answered = end
            case 14: scene.clientTakes(Bool.random(using: &generator))
            case 15 where isConnected: scene.originTakes(Bool.random(using: &generator))
            case 16: scene.recorder.isFull = Bool.random(using: &generator)
            case 17: scene.drained()
            case 18: scene.advance(Int.random(in: 1...40, using: &generator))
            case 19: scene.stored(Bool.random(using: &generator) ? nil : ExchangeScene.diskFull)
            case 20 where isConnected && Int.random(in: 0..<4, using: &generator) == 0: scene.originEnds()
            case 21 where Int.random(in: 0..<6, using: &generator) == 0:
                scene.clientEnds()
                isOver = true
            case 22 where Int.random(in: 0..<6, using: &generator) == 0:
                scene.stop()
                isOver = true
            default: break
            }
        }
        // Ends everything: the client leaves, the recorder is drained, the disk has the recording, and time passes.
        scene.drained()
        scene.clientEnds()
        scene.clientResets()
        scene.advance(400)
        scene.stored()
        scene.advance(10)
        let exchanges = scene.recorder.exchanges.filter { $0.interaction.request.url == "http://h/" }
        let began = scene.recorder.nextID() - 1
        #expect(exchanges.count == began, "seed \(seed): \(began) began, \(scene.recorder.summary)")
        #expect(Set(exchanges.map(\.interaction.id)).count == exchanges.count, "seed \(seed)")
        #expect(scene.proxy.members.count == 0, "seed \(seed): a client's connection is left")
        for exchange in exchanges where exchange.interaction.outcome == .complete {
            #expect(exchange.responseBody?.bytes == Array("answer".utf8), "seed \(seed): a part was taken for the whole")
        }
    }
}
