import Testing

@testable import Wiretape

@Suite struct StreamRequestSequencesTests {
    @Test func nothingGoesOutBeforeAReaderAsks() async throws {
        let (session, request) = Session.streaming(["1\n"])
        _ = (request.bytes, request.lines, request.events, request.decoding(Int.self))
        #expect(request.isInitialized)
        #expect(try await request.decoding(Int.self).collected() == [1])
        #expect(request.isFinished)
        withExtendedLifetime(session) {}
    }
}
