import ClientTestSupport
import Foundation
import Testing

@testable import Wiretape

@Suite struct WireFieldsTests {
    @Test(arguments: [
        ("http://a.test/x", ["Host: a.test"]), ("http://a.test:8080/", ["Host: a.test:8080"]), ("http://[::1]:80/", ["Host: [::1]:80"]),
        ("https://me:pw@a.test/", ["Host: a.test"]),
    ])
    func hostIsThatOfTheURL(url: String, lines: [String]) {
        #expect(WireFields.ofRequest(.make("GET", url)).lines == lines)
    }

    @Test func whatTheRequestSaysStays() {
        let request = TransportRequest.make(
            "POST", "http://a.test/", body: .data(Data("abc".utf8)), headers: [("host", "b.test"), ("Content-Length", "3")])
        #expect(WireFields.ofRequest(request).lines == ["host: b.test", "Content-Length: 3"])
    }

    @Test func theLengthIsToldWhereItIsKnown() {
        #expect(WireFields.ofRequest(.make("POST", "http://a.test/", body: .data(Data()))).lines.last == "Content-Length: 0")
        #expect(WireFields.ofRequest(.make("POST", "http://a.test/", body: .unobservable)).lines == ["Host: a.test"])
        let chunked = TransportRequest.make("POST", "http://a.test/", body: .data(Data()), headers: [("Transfer-Encoding", "chunked")])
        #expect(WireFields.ofRequest(chunked).lines == ["Host: a.test", "Transfer-Encoding: chunked"])
    }
}
