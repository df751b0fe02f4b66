@testable internal import TapeExchange
internal import Testing

@Suite struct BodyFramingTests {
    @Test func requestWithoutLengthFieldsHasNoBody() throws {
        #expect(try BodyFraming.ofRequest(Wire.requestHead("POST / HTTP/1.1")) == .none)
    }

    @Test func emptyBodyIsNotNoBody() throws {
        #expect(try BodyFraming.ofRequest(Wire.requestHead("POST / HTTP/1.1", "Content-Length: 0")) == .length(0))
    }

    @Test func lengthMayHaveLeadingZerosAndSpacesAround() throws {
        #expect(try BodyFraming.ofRequest(Wire.requestHead("POST / HTTP/1.1", "content-LENGTH: \t007 ")) == .length(7))
    }

    @Test func equalLengthLinesCountAsOne() throws {
        let head = try Wire.requestHead("POST / HTTP/1.1", "Content-Length: 7", "A: b", "Content-Length: 7")
        #expect(try BodyFraming.ofRequest(head) == .length(7))
    }

    @Test func largestLengthIsTaken() throws {
        let head = try Wire.requestHead("POST / HTTP/1.1", "Content-Length: \(Int.max)")
        #expect(try BodyFraming.ofRequest(head) == .length(.max))
    }

    @Test(arguments: ["+1", "-1", "0x10", "0_2e", "1 1", "1, 1", "1,", "", "9223372036854775808", "18446744073709551617", "1.0", "\u{B2}"])
    func lengthThatIsNotDigitsIsRefused(_ value: String) {
        #expect(Wire.refusal(ofRequest: "POST / HTTP/1.1\r\nContent-Length: \(value)\r\n\r\n")?.status == 400)
        #expect(Wire.refusal(ofResponse: "HTTP/1.1 200 OK\r\nContent-Length: \(value)\r\n\r\n")?.status == 502)
    }

    @Test(arguments: [
        "gzip", "gzip, chunked", "chunked, identity", "chunked, chunked", "chunked;a=b", "xchunked", "", "\"chunked\"", "chunked,",
        "identity",
    ])
    func codingOtherThanChunkedIsRefused(_ value: String) {
        #expect(Wire.refusal(ofRequest: "POST / HTTP/1.1\r\nTransfer-Encoding: \(value)\r\n\r\n")?.status == 501)
        #expect(Wire.refusal(ofResponse: "HTTP/1.1 200 OK\r\nTransfer-Encoding: \(value)\r\n\r\n")?.status == 502)
    }

    @Test func codingInHTTP10IsRefused() {
        #expect(Wire.refusal(ofRequest: "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n")?.status == 400)
        #expect(Wire.refusal(ofResponse: "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")?.status == 502)
    }

    @Test(arguments: [
        "Content-Length: 7\r\nTransfer-Encoding: chunked", "Transfer-Encoding: Chunked\r\nContent-Length: 7",
        "Content-Length: 0\r\nTransfer-Encoding: chunked",
    ])
    func messageWithBothLengthFieldsIsRefused(_ fields: String) {
        #expect(Wire.refusal(ofRequest: "POST / HTTP/1.1\r\n\(fields)\r\n\r\n")?.status == 400)
        #expect(Wire.refusal(ofResponse: "HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n")?.status == 502)
    }

    @Test func responseWithoutLengthFieldsEndsWithItsConnection() throws {
        #expect(try BodyFraming.ofResponse(Wire.responseHead("HTTP/1.1 200 OK"), requestMethod: "GET") == .untilClose)
    }

    @Test(arguments: [("HEAD", 200), ("GET", 100), ("GET", 101), ("GET", 204), ("GET", 304), ("CONNECT", 200), ("CONNECT", 299)])
    func responseWithoutABodyHasNoneDespiteItsFields(_ method: String, _ status: Int) throws {
        for line in ["Content-Length: 5", "Transfer-Encoding: chunked", "A: b"] {
            let head = try Wire.responseHead("HTTP/1.1 \(status) X", line)
            #expect(try BodyFraming.ofResponse(head, requestMethod: method) == .none)
        }
    }

    @Test func refusalOfAConnectHasABody() throws {
        let head = try Wire.responseHead("HTTP/1.1 403 X", "Content-Length: 5")
        #expect(try BodyFraming.ofResponse(head, requestMethod: "CONNECT") == .length(5))
    }
}
