import Testing
@testable import TapeProxy

@Suite struct OpenFileLimitTests {
    @Test func raisingItTwiceSaysTheSame() {
        let limit = OpenFileLimit.raise()
        #expect(limit > OpenFileLimit.reserve)
        #expect(limit <= 65_536)
        #expect(OpenFileLimit.raise() == limit)
    }
}
