import Testing

@testable import Wiretape

@Suite struct ServerSentEventsTests {
    @Test func eventsComeAsTheirBlankLinesDo() async throws {
        let (session, request) = Session.streaming([": hi\n\ndata: a", "\n", "\nevent: b\r\ndata: c\r\n\r", "\ndata: never"])
        #expect(try await request.events.collected() == [ServerSentEvent(data: "a"), ServerSentEvent(event: "b", data: "c")])
        withExtendedLifetime(session) {}
    }
}
