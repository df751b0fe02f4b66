import Testing

@testable import CassettePlayback

@Suite struct RequestKeyTests {
    @Test func isTheMethodAndTheNormalisedURL() {
        #expect(RequestKey(method: "GET", url: "HTTP://A.test:80").description == "GET http://a.test/")
    }

    @Test func methodsAreCaseSensitive() {
        #expect(RequestKey(method: "get", url: "http://a.test/") != RequestKey(method: "GET", url: "http://a.test/"))
    }

    @Test func equivalentURLsMakeEqualKeys() {
        #expect(RequestKey(method: "GET", url: "http://a.test/%7Ex#y") == RequestKey(method: "GET", url: "HTTP://A.TEST:80/~x"))
    }

    @Test func emptyAndLongRequestsHaveKeys() {
        #expect(RequestKey(method: "", url: "").bytes == Array(" ".utf8))
        let path = String(repeating: "/x", count: 50_000)
        #expect(RequestKey(method: "GET", url: "http://a.test" + path).bytes.count == "GET http://a.test".utf8.count + 100_000)
    }
}
