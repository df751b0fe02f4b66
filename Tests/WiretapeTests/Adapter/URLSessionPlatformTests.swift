import Testing

@testable import Wiretape

@Suite struct URLSessionPlatformTests {
    @Test func itIsThatOfTheSystem() {
        #if os(Linux)
        #expect(URLSessionPlatform.current == .linux)
        #else
        #expect(URLSessionPlatform.current == .apple)
        #endif
    }
}
