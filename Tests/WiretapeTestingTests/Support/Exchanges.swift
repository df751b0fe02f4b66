import Foundation
import Testing
import Wiretape

/// Cassettes and requests of the tests: pages "/1", "/2" and so on of a host that does not exist.
enum Exchanges {
    /// A cassette on which `count` pages answered with their number.
    static func cassette(_ count: Int) -> String {
        let interactions = (1...count).map { number in
            """
            {
              "id": \(number), "started": "2026-11-21T04:19:28.12345\(number)Z",
              "request": {
                "method": "GET", "url": "http://pets.test/\(number)", "version": "HTTP/1.1", "headers": ["Host: pets.test"]
              },
              "response": {
                "status": 200, "reason": "OK", "version": "HTTP/1.1",
                "headers": ["Content-Type: text/plain", "Content-Length: 1"], "body": { "size": 1, "text": "\(number)" }
              }
            }
            """
        }
        return
            "{\n\"wiretape\": 1,\n\"recorder\": \"wiretape 0.1.0\",\n\"interactions\": [\n\(interactions.joined(separator: ",\n"))\n]\n}\n"
    }

    /// The transport's answer to a request for a page: the body, or the failure.
    static func ask(_ transport: (any Transport)?, page: Int) async throws -> String {
        let transport = try #require(transport)
        let request = TransportRequest(method: "GET", url: try #require(URL(string: "http://pets.test/\(page)")))
        let events = AsyncStream<TransportEvent> { continuation in
            let task = transport.start(request) { event in
                continuation.yield(event)
                switch event {
                case .end, .failed: continuation.finish()
                default: break
                }
                return .more
            }
            continuation.onTermination = { _ in task.cancel() }
        }
        var body = Data()
        for await event in events {
            switch event {
            case .chunk(let data): body += data
            case .failed(let failure): throw failure
            default: break
            }
        }
        return String(decoding: body, as: UTF8.self)
    }
}
