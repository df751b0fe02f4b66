import Foundation
import Testing
@testable import Wiretape

@Suite struct DataRequestContentTests {
    private let queue = DispatchQueue(label: "handlers")

    @Test func aHandlerWithoutASerializerHasTheBody() async {
        let request = HTTPSession.answering(200, [:], "x").request("http://a.test/a")
        let response: HTTPSession.DataResponse<Data?> = await withCheckedContinuation { continuation in
            request.response(queue: self.queue) { continuation.resume(returning: $0) }
        }
        #expect(response.value == Data("x".utf8) && response.data == Data("x".utf8))
    }

    @Test func itHasTheErrorOfAFailedRequest() async {
        let transport = ScriptedTransport { exchange, _ in exchange.send(.failed(TransportFailure(.network(.dns), "no such host"))) }
        let request = HTTPSession.plain(transport).request("http://a.test/a")
        let response = await withCheckedContinuation { continuation in
            request.response(queue: self.queue) { continuation.resume(returning: $0) }
        }
        #expect(response.error?.networkFailure == .dns && response.value == nil)
    }

    @Test func anUploadStaysOneAndItsTasksAreThoseOfData() async throws {
        let request = HTTPSession.answering(200, [:], "[1]").upload(Data("x".utf8), to: "http://a.test/a")
        let upload: HTTPSession.DataRequest = request.responseData(queue: self.queue) { _ in }.response(queue: self.queue) { _ in }
        #expect(upload === request)
        let task: HTTPSession.DataTask<[Int]> = upload.serializingDecodable()
        #expect(task.request === request)
        #expect(try await task.value == [1])
    }
}
