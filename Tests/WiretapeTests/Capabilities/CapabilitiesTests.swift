import Testing
import Wiretape

@Suite struct CapabilitiesTests {
    @Test func theReportIsOfThisProcess() {
        #expect(Wiretape.capabilities.facts.swift != nil)
        #expect(!Wiretape.capabilities.capabilities.isEmpty)
    }

    #if os(Linux)
    @Test func callsThatEndTheProcessAreNamed() {
        #expect(!Wiretape.capabilities.fatal.isEmpty)
        #expect(Wiretape.capabilities.fatal.allSatisfy { !$0.sentence.isEmpty })
    }
    #endif
}
