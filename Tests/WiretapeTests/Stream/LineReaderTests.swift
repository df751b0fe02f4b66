import Testing

@testable import Wiretape

@Suite struct LineReaderTests {
    @Test(arguments: [(true, 2), (false, 1)])
    func aLineWithoutAnEndIsKeptWhereThatIsWanted(keepsLast: Bool, count: Int) async throws {
        let (session, request) = Session.streaming(["a\nb"])
        var lines = LineReader(StreamReader(request))
        var seen = 0
        while try await lines.next(keepsLast: keepsLast) != nil { seen += 1 }
        #expect(seen == count)
        withExtendedLifetime(session) {}
    }
}
