import Foundation
import TapeBytes
import TapeTestSupport
import Testing
@testable import Wiretape

@Suite struct ContentRequestHandlersTests {
    private let queue = DispatchQueue(label: "handlers")

    @Test(arguments: ContentKind.allCases) func eachKindOfHandlerIsCalledInOrder(of kind: ContentKind) async throws {
        let folder = try TemporaryFolder()
        let session = HTTPSession.plain(ScriptedTransport { exchange, _ in exchange.answer(200, [:], "[1]") }) {
            $0.temporaryFolder = URL(fileURLWithPath: folder.path)
        }
        let seen = Collected<String>()
        func handle(_ request: some HTTPSession.ContentRequest) async {
            request.response(queue: self.queue) { seen.add($0.value == nil ? "none" : "some") }
            request.responseData(queue: self.queue) { seen.add("\($0.value?.count ?? 0) bytes") }
            request.responseString(queue: self.queue) { seen.add($0.value ?? "") }
            request.responseJSON(queue: self.queue) { seen.add($0.value?.elements.map(\.int) == [1] ? "json" : "no json") }
            request.responsePropertyList(queue: self.queue) { seen.add($0.error?.code.description ?? "list") }
            request.responseDecodable(of: [Int].self, queue: self.queue) { seen.add("\($0.value ?? [])") }
            await withCheckedContinuation { continuation in
                request.response(queue: self.queue, responseSerializer: CountingSerializer(calls: Collected())) {
                    seen.add("\($0.value ?? 0)")
                    continuation.resume()
                }
            }
        }
        await handle(kind.request(session))
        #expect(seen.all == ["some", "3 bytes", "[1]", "json", "serialization", "[1]", "1"])
    }
}

@Suite struct ContentRequestTasksTests {
    private let folder: TemporaryFolder
    private let session: HTTPSession

    init() throws {
        let folder = try TemporaryFolder()
        self.folder = folder
        self.session = .plain(
            ScriptedTransport { exchange, _ in
                exchange.answer(exchange.request.url.path == "/empty" ? 204 : 200, [:], exchange.request.headers["Body"] ?? "")
            }
        ) { $0.temporaryFolder = URL(fileURLWithPath: folder.path) }
    }

    private func request(_ kind: ContentKind, _ body: String) -> any HTTPSession.ContentRequest {
        kind.request(self.session, "http://a.test/", headers: ["Body": body])
    }

    @Test(arguments: ContentKind.allCases) func eachKindOfValueIsMade(of kind: ContentKind) async throws {
        func check(
            _ text: some HTTPSession.ContentRequest, _ json: some HTTPSession.ContentRequest, _ list: some HTTPSession.ContentRequest
        ) async throws {
            #expect(try await text.serializingData().value == Data("ab".utf8))
            #expect(try await text.serializingString().value == "ab")
            #expect(try await text.serializingString(encoding: .utf16BigEndian).value == "\u{6162}")
            #expect(try await json.serializingJSON().value.elements.map(\.int) == [1])
            #expect(try await json.serializingDecodable([Int].self).value == [1])
            #expect(try await list.serializingPropertyList().value == .array([.integer(1)]))
            let counting = text.serializing(CountingSerializer(calls: Collected()), automaticallyCancelling: true)
            #expect(try await counting.value == 1)
        }
        let list = "<?xml version=\"1.0\"?><plist version=\"1.0\"><array><integer>1</integer></array></plist>"
        try await check(self.request(kind, "ab"), self.request(kind, "[1]"), self.request(kind, list))
    }

    @Test(arguments: ContentKind.allCases) func emptyAnswersFollowTheRules(of kind: ContentKind) async throws {
        func check(_ empty: some HTTPSession.ContentRequest, _ emptyByStatus: some HTTPSession.ContentRequest) async throws {
            #expect(await empty.serializingString().response.error?.code == .serialization)
            #expect(try await empty.serializingString(emptyResponseCodes: [200]).value == "")
            #expect(try await emptyByStatus.serializingString().value == "")
        }
        try await check(self.request(kind, ""), kind.request(self.session, "http://a.test/empty"))
    }

    @Test(arguments: ContentKind.allCases) func contentOfAnotherKindIsAnError(of kind: ContentKind) async {
        func check(_ request: some HTTPSession.ContentRequest) async {
            let response = await request.serializingDecodable([Int].self).response
            #expect(response.error?.code == .serialization)
            #expect(response.error?.cause is SerializationError)
            #expect(response.response?.status == 200)
        }
        await check(self.request(kind, "x"))
    }
}
