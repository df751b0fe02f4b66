import Foundation
import TapeBytes
import Testing

@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct SessionRequestsTests {
    private enum Router: URLRequestConvertible {
        case pet(Int)

        func asURLRequest() throws -> URLRequest {
            guard case .pet(let id) = self, id > 0 else { throw TransportFailure(.unsupported, "no such pet") }
            return try URLRequest(url: "http://a.test/pets/\(id)", method: .put, headers: ["X-A": "1"])
        }
    }

    private let transport = ScriptedTransport { exchange, _ in exchange.answer() }

    @Test func fieldsKeepTheirOrderAndDuplicates() async throws {
        let session = Session.plain(self.transport)
        let headers: HTTPHeaders = ["B": "1", "a": "2", "B": "3"]
        _ = await session.request("http://a.test/x", method: .delete, headers: headers).serializingData().response
        #expect(self.transport.requests.first?.method == "DELETE")
        #expect(self.transport.requests.first?.headers == headers)
    }

    @Test func theSessionsFieldsAreAddedWhereTheyAreMissing() async {
        let session = Session.plain(self.transport) { $0.headers = ["Accept": "*/*", "User-Agent": "t"] }
        _ = await session.request("http://a.test/x", headers: ["accept": "text/plain"]).serializingData().response
        #expect(self.transport.requests.first?.headers == ["accept": "text/plain", "User-Agent": "t"])
    }

    @Test func parametersGoIntoTheQueryOrTheBody() async {
        let session = Session.plain(self.transport)
        _ = await session.request("http://a.test/x", parameters: ["b": "2", "a": "1"], headers: ["Z": "1", "Y": "2"]).serializingData()
            .response
        _ = await session.request("http://a.test/x", method: .post, parameters: ["a": "1"]).serializingData().response
        _ = await session.request("http://a.test/x", method: .post, parameters: ["a": 1], encoding: JSONEncoding.default).serializingData()
            .response
        let requests = self.transport.requests
        #expect(requests[0].url.absoluteString == "http://a.test/x?a=1&b=2")
        #expect(requests[0].headers == ["Z": "1", "Y": "2"])
        guard case .data(let form) = requests[1].body, case .data(let json) = requests[2].body else {
            Issue.record("no bodies")
            return
        }
        #expect(String(decoding: form, as: UTF8.self) == "a=1")
        #expect(requests[1].headers["Content-Type"] == "application/x-www-form-urlencoded; charset=utf-8")
        #expect(String(decoding: json, as: UTF8.self) == "{\"a\":1}")
    }

    @Test func aRouterMakesTheRequestAndItsCaseIsTheLabel() async {
        let session = Session.plain(self.transport)
        _ = await session.request(Router.pet(7)).serializingData().response
        #expect(self.transport.requests.first?.url.path == "/pets/7")
        #expect(self.transport.requests.first?.label == "pet")
        let error = await session.request(Router.pet(0)).serializingData().response.error
        #expect(error?.code == .unsupported)
        #expect(error?.message == "no such pet")
    }

    @Test func aModifierSeesTheRequestAndSetsItsTimeout() async {
        let session = Session.plain(self.transport)
        let request = session.request("http://a.test/x", headers: ["A": "1"]) {
            $0.setValue("2", forHTTPHeaderField: "X-B")
            $0.timeoutInterval = 0.25
        }
        _ = await request.serializingData().response
        #expect(self.transport.requests.first?.headers == ["A": "1", "X-B": "2"])
        #expect(request.data.withLock { $0.watch?.timeouts.idle } == .milliseconds(250))
    }

    @Test(arguments: ["ftp://a.test/", "http:///x", "no url", "http://a.test/%7"])
    func whatCannotBeSentIsTheRequestsError(url: String) async {
        let error = await Session.plain(self.transport).request(url).serializingData().response.error
        #expect(error?.code == .invalidRequest)
        #expect(self.transport.requests.isEmpty)
    }

    @Test func aLineEndInAFieldIsRefused() async {
        let error = await Session.plain(self.transport).request("http://a.test/", headers: ["A": "b\r\nC: d"]).serializingData().response
            .error
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.contains("\"A\"") == true)
        #expect(self.transport.requests.isEmpty)
    }

    @Test func downloadsAndStreamsAreMadeTheSameWay() async throws {
        let session = Session.plain(self.transport)
        let file = try await session.download("http://a.test/d", parameters: ["q": "1"]).serializingDownloadedFileURL().value
        try FileManager.default.removeItem(at: file)
        for try await _ in session.stream("http://a.test/s", method: .post, parameters: ["q": "1"]).bytes {}
        for try await _ in session.stream(URLRequest(url: try "http://a.test/r".asURL())).bytes {}
        #expect(
            self.transport.requests.map { "\($0.method) \($0.url.absoluteString)" } == [
                "GET http://a.test/d?q=1", "POST http://a.test/s", "GET http://a.test/r",
            ])
    }
}
