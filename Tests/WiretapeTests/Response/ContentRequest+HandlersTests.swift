import Foundation
import TapeBytes
import TapeTestSupport
import Testing

@testable import Wiretape

@Suite struct ContentRequestHandlersTests {
    private let queue = DispatchQueue(label: "handlers")

    @Test(arguments: ContentKind.allCases) func eachKindOfHandlerIsCalledInOrder(of kind: ContentKind) async throws {
        let folder = try TemporaryFolder()
        let session = Session.plain(ScriptedTransport { exchange, _ in exchange.answer(200, [:], "[1]") }) {
            $0.temporaryFolder = URL(fileURLWithPath: folder.path)
        }
        let seen = Collected<String>()
        func handle(_ request: some ContentRequest) async {
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
