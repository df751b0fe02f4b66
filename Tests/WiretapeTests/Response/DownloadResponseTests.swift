import Foundation
import TapeTestSupport
import Testing

@testable import Wiretape

@Suite struct DownloadResponseTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func session(_ respond: @escaping @Sendable (ScriptedExchange) -> Void) -> Session {
        .plain(ScriptedTransport { exchange, _ in respond(exchange) }) { $0.temporaryFolder = URL(fileURLWithPath: self.folder.path) }
    }

    @Test func theFileIsThereWhereAnAnswerCame() async throws {
        let session = self.session { $0.answer(201, [:], "x") }
        let response: DownloadResponse<String> = await session.download("http://a.test/a").serializingString().response
        #expect(try Data(contentsOf: try #require(response.fileURL)) == Data("x".utf8))
        #expect(response.map(\.count).fileURL == response.fileURL)
    }

    @Test func aFailureHasNone() async {
        let session = self.session { $0.send(.failed(TransportFailure(.network(.dns), "no such host"))) }
        #expect(await session.download("http://a.test/a").serializingString().response.fileURL == nil)
    }
}
