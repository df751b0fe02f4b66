import ClientTestSupport
import Foundation
import Testing

@testable import Wiretape

@Suite struct LiveTaskTests {
    @Test func whatGoesOutIsToldUpToItsSize() async throws {
        let origin = try LoopbackOrigin { _ in [.text("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")] }
        let size = 3 << 20
        let log = try await LiveTransport().exchange("PUT", "\(origin.url)/", body: .data(Data(count: size)))
        let counts = log.events.compactMap { event -> Int? in
            if case .sent(let count, _) = event { Int(count) } else { nil }
        }
        #expect(counts.last == size)
        #expect(counts == counts.sorted())
        #expect(origin.requests.first?.body.count == size)
    }

    @Test func aFailureNamesItsRequest() async throws {
        let log = try await LiveTransport().exchange("GET", "http://127.0.0.1:1/x?y=1#z")
        #expect(log.failure?.message.hasPrefix("GET \"http://127.0.0.1:1/x?y=1\" failed: ") == true)
        #expect(log.failure?.cause.map { ($0 as NSError).code } == -1004)
    }
}
