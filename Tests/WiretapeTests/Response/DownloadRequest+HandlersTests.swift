import Foundation
import TapeCore
import TapeTestSupport
import Testing

@testable import Wiretape

@Suite struct DownloadRequestHandlersTests {
    private let queue = DispatchQueue(label: "handlers")

    @Test func eachKindOfHandlerIsCalledInOrder() async throws {
        let folder = try TemporaryFolder()
        let session = Session.plain(ScriptedTransport { exchange, _ in exchange.answer(200, [:], "[1]") }) {
            $0.temporaryFolder = URL(fileURLWithPath: folder.path)
        }
        let request = session.download("http://a.test/")
        let seen = Collected<String>()
        request.response(queue: self.queue) { seen.add($0.value == nil ? "none" : "some") }
        request.responseURL(queue: self.queue) { seen.add($0.value == nil ? "no file" : "file") }
        request.responseData(queue: self.queue) { seen.add("\($0.value?.count ?? 0) octets") }
        request.responseString(queue: self.queue) { seen.add($0.value ?? "") }
        request.responseJSON(queue: self.queue) { seen.add($0.value == .array([.number("1")]) ? "json" : "no json") }
        request.responsePropertyList(queue: self.queue) { seen.add($0.error?.code.description ?? "list") }
        request.responseDecodable(of: [Int].self, queue: self.queue) { seen.add("\($0.value ?? [])") }
        await withCheckedContinuation { continuation in
            request.response(queue: self.queue, responseSerializer: CountingSerializer(calls: Collected())) {
                seen.add("\($0.value ?? 0)")
                continuation.resume()
            }
        }
        let file = ["file"]
        #expect(seen.all == ["some"] + file + ["3 octets", "[1]", "json", "serialization", "[1]", "1"])
    }
}
