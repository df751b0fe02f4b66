import Foundation
import Testing

@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct URLRequestBodyTests {
    @Test func aBodyTakesThePlaceOfAnother() throws {
        var request = try URLRequest(url: "http://h/", method: .post)
        request.httpBody = Data([1])
        request.fillBody(Data([2]), contentType: "a/b")
        request.fillBody(Data([3]), contentType: "c/d")
        #expect(request.httpBody == Data([3]) && request.headers["Content-Type"] == "a/b")
    }
}
