import Foundation
import Testing
@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct HTTPMethodTests {
    @Test func caseCounts() {
        #expect(HTTPSession.Method(rawValue: "get") != .get)
        #expect("PURGE" as HTTPSession.Method == HTTPSession.Method(rawValue: "PURGE"))
        #expect(HTTPSession.Method.query.description == "QUERY")
    }

    @Test func methodsThatMayBeSentTwice() {
        let all: [HTTPSession.Method] = [.connect, .delete, .get, .head, .options, .patch, .post, .put, .query, .trace]
        #expect(Set(all.filter { !$0.isIdempotent }) == [.connect, .patch, .post])
    }
}

@Suite struct URLRequestBodyTests {
    @Test func aBodyTakesThePlaceOfAnother() throws {
        var request = try URLRequest(url: "http://h/", method: .post)
        request.httpBody = Data([1])
        request.fillBody(Data([2]), contentType: "a/b")
        request.fillBody(Data([3]), contentType: "c/d")
        #expect(request.httpBody == Data([3]) && request.headers["Content-Type"] == "a/b")
    }
}

@Suite struct URLRequestHeadersTests {
    @Test func settingReplacesAllFields() throws {
        var request = URLRequest(url: try "http://a/".asURL())
        request.setValue("1", forHTTPHeaderField: "X-Old")
        request.headers = ["Accept": "a/b", "accept": "c/d", "X-New": ""]
        #expect(request.value(forHTTPHeaderField: "x-old") == nil)
        #expect(request.headers.value(for: "accept") == "a/b, c/d")
        #expect(request.headers.value(for: "x-new") == "")
        #expect(request.headers.count == 2)
    }

    @Test func aRequestIsMadeOfItsParts() throws {
        let request = try URLRequest(url: "http://a/b", method: .query, headers: ["X-A": "1"])
        #expect(request.method == .query && request.headers["x-a"] == "1" && request.url?.absoluteString == "http://a/b")
        #expect(throws: HTTPSession.HeaderError.self) { try URLRequest(url: "http://a/", method: .get, headers: ["X-A": "1\r\nB: c"]) }
        #expect(throws: URLConversionError.self) { try URLRequest(url: "", method: .get) }
    }

    @Test func theMethodCanBeChanged() throws {
        var request = URLRequest(url: try "http://a/".asURL())
        #expect(request.method == .get)
        request.method = .patch
        #expect(request.httpMethod == "PATCH")
    }
}
