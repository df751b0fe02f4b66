import Foundation
import TapeCore
import TapeTestSupport
import Testing

@testable import Wiretape

@Suite struct DataRequestTasksTests {
    private let folder: TemporaryFolder
    private let session: Session

    init() throws {
        let folder = try TemporaryFolder()
        self.folder = folder
        self.session = .plain(
            ScriptedTransport { exchange, _ in
                exchange.answer(exchange.request.url.path == "/empty" ? 204 : 200, [:], exchange.request.headers["Body"] ?? "")
            }
        ) { $0.temporaryFolder = URL(fileURLWithPath: folder.path) }
    }

    private func request(_ body: String) -> DataRequest { self.session.request("http://a.test/", headers: ["Body": body]) }

    @Test func eachKindOfValueIsMade() async throws {
        #expect(try await self.request("x").serializingData().value == Data("x".utf8))
        #expect(try await self.request("x").serializingString(encoding: .utf8).value == "x")
        #expect(try await self.request("[1]").serializingJSON().value == .array([.number("1")]))
        #expect(try await self.request("[1]").serializingDecodable([Int].self).value == [1])
        let list = "<?xml version=\"1.0\"?><plist version=\"1.0\"><array><integer>1</integer></array></plist>"
        #expect(try await self.request(list).serializingPropertyList().value == .array([.integer(1)]))
        #expect(try await self.request("x").serializing(CountingSerializer(calls: Collected())).value == 1)
    }

    @Test func emptyAnswersFollowTheRules() async throws {
        #expect(await self.request("").serializingString().response.error?.code == .serialization)
        #expect(try await self.request("").serializingString(emptyResponseCodes: [200]).value == "")
        #expect(try await self.session.request("http://a.test/empty").serializingString().value == "")
    }

    @Test func whatIsNotOfTheKindIsAnError() async {
        let response = await self.request("x").serializingDecodable([Int].self).response
        #expect(response.error?.code == .serialization)
        #expect(response.error?.underlying is SerializationError)
        #expect(response.response?.status == 200)
    }
}
