import Testing
import Wiretape

@Suite struct WhatWorksWhereTests {
    @Test func theReportIsForThisMachine() {
        // snippet: capabilities
        for capability in Wiretape.capabilities.fatal {
            print("\(capability.title): \(capability.sentence) \(capability.remedy ?? "")")
        }
        // snippet end
        #if os(Linux)
        #expect(!Wiretape.capabilities.fatal.isEmpty)
        #endif
    }
}
