import Testing
@testable import Wiretape

@Suite struct ServerSentEventsTests {
    @Test func eventsComeAsTheirBlankLinesDo() async throws {
        let (session, request) = HTTPSession.streaming([": hi\n\ndata: a", "\n", "\nevent: b\r\ndata: c\r\n\r", "\ndata: never"])
        #expect(try await request.events.collected() == [ServerSentEvent(data: "a"), ServerSentEvent(event: "b", data: "c")])
        withExtendedLifetime(session) {}
    }
}

@Suite struct ServerSentEventParserTests {
    private static func events(_ text: String) throws -> [ServerSentEvent] {
        var splitter = LineSplitter()
        var parser = ServerSentEventParser()
        return try splitter.push(Array(text.utf8)).compactMap { parser.push($0) }
    }

    // The examples of the standard, 9.2.6.
    @Test func dataLinesAreJoined() throws {
        #expect(try Self.events("data: YHOO\ndata: +2\ndata: 10\n\n") == [ServerSentEvent(data: "YHOO\n+2\n10")])
    }

    @Test func commentsAndIDs() throws {
        let events = try Self.events(": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n")
        #expect(events == [ServerSentEvent(data: "first event", id: "1"), ServerSentEvent(data: "second event")])
    }

    @Test func emptyDataIsAnEventAndNoneIsNot() throws {
        #expect(try Self.events("data\n\ndata\ndata\n\ndata:") == [ServerSentEvent(data: ""), ServerSentEvent(data: "\n")])
        #expect(try Self.events("event: only\n\n").isEmpty)
    }

    @Test func oneSpaceAfterTheColonIsRemoved() throws {
        #expect(try Self.events("data:test\n\ndata: test\n\ndata:  test\n\n").map(\.data) == ["test", "test", " test"])
    }

    @Test func namesIDsAndRetryAreKept() throws {
        let events = try Self.events("event: add\nid: 7\nretry: 1500\ndata: a\n\ndata: b\n\nretry: 1.5\nid: x\u{0}y\ndata: c\n\n")
        #expect(
            events == [
                ServerSentEvent(event: "add", data: "a", id: "7", retry: .milliseconds(1500)),
                ServerSentEvent(data: "b", id: "7", retry: .milliseconds(1500)),
                ServerSentEvent(data: "c", id: "7", retry: .milliseconds(1500)),
            ])
    }

    @Test func aByteOrderMarkIsPassedOverOnce() throws {
        #expect(try Self.events("\u{FEFF}data: a\r\n\r\n\u{FEFF}data: b\r\n\r\n") == [ServerSentEvent(data: "a")])
    }
}
