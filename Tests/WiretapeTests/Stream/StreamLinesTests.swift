import Testing

@testable import Wiretape

@Suite struct StreamLinesTests {
    @Test func linesAreTheSameHoweverChunksCutThem() async throws {
        let (session, request) = Session.streaming(["a\r", "\nb", "c\rd\n", "", "last"])
        #expect(try await request.lines.collected() == ["a", "bc", "d", "last"])
        withExtendedLifetime(session) {}
    }
}
