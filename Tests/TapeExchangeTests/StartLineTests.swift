internal import Testing

@testable internal import TapeExchange

@Suite struct StartLineTests {
    private func request(_ text: String) throws -> RequestHead { try Array(text.utf8).withUnsafeBytes { try StartLine.request($0) } }
    private func response(_ text: String) throws -> ResponseHead { try Array(text.utf8).withUnsafeBytes { try StartLine.response($0) } }

    @Test func partsOfARequestLineAreFound() throws {
        let head = try self.request("M-SEARCH * HTTP/1.1")
        #expect(head.method == "M-SEARCH" && head.target == "*" && head.version == .http11)
        #expect(try self.request("get /{}|\"<>\\^` HTTP/1.7").target == "/{}|\"<>\\^`")
    }

    @Test(arguments: [
        "", " ", "GET", "GET ", "GET  ", "GET /", "GET / ", "GET  / HTTP/1.1", " GET / HTTP/1.1", "GET /  HTTP/1.1", "GET / HTTP/1.1 ",
        "GET / a HTTP/1.1", "GET\t/ HTTP/1.1", "GET /\tHTTP/1.1",
        "G(T / HTTP/1.1", "GÉT / HTTP/1.1", "GET /é HTTP/1.1", "GET / http/1.1", "GET / HTTP/1", "GET / HTTP/1.", "GET / HTTP/1.10",
        "GET / HTTP/11.1", "GET / HTTP/.1", "GET / HTTP 1.1",
        "GET / HTTP/1,1", "GET / HTTP/+1.1", "GET / HTTPS/1.1", "GET / XHTTP/1.1", "GET HTTP/1.1", "/ HTTP/1.1", "GET / HTTP/a.1",
        "GET / HTTP/1.a",
    ])
    func malformedRequestLineIsABadRequest(_ line: String) {
        let error = #expect(throws: MessageError.self) { try self.request(line) }
        #expect(error?.status == 400)
    }

    @Test(arguments: ["GET / HTTP/2.0", "PRI * HTTP/2.0", "GET / HTTP/0.9", "GET / HTTP/3.0", "GET / HTTP/9.9"])
    func otherMajorVersionsAreNotSupported(_ line: String) {
        let error = #expect(throws: MessageError.self) { try self.request(line) }
        #expect(error?.status == 505)
    }

    @Test(arguments: [
        "", "HTTP/1.1", "HTTP/1.1 ", "HTTP/1.1 20", "HTTP/1.1 2000", "HTTP/1.1 20x OK", "HTTP/1.1  200 OK", " HTTP/1.1 200 OK",
        "HTTP/1.1\t200 OK", "HTTP/1.1 200\tOK", "HTTP/1.1 099 X",
        "HTTP/1.1 000 X", "HTTP/1.1 +20 X", "HTTP/1.1 -20 X", "HTTP/2.0 200 OK", "HTTP/2 200", "ICY 200 OK", "http/1.1 200 OK",
        "HTTP/1.12 200 OK", "HTTP/1.1200 OK", "HTTP/1.1 200OK", "200 OK",
    ])
    func malformedStatusLineIsABadGateway(_ line: String) {
        let error = #expect(throws: MessageError.self) { try self.response(line) }
        #expect(error?.status == 502)
    }
}
