import Testing

@testable import Wiretape

@Suite struct DecodedLinesTests {
    private struct Pet: Decodable, Equatable { var name: String }

    @Test func eachLineIsAValue() async throws {
        let (session, request) = Session.streaming(["{\"name\":\"a\"}\n\n{\"na", "me\":\"b\"}\n  \n{\"name\":\"c\"}"])
        #expect(try await request.decoding(Pet.self).collected() == ["a", "b", "c"].map(Pet.init))
        withExtendedLifetime(session) {}
    }

    @Test func aLineThatIsNoneIsNamed() async throws {
        let (session, request) = Session.streaming(["{\"name\":\"a\"}\nno\n"])
        let error = await #expect(throws: WiretapeError.self) { try await request.decoding(Pet.self).collected() }
        #expect(error?.code == .serialization)
        #expect(error?.message.hasPrefix("could not decode \"Pet\" from line 2 of the response") == true)
        withExtendedLifetime(session) {}
    }
}
