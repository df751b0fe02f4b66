import CassetteModel
import TapeExchange
import Testing

@Suite struct TranslationTests {
    private func head(_ lines: [String], method: String = "GET", target: String = "/a") -> RequestHead {
        var head = RequestHead(method: method, target: target, version: .http2, fields: HeaderFields(lines))
        head.authority = "h.test:8443"
        return head
    }

    @Test func hostComesFirstAndCookiesAreOneLine() throws {
        let head = try self.head(["accept: */*", "cookie: a=1", "x: y", "cookie: b=2"]).asHTTP1(.none)
        #expect(head.version == .http11)
        #expect(head.fields.lines == ["Host: h.test:8443", "accept: */*", "x: y", "cookie: a=1; b=2"])
    }

    @Test func aBodyWithoutALengthIsChunked() throws {
        let head = try self.head([], method: "POST").asHTTP1(.untilClose)
        #expect(head.fields.lines == ["Host: h.test:8443", "Transfer-Encoding: chunked"])
        let answer = ResponseHead(version: .http2, status: 200, reason: [], fields: HeaderFields(["a: b"]))
        let (translated, framing) = answer.asHTTP1(.untilClose, method: "GET")
        #expect(translated.version == .http11 && translated.fields.lines == ["a: b", "Transfer-Encoding: chunked"] && framing == .chunked)
        let old = answer.asHTTP1(.untilClose, method: "GET", knowsChunked: false)
        #expect(old.head.fields.lines == ["a: b"] && old.framing == .untilClose)
    }

    @Test func messageWithoutABodyEndsAtOnceInHTTP1Too() throws {
        #expect(try self.head([], method: "POST").asHTTP1(.none).fields.lines == ["Host: h.test:8443", "Content-Length: 0"])
        for (status, method, wanted) in [(200, "GET", 1), (500, "POST", 1), (200, "HEAD", 0), (204, "GET", 0), (304, "GET", 0)] {
            let head = ResponseHead(version: .http2, status: status, reason: [], fields: HeaderFields())
            #expect(head.asHTTP1(.none, method: method).head.fields.count == wanted, "\(status) \(method)")
        }
    }

    @Test func headsOfHTTP1StayAsTheyAre() throws {
        let head = RequestHead(method: "GET", target: "/", version: .http10, fields: HeaderFields(["HOST: a", "Cookie: a", "Cookie: b"]))
        #expect(try head.asHTTP1(.untilClose) == head)
    }

    /// Fields that would start another line or another request in HTTP/1.
    @Test(arguments: [
        (["a: b\r\nEvil: 1"], "GET", "/"), (["a: b\nEvil: 1"], "GET", "/"), ([], "GET /x HTTP/1.1\r\nA:", "/"),
        ([], "GET", "/ HTTP/1.1\r\nA: b"),
        ([], "GET", "/a b"), (["a\r\n: b"], "GET", "/"), (["a: b\r\n\r\nGET /evil HTTP/1.1"], "GET", "/"), (["a : b"], "GET", "/"),
    ])
    func nothingIsSmuggled(lines: [String], method: String, target: String) {
        #expect(throws: MessageError.self) { try self.head(lines, method: method, target: target).asHTTP1(.none) }
    }

    @Test func forHTTP2ConnectionFieldsAreDroppedAndNamesLowered() {
        let fields = HopByHop.multiplexed(
            HeaderFields([
                "Host: a", "Connection: close, X-Hop", "X-Hop: 1", "Keep-Alive: 5", "Transfer-Encoding: chunked", "TE: gzip, trailers",
                "Upgrade: h2c",
                "Proxy-Connection: keep-alive", "X-End:  2 ", "Content-Length: 3", "Content-Length: 3",
            ]), dropsHost: true)
        #expect(fields.lines == ["te: trailers", "x-end: 2", "content-length: 3"])
    }

    @Test func theAuthorityIsTheTargetsUnlessBothAreTheSame() throws {
        let origin = Origin(scheme: .http, host: "a.test", port: 80)
        func names(_ host: String, _ target: String) throws -> [String] {
            let head = RequestHead(method: "GET", target: target, version: .http11, fields: HeaderFields(["Host: \(host)"]))
            let (authority, path) = head.multiplexedTarget(try RequestTarget(head), of: origin)
            return [authority, path]
        }
        #expect(try names("A.test", "http://a.test/x?y") == ["A.test", "/x?y"])
        #expect(try names("other", "http://a.test/x") == ["a.test", "/x"])
        #expect(try names("other", "/x") == ["other", "/x"])
    }
}
