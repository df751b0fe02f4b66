import Foundation
import Testing
@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct TapedURLResponseTests {
    private static let url = URL(string: "http://here.test/a.json") ?? URL(fileURLWithPath: "/")

    @Test func itIsWhatURLSessionWouldHaveMade() throws {
        let head = HTTPSession.Response(
            url: Self.url, status: 203,
            headers: ["Content-Type": "application/json; charset=UTF-8", "Content-Length": "12", "x-Spelled": "so"])
        let response = try #require(TapedURLResponse(head))
        #expect(response.url == Self.url)
        #expect(response.statusCode == 203)
        #expect(response.mimeType == "application/json")
        #expect(response.textEncodingName == "utf-8")
        #expect(response.expectedContentLength == 12)
        #expect(response.value(forHTTPHeaderField: "X-SPELLED") == "so")
        #expect(response.head == head)
    }

    @Test func duplicatesAreJoinedUnderTheFirstSpelling() {
        let fields = TapedURLResponse.fields([("Set-Cookie", "a=1"), ("X-One", "1"), ("set-cookie", "b=2")].headers)
        #expect(fields == ["Set-Cookie": "a=1, b=2", "X-One": "1"])
    }

    @Test func itHasNoURLForAsLongAsURLSessionLooksForAChallenge() throws {
        let response = try #require(TapedURLResponse(HTTPSession.Response(url: Self.url, status: 401)))
        TapedURLResponse.$isFinishing.withValue(true) { #expect(response.url == nil) }
        #expect(response.url == Self.url)
    }
}

extension [(String, String)] {
    fileprivate var headers: HTTPSession.Headers { HTTPSession.Headers(self.map { HTTPSession.Header(name: $0.0, value: $0.1) }) }
}

@Suite struct HTTPURLResponseExactHeadTests {
    @Test func aResponseOfOursHasTheHeadAsItCame() throws {
        let url = try #require(URL(string: "http://here.test/"))
        var headers = HTTPSession.Headers()
        headers.add(name: "Link", value: "<a>")
        headers.add(name: "link", value: "<b>")
        let head = HTTPSession.Response(
            url: url, status: 200, reason: "Fine", headers: headers, source: .replayed(cassette: "pets.json", id: 7))
        let response: HTTPURLResponse = try #require(TapedURLResponse(head))
        #expect(response.exactHead == head)
        #expect(response.exactHead?.headers.values(for: "Link") == ["<a>", "<b>"])
    }

    @Test func othersHaveNone() throws {
        let url = try #require(URL(string: "http://here.test/"))
        let response = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
        #expect(response.exactHead == nil)
    }
}

@Suite struct LoadRequestTests {
    private static let url = URL(string: "http://here.test/a?b=c") ?? URL(fileURLWithPath: "/")

    private func fields(
        _ method: String = "GET", own: [String: String] = [:], additional: [AnyHashable: Any]? = nil, body: RequestBody = .none
    ) -> [String] {
        var request = URLRequest(url: Self.url)
        request.httpMethod = method
        for (name, value) in own { request.setValue(value, forHTTPHeaderField: name) }
        return LoadRequest.transportRequest(request, url: Self.url, additional: additional, body: body).headers.map {
            "\($0.name): \($0.value)"
        }
    }

    @Test func fieldsAreSortedByName() {
        let own = ["X-B": "2", "Accept": "*/*", "x-a": "1", "Zeta": "3"]
        #expect(self.fields(own: own).map { $0.lowercased() } == ["accept: */*", "x-a: 1", "x-b: 2", "zeta: 3"])
    }

    @Test func theSessionsFieldsFollowThoseOfTheRequest() {
        let additional: [AnyHashable: Any] = ["Accept": "text/html", "X-Number": 7, "X-Session": "s"]
        #expect(
            self.fields(own: ["accept": "*/*"], additional: additional).sorted { $0.lowercased() < $1.lowercased() }.map { $0.lowercased() }
                == ["accept: */*", "x-number: 7", "x-session: s"])
    }

    @Test func aPostedBodyWithoutATypeIsAFormAsWithURLSession() {
        let form = "Content-Type: application/x-www-form-urlencoded"
        #expect(self.fields("POST", body: .data(Data("a=b".utf8))) == [form])
        #expect(self.fields("PUT", body: .data(Data("a=b".utf8))) == [])
        #expect(self.fields("POST", body: .data(Data())) == [])
        #expect(
            self.fields("POST", own: ["content-type": "a/b"], body: .data(Data("a".utf8))).map { $0.lowercased() } == ["content-type: a/b"])
    }

    @Test func requestShownToADelegateComesBackTheSame() {
        let proposed = TransportRequest(method: "PUT", url: Self.url, headers: ["X-A": "1"], body: .data(Data("body".utf8)))
        let shown = LoadRequest.urlRequest(proposed)
        #expect(shown.httpMethod == "PUT" && shown.httpBody == Data("body".utf8))
        let back = LoadRequest.transportRequest(shown, insteadOf: proposed)
        #expect(back.method == "PUT" && back.url == Self.url && back.headers.value(for: "X-A") == "1")
        #expect(back.body.size == 4)
    }

    @Test func aFileStaysTheBodyWhereTheMethodStays() {
        let file = URL(fileURLWithPath: "/tmp/file")
        let proposed = TransportRequest(method: "PUT", url: Self.url, body: .file(file, size: 9))
        var shown = LoadRequest.urlRequest(proposed)
        #expect(LoadRequest.transportRequest(shown, insteadOf: proposed).body.size == 9)
        shown.httpMethod = "GET"
        #expect(LoadRequest.transportRequest(shown, insteadOf: proposed).body.size == nil)
    }

    @Test func aDelegateThatTakesTheURLAwayDoesNotTakeItFromUs() {
        let proposed = TransportRequest(method: "GET", url: Self.url)
        var shown = LoadRequest.urlRequest(proposed)
        shown.url = nil
        #expect(LoadRequest.transportRequest(shown, insteadOf: proposed).url == Self.url)
    }
}
