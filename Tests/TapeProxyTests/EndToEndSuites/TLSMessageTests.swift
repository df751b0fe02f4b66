import CassetteModel
import TapeTLS
import Testing
@testable import TapeProxy

/// Whole messages through a tunnel whose TLS ends in the proxy, compared byte for byte, live and replayed from the cassette.
@Suite struct TLSMessageTests {
    private typealias Answer = LiveAndReplayed.Answer

    private let scene: TLSScene

    init() throws { self.scene = try TLSScene() }

    /// One conversation inside a tunnel, live and replayed.
    private func compare(
        _ script: @escaping @Sendable (TLSStream) throws -> Void, sourceLocation: SourceLocation = #_sourceLocation,
        talk: (TLSStream) throws -> Answer
    ) throws -> (answer: Answer, recorded: [Interaction]) {
        let origin = try RawOrigin(self.scene.origin().plays(script))
        return try LiveAndReplayed.compare(origin, configure: self.scene.configure, sourceLocation: sourceLocation) { client in
            try talk(self.scene.secure(client, to: origin.authority))
        }
    }

    private func toEnd(_ stream: TLSStream, _ request: String) throws -> Answer {
        try stream.send(request)
        let (bytes, end) = try stream.readToEnd()
        return Answer(bytes: bytes, end: end)
    }

    @Test func aSecondRequestTakesTheSameConnectionsOnBothSides() throws {
        let (answer, recorded) = try self.compare { stream in
            try stream.expectRequest("GET /a")
            try stream.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Odd:  two  spaces \r\n\r\nfirst")
            try stream.expectRequest("GET /b")
            try stream.send("HTTP/1.1 404 Not  Here\r\ncontent-LENGTH: 6\r\n\r\nsecond")
            try stream.expectEnd()
        } talk: { stream in
            try stream.send(TLSScene.request("GET", "/a"))
            let first = try stream.readMessage()
            try stream.send(TLSScene.request("GET", "/b"))
            return Answer(bytes: first + (try stream.readMessage()))
        }
        #expect(
            answer.text == "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Odd:  two  spaces \r\n\r\nfirst"
                + "HTTP/1.1 404 Not  Here\r\ncontent-LENGTH: 6\r\n\r\nsecond")
        #expect(recorded.map(\.request.url) == ["https://example.test/a", "https://example.test/b"])
        #expect(recorded.map { $0.connection?.isReused } == [false, true])
        #expect(recorded.map { $0.connection?.id } == [1, 1])
    }

    @Test func pipelinedRequestsAreAnsweredInOrder() throws {
        let (answer, _) = try self.compare { stream in
            for path in ["/1", "/2", "/3"] {
                try stream.expectRequest("GET \(path)")
                try stream.send(TLSScene.answer(path))
            }
        } talk: { stream in
            try stream.send(["/1", "/2", "/3"].map { TLSScene.request("GET", $0) }.joined())
            return Answer(bytes: try (0..<3).flatMap { _ in try stream.readMessage() })
        }
        #expect(answer.text == ["/1", "/2", "/3"].map { TLSScene.answer($0) }.joined())
    }

    @Test func aChunkedExchangeWithExtensionsAndTrailersPassesUntouched() throws {
        let sent = "005;q=\"a;b\"\r\nhello\r\n1\r\n \r\n00;last\r\nX-Sum: 1\r\nX-Sum:2\r\n\r\n"
        let received = "A;n=v\r\n0123456789\r\n1\r\nz\r\n0000\r\nTrailing:  yes\r\n\r\n"
        let (answer, recorded) = try self.compare { stream in
            try stream.expectRequest("POST /echo")
            try stream.expect(sent)
            try stream.send("HTTP/1.1 200 OK\r\nTRANSFER-encoding: chunked\r\nTrailer: Trailing\r\n\r\n" + received)
        } talk: { stream in
            try stream.send(TLSScene.request("POST", "/echo", "Transfer-Encoding: Chunked", body: sent))
            return Answer(bytes: try stream.read(through: "Trailing:  yes\r\n\r\n"))
        }
        #expect(answer.text == "HTTP/1.1 200 OK\r\nTRANSFER-encoding: chunked\r\nTrailer: Trailing\r\n\r\n" + received)
        #expect(recorded.first?.request.trailers?.count == 2)
        #expect(recorded.first?.response?.trailers?.count == 1)
    }

    @Test(arguments: [("HEAD", "200 OK"), ("GET", "204 No Content"), ("GET", "304 Not Modified")])
    func anAnswerWithoutABodyEndsWithItsHead(method: String, status: String) throws {
        let length = status.hasPrefix("204") ? "" : "Content-Length: 100\r\n"
        let head = "HTTP/1.1 \(status)\r\nETag: \"x\"\r\n\(length)\r\n"
        let (answer, recorded) = try self.compare { stream in
            for _ in 0..<2 {
                try stream.expectRequest("\(method) /")
                try stream.send(head)
            }
        } talk: { stream in
            try stream.send(TLSScene.request(method))
            let first = try stream.read(through: "\r\n\r\n")
            try stream.send(TLSScene.request(method))
            return Answer(bytes: first + (try stream.read(through: "\r\n\r\n")))
        }
        #expect(answer.text == head + head)
        #expect(recorded.allSatisfy { $0.response?.body == nil && $0.outcome == .complete })
    }

    @Test func interimAnswersPassBeforeTheFinalOne() throws {
        let interim = "HTTP/1.1 103 Early Hints\r\nLink: </s.css>; rel=preload\r\n\r\n"
        let (answer, recorded) = try self.compare { stream in
            try stream.expectRequest("GET /")
            try stream.send(interim)
            try stream.send(TLSScene.answer("ok"))
        } talk: { stream in
            try stream.send(TLSScene.request())
            return Answer(bytes: try stream.read(through: "\r\n\r\n") + stream.readMessage())
        }
        #expect(answer.text == interim + TLSScene.answer("ok"))
        #expect(recorded.first?.interim.map(\.status) == [103])
    }

    @Test func aBodyThatEndsWithCloseNotifyIsWhole() throws {
        let (answer, recorded) = try self.compare { stream in
            try stream.expectRequest("GET /")
            try stream.send("HTTP/1.0 200 OK\r\nServer: old\r\n\r\nto the end")
        } talk: {
            try self.toEnd($0, TLSScene.request())
        }
        #expect(answer.text == "HTTP/1.0 200 OK\r\nServer: old\r\n\r\nto the end")
        #expect(answer.end == .closed)
        #expect(recorded.first?.outcome == .complete)
    }

    @Test func anHTTP10ClientGetsAChunkedAnswerWithoutItsChunks() throws {
        let (answer, _) = try self.compare { stream in
            try stream.expect("GET / HTTP/1.0\r\n")
            try stream.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
        } talk: {
            try self.toEnd($0, TLSScene.request(version: "1.0"))
        }
        #expect(answer.text == "HTTP/1.1 200 OK\r\n\r\nabcde")
        #expect(answer.end == .closed)
    }

    @Test func anHTTP10ClientWithoutAHostFieldIsRecordedUnderTheTunnelsName() throws {
        let origin = try RawOrigin(
            self.scene.origin("127.0.0.1").plays { stream in
                _ = try stream.read(through: "\r\n\r\n")
                try stream.send("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n")
            })
        let (answer, recorded) = try LiveAndReplayed.compare(origin, configure: self.scene.configure) { client in
            try self.toEnd(self.scene.secure(client, to: origin.authority, serverName: nil), "GET /a HTTP/1.0\r\n\r\n")
        }
        #expect(answer.end == .closed)
        #expect(recorded.map(\.request.url) == ["https://\(origin.authority)/a"])
    }

    @Test func aClientThatClosesCleanlyAfterAnAnswerIsAnsweredInKind() throws {
        let (answer, _) = try self.compare { stream in
            try stream.expectRequest("GET /")
            try stream.send(TLSScene.answer("ok"))
        } talk: { stream in
            try stream.send(TLSScene.request())
            let bytes = try stream.readMessage()
            try stream.sayGoodbye()
            return Answer(bytes: bytes, end: try stream.readToEnd().end)
        }
        #expect(answer.end == .closed)
    }

    @Test func OPTIONSForTheServerAsAWholeKeepsItsTarget() throws {
        let (_, recorded) = try self.compare { stream in
            try stream.expectRequest("OPTIONS *")
            try stream.send(TLSScene.answer("all"))
        } talk: { stream in
            try stream.send(TLSScene.request("OPTIONS", "*"))
            return Answer(bytes: try stream.readMessage())
        }
        #expect(recorded.first?.request.url == "https://example.test")
        #expect(recorded.first?.request.target == "*")
    }
}
