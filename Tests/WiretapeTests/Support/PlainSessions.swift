import Foundation
import TapeBytes

@testable import Wiretape

extension HTTPSession {
    /// Without default header fields or cookies.
    static func plain(_ transport: any Transport, _ change: (inout Configuration) -> Void = { _ in }) -> HTTPSession {
        var configuration = Configuration()
        configuration.headers = [:]
        configuration.cookieStorage = nil
        // A busy machine may take any time.
        configuration.timeouts.idle = nil
        change(&configuration)
        return HTTPSession(configuration: configuration, transport: transport)
    }

    /// Sends all requests through a cassette, however long that takes.
    static func patient(_ cassette: Cassette) -> HTTPSession {
        var configuration = Configuration()
        configuration.timeouts.idle = nil
        return HTTPSession(cassette: cassette, configuration: configuration)
    }

    /// Answers every request at once.
    static func answering(_ status: Int = 200, _ headers: Headers = [:], _ text: String = "") -> HTTPSession {
        .plain(ScriptedTransport { exchange, _ in exchange.answer(status, headers, text) })
    }
}

/// Collects values in the order of their arrival.
final class Collected<Value: Sendable>: Sendable {
    private let values = Guarded<[Value]>([])

    var all: [Value] { self.values.withLock { $0 } }

    func add(_ value: Value) { self.values.withLock { $0.append(value) } }
}

extension AsyncSequence {
    /// All elements.
    func collected() async throws -> [Element] {
        var result: [Element] = []
        for try await element in self { result.append(element) }
        return result
    }
}

extension HTTPSession {
    /// A streamed request whose answer arrives at once, in these chunks.
    static func streaming(_ chunks: [String], _ status: Int = 200) -> (session: HTTPSession, request: StreamRequest) {
        let session = HTTPSession.plain(
            ScriptedTransport { exchange, _ in
                exchange.head(status)
                for chunk in chunks { exchange.chunk(chunk) }
                exchange.send(.end)
            })
        return (session, session.stream("http://a.test/s"))
    }
}
