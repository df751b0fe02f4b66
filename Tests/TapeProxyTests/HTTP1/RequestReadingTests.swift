import CassetteStore
import TapeTestSupport
import Testing
@testable import TapeProxy

@Suite struct RequestReadingTests {
    @Test func emptyLinesBeforeARequestAreSkipped() throws {
        let proxy = try RunningProxy(.passthrough)
        let client = try proxy.connect()
        try client.send("\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(String(decoding: try client.readMessage(), as: UTF8.self).hasPrefix("HTTP/1.1 200 OK\r\n"))
    }

    @Test func aHeadThatComesByteByByteIsARequest() throws {
        let proxy = try RunningProxy(.passthrough)
        let client = try proxy.connect()
        for byte in "GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8 { try client.send([byte]) }
        #expect(String(decoding: try client.readMessage(), as: UTF8.self).hasPrefix("HTTP/1.1 200 OK\r\n"))
    }

    @Test func aRequestThatWaitedForTheRecorderIsReadToItsEnd() throws {
        let scene = try ExchangeScene()
        scene.recorder.isFull = true
        scene.proxy.record(.block(exchange: 1, side: .request, bytes: [0]))
        #expect(scene.proxy.isRecorderFull)
        scene.client(ForwardTranscriptTests.post("Content-Length: 2"))
        #expect(!scene.clientIsRead)
        scene.drained()
        scene.connected()
        #expect(scene.clientIsRead, "the body is still to come")
        scene.client("ab")
        #expect(scene.heard().last == "origin 1 < ab")
    }

    @Test func manyPipelinedRequestsAreHeldBackAndAllAnswered() throws {
        let count = 2_000
        let proxy = try RunningProxy(.passthrough) { $0.limits.pipelined = 1024 }
        let client = try proxy.connect()
        try client.send(String(repeating: "GET / HTTP/1.1\r\nHost: h\r\n\r\n", count: count))
        for _ in 0..<count { #expect(try client.readMessage().starts(with: Array("HTTP/1.1 200".utf8))) }
    }

    /// However many clients pipeline requests, others wait for one turn.
    @Test(arguments: [1, 3, 10]) func pipeliningClientsTakeTurnsOneByOne(count: Int) throws {
        func answers(_ lines: [String]) -> Int {
            lines.reduce(0) { $0 + $1.split(separator: "HTTP/1.1 200", omittingEmptySubsequences: false).count - 1 }
        }
        let get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
        let scene = try ExchangeScene()
        var left = count * 300
        for index in 0..<count {
            if index > 0 { scene.connect() }
            scene.client(String(repeating: get, count: 300))
            let first = answers(scene.heard())
            #expect(first > 0 && first <= (index == 0 ? 32 : 4), "\(first) before others are looked at")
            left -= first
        }
        for _ in 0..<8 {
            scene.advance(milliseconds: 1)
            let done = answers(scene.heard())
            #expect(done > 0 && done <= 32, "\(done) in one turn")
            left -= done
        }
        #expect(left > 0)
        // Somebody else is answered at once, in whatever turn its request comes.
        scene.connect()
        scene.client(get)
        #expect(answers(scene.heard()) == 1)
        scene.advance(5)
        #expect(answers(scene.heard()) == left, "everybody is answered in the end")
    }

    /// Other connections are served between two turns.
    @Test func pipelinedRequestsAreReadInTurns() throws {
        func answers(_ lines: [String]) -> Int {
            lines.reduce(0) { $0 + $1.split(separator: "HTTP/1.1 200", omittingEmptySubsequences: false).count - 1 }
        }
        let scene = try ExchangeScene()
        scene.client(String(repeating: "GET / HTTP/1.1\r\nHost: h\r\n\r\n", count: 1000))
        let first = answers(scene.heard())
        #expect(first > 0 && first < 200, "\(first) in one turn")
        #expect(!scene.clientIsRead)
        scene.advance(1)
        #expect(first + answers(scene.heard()) == 1000 && scene.clientIsRead)
    }
}
