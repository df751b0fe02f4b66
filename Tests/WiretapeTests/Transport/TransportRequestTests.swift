import Foundation
import Testing
@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct RequestBodyTests {
    @Test func anEmptyBodyIsNotNone() {
        #expect(RequestBody.none.size == nil)
        #expect(RequestBody.data(Data()).size == 0)
        #expect(RequestBody.file(URL(fileURLWithPath: "/nowhere"), size: 7).size == 7)
    }
}

@Suite struct TransportRequestCheckTests {
    @Test func validRequestPasses() throws {
        try TransportRequest.make("PURGE", "https://a.test/", headers: [("A", "b")]).check()
    }

    @Test(arguments: [
        ("GET ", "http://a.test/", "\"GET \""), ("", "http://a.test/", "\"\""), ("GET", "ftp://a.test/", "ftp://a.test/"),
        ("GET", "http:///x", "http:///x"), ("GET", "/x", "/x"),
    ])
    func problemOfAnInvalidRequestIsNamed(method: String, url: String, named: String) {
        let error = #expect(throws: WiretapeError.self) { try TransportRequest.make(method, url).check() }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.contains(named) == true)
    }

    @Test func lineEndsInFieldsAreRefused() {
        #expect(throws: HTTPSession.HeaderError.self) {
            try TransportRequest.make("GET", "http://a.test/", headers: [("A", "b\nc")]).check()
        }
    }
}

@Suite struct TransportRequestURLRequestTests {
    private let request = TransportRequest.make(
        "POST", "http://a.test/x", body: .data(Data("body".utf8)), headers: [("B", "1"), ("a", "2"), ("B", "3")])

    @Test func theViewHasEachNameOnce() {
        let view = URLRequest(self.request)
        #expect(view.httpMethod == "POST" && view.httpBody == Data("body".utf8))
        #expect(view.value(forHTTPHeaderField: "B") == "1, 3")
    }

    @Test func unchangedRequestStaysTheSame() throws {
        let view = URLRequest(self.request)
        let same = try self.request.adapted(from: view, to: view)
        #expect(same.headers == self.request.headers && same.url == self.request.url)
        let file = TransportRequest(method: "PUT", url: self.request.url, body: .file(URL(fileURLWithPath: "/f"), size: 9), label: "l")
        let adapted = try file.adapted(from: URLRequest(file), to: URLRequest(file))
        #expect(adapted.body.size == 9 && adapted.label == "l")
    }

    @Test func changesAreTaken() throws {
        let view = URLRequest(self.request)
        var changed = view
        changed.url = URL(string: "http://b.test/")
        changed.httpMethod = "PUT"
        changed.httpBody = nil
        changed.setValue("9", forHTTPHeaderField: "A")
        let result = try self.request.adapted(from: view, to: changed)
        #expect(result.url.host == "b.test" && result.method == "PUT" && result.body.size == nil)
        #expect(result.headers == ["B": "1", "a": "9", "B": "3"])
    }

    @Test func theWishesOfAURLRequestAreKept() throws {
        var given = URLRequest(url: self.request.url)
        given.httpShouldHandleCookies = false
        given.cachePolicy = .reloadIgnoringLocalCacheData
        given.allowsCellularAccess = false
        given.networkServiceType = .background
        let request = try TransportRequest(given)
        #expect(!request.loading.handlesCookies && !request.loading.allowsCellularAccess)
        #expect(request.loading.cachePolicy == .reloadIgnoringLocalCacheData && request.loading.networkServiceType == .background)
        let view = URLRequest(request)
        #expect(view.loading == request.loading && view.loading == given.loading)
        var changed = view
        changed.allowsCellularAccess = true
        #expect(try request.adapted(from: view, to: changed).loading.allowsCellularAccess)
        #expect(self.request.loading == TransportRequest.Loading())
    }

    @Test func aRequestWithoutAURLIsRefused() throws {
        var changed = URLRequest(self.request)
        changed.url = nil
        #expect(throws: WiretapeError.self) { try self.request.adapted(from: URLRequest(self.request), to: changed) }
        #expect(throws: WiretapeError.self) { try TransportRequest(changed) }
    }
}
