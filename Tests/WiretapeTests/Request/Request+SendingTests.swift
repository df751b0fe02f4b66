import Foundation
import Testing

@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct RequestSendingTests {
    private let transport = ScriptedTransport { exchange, _ in exchange.answer() }

    private static func adding(_ value: String) -> Adapter {
        Adapter { request, _ in
            var request = request
            request.setValue((request.value(forHTTPHeaderField: "X-Way") ?? "") + value, forHTTPHeaderField: "X-Way")
            return request
        }
    }

    @Test func theRequestsAdapterComesBeforeTheSessions() async {
        let session = Session.plain(self.transport) { $0.interceptors = [Self.adding("b"), Self.adding("c")] }
        let headers: HTTPHeaders = ["Z": "1", "A": "2", "Z": "3"]
        _ = await session.request("http://a.test/", headers: headers, interceptor: Self.adding("a")).serializingData().response
        #expect(self.transport.requests.first?.headers == ["Z": "1", "A": "2", "Z": "3", "X-Way": "abc"])
    }

    @Test func whatAnAdapterThrowsIsTheError() async {
        let session = Session.plain(self.transport)
        let request = session.request("http://a.test/", interceptor: Adapter { _, _ in throw URLError(.userAuthenticationRequired) })
        let error = await request.serializingData().response.error
        #expect(error?.code == .adapter)
        #expect(error?.cause is URLError)
        #expect(self.transport.requests.isEmpty)
    }

    @Test func cancellingTheRequestCancelsTheAdapter() async {
        let clock = ManualClock()
        let session = Session.plain(self.transport)
        let request = session.request(
            "http://a.test/",
            interceptor: Adapter { request, _ in
                try await clock.sleep(for: .seconds(1))
                return request
            })
        let task = request.serializingData()
        await clock.sleepers(1)
        request.cancel()
        #expect(await task.response.error?.isCancelled == true)
        #expect(clock.sleeperCount == 0)
        #expect(self.transport.requests.isEmpty)
    }

    @Test func credentialsGoOutWithTheFirstAttempt() async {
        let session = Session.plain(self.transport)
        _ = await session.request("http://a.test/", headers: ["authorization": "x"]).authenticate(username: "u", password: "p")
            .serializingData().response
        #expect(self.transport.requests.first?.headers["Authorization"] == "Basic dTpw")
        #expect(self.transport.requests.first?.headers.count == 1)
    }
}
