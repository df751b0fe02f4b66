import TapeCore
import Testing

@Suite struct HTTPVersionTests {
    @Test func versionsAreOrderedByMajorFirst() {
        #expect(HTTPVersion.http10 < .http11)
        #expect(HTTPVersion(major: 1, minor: 9) < HTTPVersion(major: 2, minor: 0))
        #expect(HTTPVersion(major: 1, minor: 1) == .http11)
        #expect("\(HTTPVersion.http10)" == "HTTP/1.0")
    }
}
