import CassetteModel
import CassetteStore
import TapeTestSupport
import Testing
@testable import TapeProxy

/// Exchanges that do not reach their end: what the client gets, what is recorded, and the replay of the same from the cassette.
@Suite struct CutAndFailedTests {
    @Test(
        arguments: [
            ("Content-Length: 10", "part"), ("Transfer-Encoding: chunked", "a\r\npart"), ("Transfer-Encoding: chunked", "4\r\npart\r\n"),
        ])
    func aCutBodyIsDeliveredRecordedAndReplayedAsCut(field: String, part: String) throws {
        let origin = try RawOrigin { connection in
            try connection.expectRequest("GET /")
            try connection.send("HTTP/1.1 200 OK\r\n\(field)\r\n\r\n\(part)")
        }
        let (answer, recorded) = try LiveAndReplayed.compare(origin, asking: origin.request())
        #expect(answer.text == "HTTP/1.1 200 OK\r\n\(field)\r\n\r\n\(part)")
        #expect(recorded.first?.response?.body?.isComplete == false)
        guard case .cut(let cut)? = recorded.first?.outcome else { throw RawError("\(recorded) is not cut") }
        #expect(cut.by == .origin)
    }

    @Test(arguments: ["1.1", "1.0"]) func aCutBodyThatOnlyACloseWouldEndIsCutWithAReset(version: String) throws {
        // The client takes a close for the end of the body, so cutting it needs a reset.
        let gate = Gate("the client has the part")
        let origin = try RawOrigin { connection in
            _ = try connection.read(through: "\r\n\r\n")
            if version == "1.1" {
                try connection.send("HTTP/1.1 200 OK\r\n\r\npart")
            } else {
                try connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\npart")
            }
            try gate.wait()
            connection.reset()
        }
        let proxy = try RunningProxy()
        let client = try proxy.connect()
        try client.send(origin.request(version: version))
        _ = try client.read(through: "part")
        gate.open()
        #expect(try client.readToEnd().end == .reset)
        origin.finish()
        #expect(try proxy.recorded().first?.response?.body?.isComplete == false)

        let replay = try RunningProxy(.none, in: proxy.folder)
        let again = try replay.connect()
        try again.send(origin.request(version: version))
        let replayed = try again.readToEnd()
        // A client of HTTP/1.1 gets chunks, without the last one.
        let text = String(decoding: replayed.bytes, as: UTF8.self)
        let isChunked = text.contains("\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n") && !text.contains("\r\n0\r\n")
        #expect(version == "1.1" ? isChunked : replayed.end == .reset, "\(text), \(replayed.end)")
    }

    /// A client whose handling of errors is under test sees the reset live and in the replay, if it asks for that.
    @Test(arguments: [Failure.Answer.break, .page], [Failure.Answer.break, .page, nil])
    func aResetInTheMiddleOfAnAnswerIsPassedOnIfBreaksAre(recording: Failure.Answer, replaying: Failure.Answer?) throws {
        let gate = Gate("the client has the part")
        let origin = try RawOrigin { connection in
            _ = try connection.read(through: "\r\n\r\n")
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\npart")
            try gate.wait()
            connection.reset()
        }
        let proxy = try RunningProxy { $0.originErrors = recording }
        let client = try proxy.connect()
        try client.send(origin.request())
        _ = try client.read(through: "part")
        gate.open()
        #expect(try client.readToEnd().end == (recording == .break ? .reset : .closed))
        origin.finish()
        guard case .cut(let cut)? = try proxy.recorded().first?.outcome else { throw RawError("not cut") }
        #expect(cut.isReset == (recording == .break))

        let replay = try RunningProxy(.none, in: proxy.folder) { $0.originErrors = replaying }
        let again = try replay.connect()
        try again.send(origin.request())
        _ = try again.read(through: "\r\n\r\n")
        #expect(try again.readToEnd().end == (recording == .break && replaying != .page ? .reset : .closed))
    }

    @Test func anUploadThatTheClientGivesUpIsAHitWhenItIsGivenUpAgain() throws {
        let (began, ended) = (Gate("the origin has a part"), Gate("the upload has ended"))
        let origin = try RawOrigin { connection in
            _ = try connection.read(through: "\r\n\r\n01234")
            began.open()
            _ = try connection.readToEnd()
            ended.open()
        }
        let head = "POST http://\(origin.authority)/up HTTP/1.1\r\nHost: \(origin.authority)\r\nContent-Length: 99\r\n\r\n"
        let proxy = try RunningProxy()
        let client = try proxy.connect()
        try client.send(head + "0123456789")
        try began.wait()
        client.close()
        try ended.wait()
        let recorded = try #require(try proxy.recorded().first)
        #expect(recorded.request.body?.isComplete == false && recorded.outcome != .complete)

        // The number of bytes that arrived may differ.
        let replay = try RunningProxy(.none, in: proxy.folder)
        let again = try replay.connect()
        try again.send(head + "0123")
        again.closeOutput()
        _ = try again.readToEnd()
        try replay.stop()
        let verdict = replay.session.verdict()
        #expect(verdict.hits == 1 && verdict.unused.isEmpty && verdict.misses == 0)
    }

    @Test func aRefusedConnectionIsAnsweredRecordedAndReplayed() throws {
        let origin = try RawOrigin()
        origin.stop()
        let (answer, recorded) = try LiveAndReplayed.compare(origin, asking: origin.request("GET", "/", "Connection: close"))
        #expect(answer.text.hasPrefix("HTTP/1.1 502 Bad Gateway\r\nWiretape-Error: refused\r\n"))
        #expect(recorded.first?.response == nil)
        guard case .failed(let failure)? = recorded.first?.outcome else { throw RawError("\(recorded) is not failed") }
        #expect(failure.kind == .refused)
        #expect(failure.message.contains(origin.authority))
    }

    @Test func anUnknownHostIsAnsweredRecordedAndReplayed() throws {
        let origin = try RawOrigin()
        let request = "GET http://no-such-host.invalid/ HTTP/1.1\r\nHost: no-such-host.invalid\r\nConnection: close\r\n\r\n"
        let (answer, recorded) = try LiveAndReplayed.compare(origin, asking: request)
        #expect(answer.text.hasPrefix("HTTP/1.1 502 Bad Gateway\r\nWiretape-Error: dns\r\n"))
        guard case .failed(let failure)? = recorded.first?.outcome else { throw RawError("\(recorded) is not failed") }
        #expect(failure.kind == .dns)
    }

    @Test func aFailureKeepsTheClientsConnection() throws {
        let refusing = try RawOrigin()
        refusing.stop()
        let origin = try RawOrigin { connection in
            try connection.expectRequest("GET /")
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
        let (answer, _) = try LiveAndReplayed.compare(origin) { client in
            try client.send(refusing.request())
            let first = try client.readMessage()
            try client.send(origin.request())
            return LiveAndReplayed.Answer(bytes: first + (try client.readMessage()))
        }
        #expect(answer.text.hasSuffix("\r\n\r\nok"))
    }

    @Test(
        arguments: [
            "HTTP/1.1 20 OK\r\n\r\n", "hello\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 200 OK\r\nA b: c\r\n\r\n",
            "HTTP/2 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\n folded\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\n\r\n",
            "HTTP/1.1 200 OK\r\nX: \u{0}\r\n\r\n",
        ])
    func anAnswerThatIsNotHTTPBecomesA502(bad: String) throws {
        let origin = try RawOrigin { connection in
            try connection.expectRequest("GET /")
            try connection.send(bad)
            _ = try connection.readToEnd()
        }
        let (answer, recorded) = try LiveAndReplayed.compare(origin, asking: origin.request("GET", "/", "Connection: close"))
        #expect(answer.text.hasPrefix("HTTP/1.1 502 Bad Gateway\r\nWiretape-Error: malformed\r\n"))
        guard case .failed(let failure)? = recorded.first?.outcome else { throw RawError("\(recorded) is not failed") }
        #expect(failure.kind == .malformed)
    }

    @Test func anInvalidChunkCutsTheAnswer() throws {
        let gate = Gate("the client has the good chunk")
        let origin = try RawOrigin { connection in
            try connection.expectRequest("GET /")
            try connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
            try gate.wait()
            try connection.send("zz\r\nevil")
            _ = try connection.readToEnd()
        }
        let (answer, recorded) = try LiveAndReplayed.compare(origin) { client in
            try client.send(origin.request())
            let first = try client.read(through: "abc\r\n")
            gate.open()
            let (rest, end) = try client.readToEnd()
            return LiveAndReplayed.Answer(bytes: first + rest, end: end)
        }
        #expect(answer.text.hasSuffix("\r\n\r\n3\r\nabc\r\n"))
        #expect(recorded.first?.response?.body?.isComplete == false)
    }

    @Test func aRequestBodyThatIsNotChunksNeverGoesOnAndEndsInA400() throws {
        let gate = Gate("the origin has the good chunk")
        let origin = try RawOrigin { connection in
            try connection.expectRequest("POST /")
            try connection.expect("3\r\nabc\r\n")
            gate.open()
            try connection.expectEnd()
        }
        let proxy = try RunningProxy()
        let client = try proxy.connect()
        try client.send(origin.request("POST", "/", "Transfer-Encoding: chunked", body: "3\r\nabc\r\n"))
        try gate.wait()
        try client.send("g\r\n")
        let answer = String(decoding: try client.readToEnd().bytes, as: UTF8.self)
        #expect(answer.hasPrefix("HTTP/1.1 400 "))
        #expect(answer.contains("Wiretape-Error: bad-request"))
        origin.finish()
        #expect(try proxy.recorded().first?.request.body?.isComplete == false)
    }

    @Test func aClientThatLeavesCancelsTheRequestAtItsOrigin() throws {
        let gate = Gate("the client has the first part")
        let origin = try RawOrigin { connection in
            try connection.expectRequest("GET /")
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart")
            try gate.wait()
            _ = try connection.readToEnd()
        }
        let proxy = try RunningProxy()
        let client = try proxy.connect()
        try client.send(origin.request())
        _ = try client.read(through: "part")
        client.close()
        gate.open()
        origin.finish()
        let recorded = try #require(try proxy.recorded().first)
        guard case .cut(let cut) = recorded.outcome else { throw RawError("\(recorded.outcome) is no cut") }
        #expect(cut.by == .client)
        #expect(recorded.response?.body?.isComplete == false)
    }

    @Test func bytesAfterTheEndOfAnAnswerAreNotMixedIntoTheNext() throws {
        let origin = try RawOrigin(
            { connection in
                try connection.expectRequest("GET /a")
                try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
                _ = try connection.readToEnd()
            },
            { connection in
                try connection.expectRequest("GET /b")
                try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nb!")
            })
        let (answer, _) = try LiveAndReplayed.compare(origin) { client in
            try client.send(origin.request("GET", "/a"))
            let first = try client.readMessage()
            try client.send(origin.request("GET", "/b"))
            return LiveAndReplayed.Answer(bytes: first + (try client.readMessage()))
        }
        #expect(!answer.text.contains("evil"))
        #expect(answer.text.hasSuffix("b!"))
    }

    @Test(
        arguments: [
            ("Content-Length: 99", "ten bytes.", "announced 99 bytes, 10 came"),
            ("Transfer-Encoding: chunked", "a\r\nten bytes.\r\n", "10 bytes came of its request, without its end"),
            ("Transfer-Encoding: chunked", "14\r\nten bytes.", "10 bytes came of its request, without its end"),
        ])
    func bytesOfABrokenUploadAreRecorded(body: (field: String, wire: String, reason: String)) throws {
        for _ in 0..<10 {
            let origin = try RawOrigin { connection in _ = try? connection.readToEnd() }
            let proxy = try RunningProxy()
            let client = try proxy.connect()
            // Sent in one piece, so that the end comes before the origin is connected.
            try client.send("POST http://\(origin.authority)/up HTTP/1.1\r\nHost: \(origin.authority)\r\n\(body.field)\r\n\r\n\(body.wire)")
            client.closeOutput()
            _ = try client.readToEnd()
            let recorded = try proxy.recorded()
            origin.stop()
            #expect(recorded.count == 1)
            #expect(recorded.first?.request.body?.content == .text(Array("ten bytes.".utf8)) || recorded.first?.request.body?.size == 10)
            guard case .cut(let cut)? = recorded.first?.outcome else { throw RawError("\(recorded) is not cut") }
            #expect(cut.by == .client && cut.reason.contains(body.reason), "\(cut.reason)")
        }
    }

    /// The client leaves while the first answer is on its way, so the second request was not read yet.
    @Test func aBrokenUploadBehindAnotherRequestIsRecorded() throws {
        let origin = try RawOrigin { connection in
            try connection.expectRequest("POST /one")
            _ = try? connection.readToEnd()
        }
        let proxy = try RunningProxy()
        let client = try proxy.connect()
        func head(_ path: String, _ length: Int) -> String {
            "POST http://\(origin.authority)/\(path) HTTP/1.1\r\nHost: \(origin.authority)\r\nContent-Length: \(length)\r\n\r\nten bytes."
        }
        try client.send(head("one", 10) + head("two", 10) + head("three", 99))
        client.closeOutput()
        _ = try client.readToEnd()
        let recorded = try proxy.recorded()
        origin.stop()
        #expect(recorded.map { $0.request.url.split(separator: "/").last } == ["one", "two", "three"])
        #expect(recorded.map { $0.request.body?.size } == [10, 10, 10])
        #expect(recorded.map { $0.request.body?.isComplete } == [true, true, false])
        for exchange in recorded {
            guard case .cut(let cut) = exchange.outcome else { throw RawError("\(exchange) is not cut") }
            #expect(cut.by == .client)
        }
    }
}
