import Testing

/// Whole messages through the proxy, byte for byte, and the same again from the cassette.
@Suite struct MessagePassingTests {
    private typealias Answer = LiveAndReplayed.Answer

    @Test func aSecondRequestTakesTheSameConnectionsOnBothSides() throws {
        let origin = try RawOrigin { connection in
            try connection.expectRequest("GET /a")
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Odd:  two  spaces \r\n\r\nfirst")
            try connection.expectRequest("GET /b")
            try connection.send("HTTP/1.1 404 Not  Here\r\ncontent-LENGTH: 6\r\n\r\nsecond")
            try connection.expectEnd()
        }
        let (answer, recorded) = try LiveAndReplayed.compare(origin) { client in
            try client.send(origin.request("GET", "/a"))
            let first = try client.readMessage()
            try client.send(origin.request("GET", "/b"))
            return Answer(bytes: first + (try client.readMessage()))
        }
        #expect(
            answer.text == "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Odd:  two  spaces \r\n\r\nfirst"
                + "HTTP/1.1 404 Not  Here\r\ncontent-LENGTH: 6\r\n\r\nsecond")
        #expect(recorded.map { $0.connection?.isReused } == [false, true])
        #expect(recorded.map { $0.connection?.id } == [1, 1])
        #expect(recorded.map(\.id) == [1, 2])
    }

    @Test func pipelinedRequestsAreAnsweredInOrder() throws {
        let origin = try RawOrigin { connection in
            for path in ["/1", "/2", "/3"] {
                try connection.expectRequest("GET \(path)")
                try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n\(path)")
            }
        }
        let (answer, _) = try LiveAndReplayed.compare(origin) { client in
            try client.send(["/1", "/2", "/3"].map { origin.request("GET", $0) }.joined())
            return Answer(bytes: try (0..<3).flatMap { _ in try client.readMessage() })
        }
        #expect(answer.text == ["/1", "/2", "/3"].map { "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n\($0)" }.joined())
    }

    @Test func aChunkedExchangeWithExtensionsAndTrailersPassesUntouched() throws {
        let sent = "005;q=\"a;b\"\r\nhello\r\n1\r\n \r\n00;last\r\nX-Sum: 1\r\nX-Sum:2\r\n\r\n"
        let received = "A;n=v\r\n0123456789\r\n0a\r\nabcdefghij\r\n1\r\nz\r\n0000\r\nTrailing:  yes\r\n\r\n"
        let origin = try RawOrigin { connection in
            let head = try connection.expectRequest("POST /echo")
            guard head.contains("\r\nTransfer-Encoding: Chunked\r\n") else { throw RawError("the framing was changed: \(head)") }
            try connection.expect(sent)
            try connection.send("HTTP/1.1 200 OK\r\nTRANSFER-encoding: chunked\r\nTrailer: Trailing\r\n\r\n" + received)
        }
        let (answer, recorded) = try LiveAndReplayed.compare(origin) { client in
            try client.send(origin.request("POST", "/echo", "Transfer-Encoding: Chunked", body: sent))
            return Answer(bytes: try client.read(through: "Trailing:  yes\r\n\r\n"))
        }
        #expect(answer.text == "HTTP/1.1 200 OK\r\nTRANSFER-encoding: chunked\r\nTrailer: Trailing\r\n\r\n" + received)
        #expect(recorded.first?.request.body?.content == .text(Array("hello ".utf8)))
        #expect(recorded.first?.request.trailers?.count == 2)
        #expect(recorded.first?.response?.body?.size == 21)
    }

    @Test func anHTTP10ClientGetsAChunkedAnswerWithoutItsChunks() throws {
        let origin = try RawOrigin { connection in
            guard try connection.read(through: "\r\n\r\n").starts(with: Array("GET / HTTP/1.0\r\n".utf8)) else {
                throw RawError("not HTTP/1.0")
            }
            try connection.send(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: T\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nT: 1\r\n\r\n")
        }
        let (answer, _) = try LiveAndReplayed.compare(origin, asking: origin.request(version: "1.0"))
        #expect(answer.text == "HTTP/1.1 200 OK\r\n\r\nabcde")
        #expect(answer.end == .closed)
    }

    @Test(arguments: [("HEAD", "200 OK"), ("GET", "204 No Content"), ("GET", "304 Not Modified")])
    func anAnswerWithoutABodyEndsWithItsHead(method: String, status: String) throws {
        let length = status.hasPrefix("204") ? "" : "Content-Length: 100\r\n"
        let head = "HTTP/1.1 \(status)\r\nETag: \"x\"\r\n\(length)\r\n"
        let origin = try RawOrigin { connection in
            for _ in 0..<2 {
                try connection.expectRequest("\(method) /")
                try connection.send(head)
            }
        }
        let (answer, recorded) = try LiveAndReplayed.compare(origin) { client in
            try client.send(origin.request(method, "/", "If-None-Match: \"x\""))
            let first = try client.read(through: "\r\n\r\n")
            try client.send(origin.request(method, "/", "If-None-Match: \"x\""))
            return Answer(bytes: first + (try client.read(through: "\r\n\r\n")))
        }
        #expect(answer.text == head + head)
        #expect(recorded.allSatisfy { $0.response?.body == nil && $0.outcome == .complete })
    }

    @Test func aBodyWithoutALengthEndsWhenTheOriginCloses() throws {
        let origin = try RawOrigin { connection in
            try connection.expectRequest("GET /")
            try connection.send("HTTP/1.0 200 OK\r\nServer: old\r\n\r\nto the ")
            try connection.send("end")
        }
        let (answer, recorded) = try LiveAndReplayed.compare(origin, asking: origin.request())
        #expect(answer.text == "HTTP/1.0 200 OK\r\nServer: old\r\n\r\nto the end")
        #expect(answer.end == .closed)
        #expect(recorded.first?.outcome == .complete)
    }

    @Test func interimAnswersPassBeforeTheFinalOne() throws {
        let interim = "HTTP/1.1 103 Early Hints\r\nLink: </s.css>; rel=preload\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n"
        let origin = try RawOrigin { connection in
            try connection.expectRequest("GET /")
            try connection.send(interim)
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
        let (answer, recorded) = try LiveAndReplayed.compare(origin) { client in
            try client.send(origin.request())
            let first = try client.read(through: "102 Processing\r\n\r\n")
            return Answer(bytes: first + (try client.readMessage()))
        }
        #expect(answer.text == interim + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        #expect(recorded.first?.interim.map(\.status) == [103, 102])
    }

    @Test func anHTTP10ClientIsSentNoInterimAnswers() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.read(through: "\r\n\r\n")
            try connection.send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
        let (answer, _) = try LiveAndReplayed.compare(origin, asking: origin.request(version: "1.0"))
        #expect(answer.text == "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    }

    @Test func aClientThatWaitsFor100GetsItBeforeItSendsItsBody() throws {
        let origin = try RawOrigin { connection in
            let head = try connection.expectRequest("PUT /")
            guard head.contains("\r\nExpect: 100-continue\r\n") else { throw RawError("Expect was not passed on") }
            try connection.send("HTTP/1.1 100 Continue\r\n\r\n")
            try connection.expect("body")
            try connection.send("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")
        }
        let (answer, _) = try LiveAndReplayed.compare(origin) { client in
            try client.send(origin.request("PUT", "/", "Content-Length: 4", "Expect: 100-continue"))
            let first = try client.read(through: "\r\n\r\n")
            try client.send("body")
            return Answer(bytes: first + (try client.readMessage()))
        }
        #expect(answer.text == "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")
    }

    @Test func anOriginThatRefusesTheBodyIsHeardAtOnce() throws {
        let origin = try RawOrigin(
            { connection in
                try connection.expectRequest("PUT /")
                try connection.send("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\n\r\nno")
                try connection.expectEnd()
            },
            { connection in
                try connection.expectRequest("PUT /")
                try connection.expect("body")
                try connection.send("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")
            })
        // As curl does: the same request again on the same connection, without the expectation (RFC 9110, 10.1.1).
        let proxy = try RunningProxy()
        let client = try proxy.connect()
        try client.send(origin.request("PUT", "/", "Content-Length: 4", "Expect: 100-continue"))
        try client.expect("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\n\r\nno")
        try client.send(origin.request("PUT", "/", "Content-Length: 4", body: "body"))
        try client.expect("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")
        origin.finish()
        #expect(try proxy.recorded().map { $0.response?.status } == [417, 201])
    }

    @Test func aMessageWithBothLengthFieldsGoesNowhere() throws {
        let origin = try RawOrigin()
        let proxy = try RunningProxy()
        let request = origin.request("POST", "/", "Content-Length: 12", "Transfer-Encoding: chunked", body: "2\r\nhi\r\n0\r\n\r\n")
        let answer = try proxy.ask(request + origin.request("GET", "/smuggled"))
        #expect(answer.hasPrefix("HTTP/1.1 400 Bad Request\r\nWiretape-Error: bad-request\r\n"))
        #expect(origin.accepted == 0)
    }

    @Test func hopByHopFieldsAreRemovedOnBothSides() throws {
        let origin = try RawOrigin { connection in
            let head = try connection.expectRequest("GET /")
            guard head.contains("\r\nX-Kept: 1\r\n"), !head.contains("X-Named"), !head.contains("Proxy-"), !head.contains("Keep-Alive")
            else {
                throw RawError("wrong fields: \(head)")
            }
            try connection.send("HTTP/1.1 200 OK\r\nConnection: X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\nContent-Length: 0\r\n\r\n")
        }
        let (answer, _) = try LiveAndReplayed.compare(origin) { client in
            try client.send(
                origin.request(
                    "GET", "/", "Connection: X-Named", "X-Named: 1", "Keep-Alive: 3", "Proxy-Connection: keep-alive",
                    "Proxy-Authorization: Basic c2VjcmV0", "X-Kept: 1"))
            return Answer(bytes: try client.readMessage())
        }
        #expect(answer.text == "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    }

    @Test func anOriginOnIPv6IsReached() throws {
        guard
            let origin = try? RawOrigin(
                host: "::1",
                { connection in
                    try connection.expectRequest("GET /")
                    try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n6")
                })
        else { return }
        let (answer, recorded) = try LiveAndReplayed.compare(origin) { client in
            try client.send(origin.request())
            return Answer(bytes: try client.readMessage())
        }
        #expect(answer.text.hasSuffix("\r\n\r\n6"))
        #expect(recorded.first?.connection?.remote == origin.authority)
    }

    @Test func anUnmodifiedStatusLineWithoutAReasonPasses() throws {
        let origin = try RawOrigin { connection in
            try connection.expectRequest("GET /")
            try connection.send("HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n")
        }
        let (answer, _) = try LiveAndReplayed.compare(origin) { client in
            try client.send(origin.request())
            return Answer(bytes: try client.readMessage())
        }
        #expect(answer.text == "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n")
    }

    /// The client may take the answer for that of its server.
    @Test(arguments: ["GET http://h/ HTTP/9.9\r\nHost: h\r\n\r\n", "GET http://h/ HTTP/1.1\r\nHost: h\r\nA B: c\r\n\r\n", "\u{1}\r\n\r\n"])
    func aMalformedRequestIsAMissOfAReplay(request: String) throws {
        let recording = try RunningProxy()
        let replay = try RunningProxy(.none, in: recording.folder)
        let client = try replay.connect()
        try client.send(request)
        #expect(String(decoding: try client.readToEnd().bytes, as: UTF8.self).hasPrefix("HTTP/1.1 "))
        try replay.stop()
        #expect(replay.session.verdict().misses == 1)
    }
}
