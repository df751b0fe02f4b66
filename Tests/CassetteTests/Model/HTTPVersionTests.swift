import CassetteModel
import Testing

@Suite struct HTTPVersionTests {
    @Test func theTextIsTheOneOfAStartLine() {
        #expect("\(HTTPVersion.http10)" == "HTTP/1.0")
        #expect("\(HTTPVersion.http11)" == "HTTP/1.1")
    }

    @Test func theMajorNumberGoesBeforeTheMinorOne() {
        let ascending = [HTTPVersion(major: 0, minor: 9), .http10, .http11, HTTPVersion(major: 2, minor: 0)]
        #expect(ascending.reversed().sorted() == ascending)
        #expect(!(HTTPVersion.http11 < .http11))
    }
}
