#if os(Linux)
import Testing

@testable import WiretapeCLI

@Suite struct InsideHostsTests {
    @Test func onlyLoopbackNamesStay() {
        let own = "127.0.0.1\tlocalhost  # me\n# 127.0.0.9 no\n203.0.113.5 a.test\n::1 localhost ip6-localhost\n10.0.0.5 box\n"
        #expect(InsideHosts.text(own, host: "box") == "127.0.0.1 localhost\n::1 localhost ip6-localhost\n127.0.1.1 box\n")
    }

    @Test func theMachinesLongNameIsItsOwn() {
        let own = "127.0.0.1 localhost\n203.0.113.5 box.corp.test box db.test\n"
        #expect(InsideHosts.text(own, host: "box") == "127.0.0.1 localhost\n127.0.1.1 box box.corp.test\n")
        #expect(InsideHosts.text(own, host: "box.corp.test") == "127.0.0.1 localhost\n127.0.1.1 box.corp.test box\n")
        #expect(
            InsideHosts.text("127.0.0.1 box\n203.0.113.5 box.corp.test box\n", host: "box") == "127.0.0.1 box\n127.0.1.1 box.corp.test\n")
    }

    @Test func theMachinesNameIsNotRepeated() {
        #expect(InsideHosts.text("127.0.1.1 box.test box\n", host: "box") == "127.0.1.1 box.test box\n")
        #expect(InsideHosts.text("", host: "") == "127.0.0.1 localhost\n::1 localhost\n")
    }

    @Test func namesHaveTheirAddresses() {
        let text = "127.0.0.1 localhost\n::1 localhost ip6-localhost\n127.0.1.1 Box.test box\n"
        #expect(
            InsideHosts.addresses(in: text) == [
                "localhost": ["127.0.0.1", "::1"], "ip6-localhost": ["::1"], "box.test": ["127.0.1.1"], "box": ["127.0.1.1"],
            ])
        #expect(InsideHosts.names(besides: "BOX", in: text) == ["box.test", "box"])
        #expect(InsideHosts.names(besides: "", in: text).isEmpty)
        #expect(InsideHosts.names(besides: "box", in: "127.0.0.1 localhost box\n") == ["box"])
    }
}
#endif
