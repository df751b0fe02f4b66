#if os(Linux)
import Testing

@testable import WiretapeCLI

@Suite struct InsideHostsTests {
    @Test func onlyLoopbackNamesStay() {
        let own = "127.0.0.1\tlocalhost  # me\n# 127.0.0.9 no\n203.0.113.5 a.test\n::1 localhost ip6-localhost\n10.0.0.5 box\n"
        #expect(InsideHosts.text(own, host: "box") == "127.0.0.1 localhost\n::1 localhost ip6-localhost\n127.0.1.1 box\n")
    }

    @Test func theMachinesNameIsNotRepeated() {
        #expect(InsideHosts.text("127.0.1.1 box.test box\n", host: "box") == "127.0.1.1 box.test box\n")
        #expect(InsideHosts.text("", host: "") == "127.0.0.1 localhost\n::1 localhost\n")
    }
}
#endif
