import Testing
import Wiretape

@Suite struct HTTPHeadersDefaultsTests {
    @Test func theDefaultIsThreeFieldsThatCanBeSent() throws {
        #expect(HTTPHeaders.default.map(\.name) == ["Accept-Encoding", "Accept-Language", "User-Agent"])
        #expect(try HTTPHeaders.default.validated() == .default)
    }

    @Test func onlyMissingNamesAreAdded() {
        let own: HTTPHeaders = ["accept-encoding": "identity", "X": "1"]
        let defaults: HTTPHeaders = ["Accept-Encoding": "br", "A": "1", "A": "2"]
        #expect(own.adding(missing: defaults).description == "accept-encoding: identity\nX: 1\nA: 1\nA: 2")
    }
}
