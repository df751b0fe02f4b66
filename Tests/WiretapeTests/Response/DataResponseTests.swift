import Foundation
import Testing

@testable import Wiretape

@Suite struct DataResponseTests {
    @Test func theBodyIsThereWhereAnAnswerCame() async {
        let response: DataResponse<String> = await Session.answering(201, [:], "x").request("http://a.test/a").serializingString().response
        #expect(response.data == Data("x".utf8))
        #expect(response.map(\.count).data == Data("x".utf8))
        #expect(await Session.answering(204).request("http://a.test/a").serializingString().response.data == Data())
    }

    @Test func aFailureHasNone() async {
        let session = Session.plain(
            ScriptedTransport { exchange, _ in exchange.send(.failed(TransportFailure(.network(.dns), "no such host"))) })
        #expect(await session.request("http://a.test/a").serializingString().response.data == nil)
    }
}
