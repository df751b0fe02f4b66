import ClientTestSupport
import Foundation
import Testing

@testable import Wiretape

@Suite struct LiveDelegateTests {
    @Test func manyExchangesAtOnceDoNotMixUp() async throws {
        let origin = try LoopbackOrigin { request in
            [.text("HTTP/1.1 200 OK\r\nContent-Length: \(request.target.utf8.count)\r\n\r\n\(request.target)")]
        }
        let transport = LiveTransport()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<60 {
                group.addTask {
                    let log = await transport.exchange(.make("GET", "\(origin.url)/\(number)"))
                    #expect(log.lines == ["head 200", "chunk /\(number)", "end"])
                }
            }
        }
    }
}
