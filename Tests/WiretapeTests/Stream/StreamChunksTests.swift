import Foundation
import Testing

@testable import Wiretape

@Suite struct StreamChunksTests {
    @Test func chunksAreNeitherCutNorJoined() async throws {
        let (session, request) = Session.streaming(["a", "bc", "def"])
        #expect(try await request.bytes.collected() == ["a", "bc", "def"].map { Data($0.utf8) })
        withExtendedLifetime(session) {}
    }

    @Test func aSecondLoopIsRefused() async throws {
        let (session, request) = Session.streaming(["a"])
        _ = try await request.bytes.collected()
        let error = await #expect(throws: WiretapeError.self) { try await request.bytes.collected() }
        #expect(error?.code == .stream)
        withExtendedLifetime(session) {}
    }
}
