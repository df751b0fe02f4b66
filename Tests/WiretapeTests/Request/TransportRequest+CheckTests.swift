import Foundation
import Testing

@testable import Wiretape

@Suite struct TransportRequestCheckTests {
    @Test func whatIsWholePasses() throws {
        try TransportRequest.make("PURGE", "https://a.test/", headers: [("A", "b")]).check()
    }

    @Test(arguments: [
        ("GET ", "http://a.test/", "\"GET \""), ("", "http://a.test/", "\"\""), ("GET", "ftp://a.test/", "ftp://a.test/"),
        ("GET", "http:///x", "http:///x"), ("GET", "/x", "/x"),
    ])
    func whatCannotBeSentIsNamed(method: String, url: String, named: String) {
        let error = #expect(throws: WiretapeError.self) { try TransportRequest.make(method, url).check() }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.contains(named) == true)
    }

    @Test func lineEndsInFieldsAreRefused() {
        #expect(throws: HTTPHeaderError.self) { try TransportRequest.make("GET", "http://a.test/", headers: [("A", "b\nc")]).check() }
    }
}
