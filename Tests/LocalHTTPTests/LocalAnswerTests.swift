import LocalHTTP
import Testing

@Suite struct LocalAnswerTests {
    @Test func anErrorIsOneJSONObject() {
        let answer = LocalAnswer(status: 404, reason: "Not Found", fields: ["X: y"], code: "not-found", message: "no \"s1\"")
        #expect(
            String(decoding: answer.bytes(), as: UTF8.self)
                == [
                    "HTTP/1.1 404 Not Found", "X: y", "Content-Type: application/json", "X-Content-Type-Options: nosniff",
                    "Cache-Control: no-store", "Content-Length: 61", "Connection: close", "",
                    "{ \"error\": { \"code\": \"not-found\", \"message\": \"no \\\"s1\\\"\" } }\n",
                ].joined(separator: "\r\n"))
    }

    @Test func anAnswerInPiecesHasALengthOrChunks() throws {
        let answer = LocalAnswer(status: 200, reason: "OK", type: "text/plain", body: [])
        let known = String(decoding: answer.head(.length(5), keepsAlive: true), as: UTF8.self)
        #expect(known.contains("\r\nContent-Length: 5\r\n") && !known.contains("Connection"))
        let open = String(decoding: answer.head(.chunked, keepsAlive: false), as: UTF8.self)
        #expect(open.contains("\r\nTransfer-Encoding: chunked\r\n") && open.contains("\r\nConnection: close\r\n"))
        let long = [UInt8](repeating: 65, count: 26)
        #expect(LocalStream.wire(long, .chunked) == Array("1a\r\n".utf8) + long + [13, 10])
        #expect(LocalStream.wire([], .chunked).isEmpty, "it would end the body")
        #expect(LocalStream.wire(long, .length(26)) == long)
        #expect(LocalStream.end(.chunked) == Array("0\r\n\r\n".utf8) && LocalStream.end(.length(26)).isEmpty)
    }
}

@Suite struct ByteRangeTests {
    @Test(
        arguments: [
            (nil, ByteRange.all), ("bytes=0-3", .part(0..<4)), ("bytes=4-", .part(4..<10)), ("bytes=-3", .part(7..<10)),
            ("bytes=8-99", .part(8..<10)), ("bytes=-99", .part(0..<10)), ("bytes=10-", .unsatisfiable), ("bytes=10-12", .unsatisfiable),
            ("bytes=-0", .unsatisfiable), ("bytes=3-2", .all), ("bytes=1-2,4-5", .all), ("bytes=", .all), ("bytes=-", .all),
            ("bytes=a-b", .all), ("lines=1-2", .all), ("bytes=99999999999999999999-", .all),
        ] as [(String?, ByteRange)])
    func aRangeIsClampedAndNonsenseIsIgnored(_ field: String?, _ wanted: ByteRange) {
        #expect(ByteRange(field, of: 10) == wanted)
    }

    @Test func nothingHasNoRange() {
        #expect(ByteRange("bytes=0-", of: 0) == .unsatisfiable)
        #expect(ByteRange(nil, of: 0) == .all)
    }

    @Test func theAnswerSaysWhichBytesItHolds() throws {
        let (answer, range) = try ByteRange.resolve("bytes=2-3", of: 10)
        #expect(answer.status == 206 && range == 2..<4 && answer.fields == ["Content-Range: bytes 2-3/10"])
        #expect(throws: LocalAnswer.self) { try ByteRange.resolve("bytes=10-", of: 10) }
    }
}
