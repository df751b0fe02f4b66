import Testing
@testable import TapeProxy

@Suite struct OpenFileLimitTests {
    @Test func raisingItTwiceSaysTheSame() {
        let limit = OpenFileLimit.raise()
        #expect(limit > OpenFileLimit.reserve)
        #expect(limit <= 65_536)
        #expect(OpenFileLimit.raise() == limit)
    }

    @Test func halfOfTheDescriptorsAreForClients() {
        #expect(OpenFileLimit.connections(20) == 20)
        #expect(OpenFileLimit.connections(1) == 16)
        #expect(OpenFileLimit.connections(.max) == max(16, (OpenFileLimit.raise() - OpenFileLimit.reserve) / 2))
    }
}
