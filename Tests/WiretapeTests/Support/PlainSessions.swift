import Foundation
import TapeBytes

@testable import Wiretape

extension Session {
    /// Without default header fields or cookies.
    static func plain(_ transport: any Transport, _ change: (inout Configuration) -> Void = { _ in }) -> Session {
        var configuration = Configuration()
        configuration.headers = [:]
        configuration.cookieStorage = nil
        change(&configuration)
        return Session(configuration: configuration, transport: transport)
    }

    /// Answers every request at once.
    static func answering(_ status: Int = 200, _ headers: HTTPHeaders = [:], _ text: String = "") -> Session {
        .plain(ScriptedTransport { exchange, _ in exchange.answer(status, headers, text) })
    }
}

/// Takes values in the order in which they come.
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

extension Session {
    /// A streamed request whose answer comes at once, in these chunks.
    static func streaming(_ chunks: [String], _ status: Int = 200) -> (session: Session, request: StreamRequest) {
        let session = Session.plain(
            ScriptedTransport { exchange, _ in
                exchange.head(status)
                for chunk in chunks { exchange.chunk(chunk) }
                exchange.send(.end)
            })
        return (session, session.stream("http://a.test/s"))
    }
}
