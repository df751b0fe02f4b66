internal import CassetteModel
@testable internal import TapeExchange
internal import Testing

@Suite struct HeadParserTests {
    @Test func requestHeadKeepsEveryByteOfItsFields() throws {
        let wire = "GET /a?b=c HTTP/1.1\r\nHost: example.org\r\nx-A:  1 \r\nX-a:\r\nHOST-Like:\t\u{FC}\r\n\r\n"
        let parsed = try #require(try Wire.request(wire + "next"))
        #expect(parsed.consumed == wire.utf8.count)
        #expect(parsed.head.method == "GET")
        #expect(parsed.head.target == "/a?b=c")
        #expect(parsed.head.version == .http11)
        #expect(parsed.head.fields.lines == ["Host: example.org", "x-A:  1 ", "X-a:", "HOST-Like:\t\u{FC}"])
        #expect(parsed.head.fields.values("x-a") == ["1", ""])
    }

    @Test func responseHeadKeepsItsReason() throws {
        let head = try Wire.responseHead("HTTP/1.0 404 Not  Found ", "A: b")
        #expect(head.version == .http10)
        #expect(head.status == 404)
        #expect(head.reason == Array("Not  Found ".utf8))
        #expect(!head.omitsReasonSpace)
    }

    @Test func reasonMayBeEmptyOrMissing() throws {
        let empty = try Wire.responseHead("HTTP/1.1 200 ")
        #expect(empty.reason.isEmpty && !empty.omitsReasonSpace)
        let missing = try Wire.responseHead("HTTP/1.1 999")
        #expect(missing.reason.isEmpty && missing.omitsReasonSpace && missing.status == 999)
    }

    @Test func reasonKeepsBytesOutsideASCII() throws {
        let parsed = try #require(try Wire.response(Array("HTTP/1.1 200 \u{FF}".utf8.dropLast(2)) + [0xFF, 13, 10, 13, 10]))
        #expect(parsed.head.reason == [0xFF])
    }

    @Test func twoEmptyLinesBeforeARequestLineAreSkipped() throws {
        let wire = "\r\n\r\nGET / HTTP/1.1\r\n\r\n"
        let parsed = try #require(try Wire.request(wire))
        #expect(parsed.consumed == wire.utf8.count)
        #expect(Wire.refusal(ofRequest: "\r\n" + wire)?.status == 400)
        #expect(Wire.refusal(ofResponse: "\r\nHTTP/1.1 200 OK\r\n\r\n")?.status == 502)
    }

    @Test func headsArrivingByteByByteParseTheSame() throws {
        for wire in ["\r\nPOST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nEmpty:\r\n\r\nabc", "GET / HTTP/1.0\r\n\r\n"] {
            let bytes = Array(wire.utf8)
            let whole = try Wire.request(bytes)
            var parser = HeadParser()
            var result: Parsed<RequestHead>?
            var count = 0
            while result == nil, count <= bytes.count {
                result = try bytes[..<count].withUnsafeBytes { try parser.parseRequest($0) }
                if result == nil, count > 2 { #expect(parser.isInsideHead) }
                count += 1
            }
            #expect(result == whole)
            #expect(!parser.isInsideHead)
        }
    }

    @Test func parserStartsOverAfterAHead() throws {
        let bytes = Array("GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\nA: b\r\n\r\n".utf8)
        var parser = HeadParser()
        let first = try #require(try bytes.withUnsafeBytes { try parser.parseRequest($0) })
        let second = try #require(try bytes[first.consumed...].withUnsafeBytes { try parser.parseRequest($0) })
        #expect(first.head.target == "/1")
        #expect(second.head.target == "/2")
        #expect(first.consumed + second.consumed == bytes.count)
    }

    @Test func shorterBufferIsAnotherMessage() throws {
        var parser = HeadParser()
        let abandoned = Array("GET /1 HTTP/1.1\r\nA: b\r\nAbandoned: c".utf8)
        #expect(try abandoned.withUnsafeBytes { try parser.parseRequest($0) } == nil)
        let next = Array("GET /2 HTTP/1.1\r\n\r\n".utf8)
        #expect(try next.withUnsafeBytes { try parser.parseRequest($0) }?.head.target == "/2")
    }

    @Test func limitsHoldWhileTheHeadIsIncomplete() {
        // Browsers send beacons with URLs of 17 KiB.
        #expect(Wire.refusal(ofRequest: "GET /\(String(repeating: "a", count: 64 * 1024 - 1)) HTTP/1.1\r\nHost: a\r\n\r\n") == nil)
        let long = String(repeating: "a", count: 70_000)
        #expect(Wire.refusal(ofRequest: "GET /" + long)?.status == 414)
        #expect(Wire.refusal(ofRequest: long)?.status == 414)
        #expect(Wire.refusal(ofResponse: "HTTP/1.1 200 " + long)?.status == 502)
        #expect(Wire.refusal(ofRequest: "GET / HTTP/1.1\r\nA: " + String(repeating: long, count: 4))?.status == 431)
        #expect(Wire.refusal(ofRequest: "GET / HTTP/1.1\r\n" + String(repeating: long, count: 4))?.status == 431)
        #expect(Wire.refusal(ofRequest: "GET / HTTP/1.1\r\n" + String(repeating: "a:\r\n", count: 2049))?.status == 431)
        #expect(Wire.refusal(ofRequest: "GET / HTTP/1.1\r\n" + String(repeating: "a:\r\n", count: 2048) + "\r\n") == nil)
    }

    @Test func linesOfExactlyTheLimitAreTaken() throws {
        var limits = Limits()
        limits.startLine = 14
        limits.headerSection = 8
        #expect(try Wire.request("GET / HTTP/1.1\r\na: b\r\n\r\n", limits: limits) != nil)
        #expect(throws: MessageError.self) { try Wire.request("GET /a HTTP/1.1\r\na: b\r\n\r\n", limits: limits) }
        #expect(throws: MessageError.self) { try Wire.request("GET / HTTP/1.1\r\na: bc\r\n\r\n", limits: limits) }
    }

    @Test func messagesNameThePartAndTheNextStep() {
        #expect(
            Wire.refusal(ofRequest: "GET /\tx HTTP/1.1\r\n\r\n")?.message.hasSuffix("in its target; percent-encode it") == true)
        #expect(
            Wire.refusal(ofRequest: "GET / HTTP/1.1\r\nHost : a\r\n\r\n")?.message
                == "request header has white space in or after the name \"Host\"; remove it")
    }
}

@Suite struct StartLineTests {
    private func request(_ text: String) throws -> RequestHead { try Array(text.utf8).withUnsafeBytes { try StartLine.request($0) } }
    private func response(_ text: String) throws -> ResponseHead { try Array(text.utf8).withUnsafeBytes { try StartLine.response($0) } }

    @Test func partsOfARequestLineAreFound() throws {
        let head = try self.request("M-SEARCH * HTTP/1.1")
        #expect(head.method == "M-SEARCH" && head.target == "*" && head.version == .http11)
        #expect(try self.request("get /{}|\"<>\\^` HTTP/1.7").target == "/{}|\"<>\\^`")
        #expect(try self.request("GET /é HTTP/1.1").target == "/%C3%A9")
        #expect(try self.request("GET /é HTTP/1.1").rawTarget == Array("/é".utf8))
    }

    @Test(arguments: [
        "", " ", "GET", "GET ", "GET  ", "GET /", "GET / ", "GET  / HTTP/1.1", " GET / HTTP/1.1", "GET /  HTTP/1.1", "GET / HTTP/1.1 ",
        "GET / a HTTP/1.1", "GET\t/ HTTP/1.1", "GET /\tHTTP/1.1",
        "G(T / HTTP/1.1", "GÉT / HTTP/1.1", "GET / http/1.1", "GET / HTTP/1", "GET / HTTP/1.", "GET / HTTP/1.10",
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
