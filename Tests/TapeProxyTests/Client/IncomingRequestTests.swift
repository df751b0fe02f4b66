import NIOCore
import TapeCore
import TapeExchange
import Testing
@testable import TapeProxy

@Suite struct IncomingRequestTests {
    private func request(_ method: String = "GET", _ fields: String..., version: HTTPVersion = .http11) throws -> IncomingRequest {
        let head = RequestHead(method: method, target: "http://h/", version: version, fields: HeaderFields(["Host: h"] + fields))
        return try IncomingRequest(head, start: .now())
    }

    @Test func anythingButNothingIsABody() throws {
        #expect(try !self.request().hasBody)
        #expect(try !self.request("POST", "Content-Length: 0").hasBody)
        #expect(try self.request("POST", "Content-Length: 1").hasBody)
        #expect(try self.request("POST", "Transfer-Encoding: chunked").hasBody)
    }

    @Test func onlyAnHTTP11ClientWaitsFor100() throws {
        #expect(try self.request("PUT", "Expect: 100-Continue").expectsContinue)
        #expect(try !self.request("PUT", "Expect: 100-continue", version: .http10).expectsContinue)
        #expect(try !self.request("PUT").expectsContinue)
    }

    @Test func methodsThatMayBeSentTwiceAreKnownByTheirExactNames() throws {
        for method in ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"] { #expect(try self.request(method).isIdempotent) }
        for method in ["POST", "PATCH", "get", "BREW"] { #expect(try !self.request(method).isIdempotent) }
    }

    @Test func theConnectionFieldSaysWhatTheVersionLeavesOpen() throws {
        #expect(try self.request().connectionOption(keeps: true) == .none)
        #expect(try self.request(version: .http10).connectionOption(keeps: true) == .keepAlive)
        #expect(try self.request().connectionOption(keeps: false) == .close)
    }

    @Test func aHeadOutOfOrderIsRefused() {
        #expect(throws: MessageError.self) { try self.request("GET", "Host: other") }
        #expect(throws: MessageError.self) { try self.request("POST", "Content-Length: x") }
    }
}
