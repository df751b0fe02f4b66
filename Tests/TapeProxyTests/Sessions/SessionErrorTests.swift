import Testing
@testable import TapeProxy

@Suite struct SessionErrorTests {
    @Test func anErrorIsItsMessage() {
        #expect("\(SessionError(.tooMany, "64 sessions are open"))" == "64 sessions are open")
        #expect(SessionError.Code.notFound != .invalid)
    }
}
