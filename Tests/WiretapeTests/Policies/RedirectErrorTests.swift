import Testing
import Wiretape

@Suite struct RedirectErrorTests {
    @Test func itShowsAsItsMessage() {
        #expect("\(RedirectError(.badLocation, "no such place"))" == "no such place")
        #expect("\(RedirectError.Code.tooManyRedirects)" == "tooManyRedirects")
        #expect(RedirectError.Code.badLocation != .unsupportedScheme)
    }
}
