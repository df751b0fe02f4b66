import Testing

@testable import Wiretape

@Suite struct ReasonPhraseTests {
    @Test func thereIsOneForEachStatus() {
        #expect(ReasonPhrase.of(200) == "OK")
        #expect(ReasonPhrase.of(404) == "Not Found")
        #expect(ReasonPhrase.of(599) == "Unknown")
    }
}
