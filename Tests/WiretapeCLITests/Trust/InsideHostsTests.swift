#if os(Linux)
import Testing

@testable import WiretapeCLI

@Suite struct InsideHostsTests {
    @Test func onlyLoopbackNamesStay() {
        let own = "127.0.0.1\tlocalhost  # me\n# 127.0.0.9 no\n203.0.113.5 a.test\n::1 localhost ip6-localhost\n"
        #expect(InsideHosts.text(own, host: "box") == "127.0.0.1 localhost\n::1 localhost ip6-localhost\n127.0.1.1 box\n")
    }

    /// Another server of the machine may listen at that address.
    @Test func aNameOfTheMachineWithAnAddressIsAskedOfTheResolver() {
        let own = "127.0.0.1 localhost\n203.0.113.5 Box.corp.test box db.test\n2001:db8::5 box\n"
        #expect(InsideHosts.text(own, host: "box") == "127.0.0.1 localhost\n")
        #expect(InsideHosts.addressedNames(in: own, host: "box") == ["box.corp.test", "box"])
        #expect(InsideHosts.addressedNames(in: own, host: "box.corp.test") == ["box.corp.test", "box"])
        #expect(InsideHosts.addressedNames(in: "127.0.0.1 box\n203.0.113.5 box.corp.test box\n", host: "box") == ["box.corp.test"])
        #expect(InsideHosts.addressedNames(in: own, host: "") == [] && InsideHosts.addressedNames(in: own, host: "other") == [])
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
