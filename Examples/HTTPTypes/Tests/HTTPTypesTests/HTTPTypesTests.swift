import Foundation
import HTTPTypes
import Testing
import Wiretape
import WiretapeHTTPTypes

@Suite struct HTTPTypesTests {
    @Test func fieldsKeepOrderDuplicatesAndSpelling() throws {
        let headers: HTTPSession.Headers = ["x-B": "1", "Set-Cookie": "a=1", "X-b": "2", "Name": "초코"]
        let fields = try HTTPFields(headers)
        #expect(fields.map { "\($0.name.rawName): \($0.value)" } == ["x-B: 1", "Set-Cookie: a=1", "X-b: 2", "Name: 초코"])
        #expect(HTTPSession.Headers(fields) == headers)
    }

    @Test(arguments: [("a b", "1"), ("", "1"), ("A", "1\r\nB: 2")]) func fieldThatCannotBeSentIsAnError(name: String, value: String) {
        let headers = HTTPSession.Headers([HTTPSession.Header(name: name, value: value)])
        #expect(throws: HTTPSession.HeaderError.self) { try HTTPFields(headers) }
    }

    @Test func requestIsSentAndComesBack() async throws {
        let head = HTTPRequest(
            method: .put, scheme: "https", authority: "example.test:8443", path: "/pets/3?name=%EC%B4%88&b=1",
            headerFields: [.contentType: "text/plain", .accept: "application/json"])
        let stub = StubTransport { _ in .json(#"{"id": 3}"#) }
        let response = await HTTPSession(transport: stub).upload(Data("초코".utf8), with: head).serializingData().response
        let sent = try #require(stub.requests.last)
        #expect(sent.method == "PUT")
        #expect(sent.url.absoluteString == "https://example.test:8443/pets/3?name=%EC%B4%88&b=1")
        guard case .data(let body) = sent.body else { throw CancellationError() }
        #expect(body == Data("초코".utf8))
        let back = try HTTPRequest(sent)
        #expect(back.method == head.method && back.scheme == head.scheme && back.authority == head.authority && back.path == head.path)
        #expect(back.headerFields[.accept] == "application/json")
        let answer = try HTTPTypes.HTTPResponse(#require(response.response))
        #expect(answer.status == .ok && answer.headerFields[.contentType] == "application/json")
        let url = try #require(URL(string: "https://example.test/"))
        #expect(HTTPSession.Response(answer, url: url).headers["Content-Type"] == "application/json")
    }

    @Test(arguments: [
        ("https://u:p@h.test?x=1#part", "h.test", "/?x=1"), ("http://[::1]:80/a%2Fb", "[::1]:80", "/a%2Fb"),
        ("http://h.test", "h.test", "/"),
    ])
    func authorityAndPathOfAURL(text: String, authority: String, path: String) throws {
        let url = try #require(URL(string: text))
        let head = try HTTPRequest(TransportRequest(method: "GET", url: url, headers: ["Host": "other.test", "A": "1"]))
        #expect(head.authority == authority && head.path == path)
        #expect(head.headerFields.map(\.name.rawName) == ["A"])
    }

    @Test func requestWithoutAnAuthorityIsAnError() async {
        let head = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/pets?token=1")
        #expect(throws: WiretapeError.self) { try TransportRequest(head) }
        let error = await HTTPSession(transport: StubTransport { _ in .json("{}") }).request(head).serializingData().response.error
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.contains("token") == false)
        #expect(throws: WiretapeError.self) {
            try HTTPRequest(TransportRequest(method: "A B", url: #require(URL(string: "http://h.test/"))))
        }
    }

    @Test func statusThatIsNoneIsAnError() throws {
        let url = try #require(URL(string: "https://example.test/"))
        #expect(throws: WiretapeError.self) { try HTTPTypes.HTTPResponse(HTTPSession.Response(url: url, status: 1000)) }
    }
}
