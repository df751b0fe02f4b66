import CassetteModel
import Foundation
import Testing

@testable import Wiretape

@Suite struct HopTextTests {
    private func hop() throws -> HopMetrics {
        HopMetrics(method: "GET", url: try #require(URL(string: "http://u:p@a/x?token=secret")), sentAt: .zero)
    }

    @Test func aMeasuredExchange() throws {
        var hop = try self.hop()
        hop.status = 200
        hop.source = .live
        hop.headAt = .milliseconds(10)
        hop.take(.init(at: .milliseconds(10), size: 1024))
        hop.endedAt = .microseconds(12_340)
        #expect(HopText.line(hop) == "GET http://a/x?token=…: 200; 12.3 ms (wait 10.0, receive 2.3); 1024 bytes in 1 piece")
    }

    @Test func aReplayedOneShowsTheTimesOfItsRecording() throws {
        var hop = try self.hop()
        hop.status = 200
        hop.source = .replayed(cassette: "c.json", id: 4)
        hop.retryCount = 2
        hop.reported = ExchangeMetrics(
            source: .recording, timing: Timing(blocked: 1, dns: 2, connect: 3, tls: 4, send: 5, wait: 6, receive: 7, total: 28))
        #expect(
            HopText.line(hop)
                == "GET http://a/x?token=… (retry 2): 200 replayed from 4; 28.0 ms when it was recorded (blocked 1.0, dns 2.0, connect 3.0, tls 4.0, send 5.0, wait 6.0, receive 7.0)"
        )
    }

    @Test func failuresAndOtherSources() throws {
        var hop = try self.hop()
        hop.failure = "timeout"
        hop.endedAt = .seconds(1)
        #expect(HopText.line(hop) == "GET http://a/x?token=…: failed, timeout; 1000.0 ms")
        hop.status = 200
        hop.source = .recorded(cassette: "c", id: 2)
        hop.take(.init(at: .zero, size: 1))
        hop.take(.init(at: .zero, size: 1))
        hop.isThinned = true
        #expect(
            HopText.line(hop) == "GET http://a/x?token=…: 200 recorded as 2, then failed, timeout; 1000.0 ms; 2 bytes in 2 or more pieces")
        hop.failure = nil
        hop.source = .stub
        #expect(HopText.line(hop).contains(": 200 from a stub;"))
    }
}
