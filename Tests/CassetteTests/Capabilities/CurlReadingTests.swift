#if os(Linux)
import Testing

@testable import ClientCapabilities

@Suite struct CurlReadingTests {
    @Test func whatIsThereHasAVersionAndHTTP() {
        guard let facts = CurlReading.facts() else { return }
        #expect(facts.version.first?.isNumber == true && facts.protocols.contains("http"))
    }

    @Test func whereThereIsNoneItIsNil() { #expect(CurlReading.facts(names: ["libno-such-library.so.4"]) == nil) }

    @Test func anotherLibraryIsNone() { #expect(CurlReading.facts(names: ["libc.so.6"]) == nil) }
}
#endif
