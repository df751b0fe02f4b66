import NIOCore
import Testing

@testable import TapeProxy

/// How a client connection ends, in memory.
@Suite struct ClientClosingTests {
    @Test func betweenTwoRequestsAConnectionIsClosedAtOnce() throws {
        let scene = try ExchangeScene()
        scene.stop()
        #expect(scene.heard() == ["stopped", "client closed"])
    }

    @Test func afterARefusalNothingIsAnsweredAnyMore() throws {
        let scene = try ExchangeScene()
        scene.client("GET /\r\n\r\n")
        let heard = scene.heard()
        #expect(heard.count == 1 && heard[0].hasPrefix("client < HTTP/1.1 400 "))
        scene.client("GET http://h/ HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(scene.heard().isEmpty)
        scene.advance(61)
        #expect(scene.heard() == ["client closed"])
    }

    @Test func writtenBytesAreSentAtTheEndOfTheTurn() throws {
        let scene = try ExchangeScene()
        scene.withoutFlush {
            scene.client("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(scene.recorder.exchanges.isEmpty)
        }
        #expect(scene.heard().first?.hasPrefix("client < HTTP/1.1 200 OK|") == true)
    }

    @Test func aHeadThatDoesNotComeToItsEndIsA408() throws {
        let scene = try ExchangeScene()
        scene.client("GET http://h/ HTTP/1.1\r\nHo")
        scene.advance(20)
        scene.client("st:")
        scene.advance(9)
        #expect(scene.heard().isEmpty, "the time runs from the first byte")
        scene.advance(2)
        #expect(scene.heard().first?.hasPrefix("client < HTTP/1.1 408 Request Timeout|Wiretape-Error: timeout|") == true)
    }

    @Test func aConnectionWithoutARequestIsClosedSilently() throws {
        let scene = try ExchangeScene()
        scene.advance(31)
        #expect(scene.heard() == ["client closed"])
        let used = try ForwardTranscriptTests.used()
        used.advance(74)
        #expect(used.heard() == ["origin 1 closed"])
        used.advance(2)
        #expect(used.heard() == ["client closed"])
    }
}
