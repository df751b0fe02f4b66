import LocalHTTP
@testable import TapeProxy
import Testing

@Suite struct ProxyListenerTests {
    @Test func theMachineHasALoopbackAddress() {
        #expect(ProxyListener.interfaces().contains { $0.isLoopback })
    }

    @Test func ownAddressIsNotDialled() throws {
        let proxy = try RunningProxy()
        let answer = try proxy.ask("GET http://127.0.0.1:\(proxy.server.port)/ HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 508 "))
    }
}

@Suite struct LoopbackHostTests {
    @Test(arguments: ["127.0.0.1", "127.8.9.1", "::1", "localhost", "LocalHost"]) func thisMachineAlone(_ host: String) {
        #expect(LoopbackHost.contains(host))
    }

    @Test(arguments: ["", "0.0.0.0", "::", "192.0.2.1", "localhost.example.com", "127.example.com", "127.1", "2130706433", "localtest.me"])
    func everythingElseMayBeForOthers(_ host: String) {
        #expect(!LoopbackHost.contains(host))
    }
}

@Suite struct OpenFileLimitTests {
    @Test func raisingItTwiceSaysTheSame() {
        let limit = OpenFileLimit.raise()
        #expect(limit > OpenFileLimit.reserve)
        #expect(limit <= 65_536)
        #expect(OpenFileLimit.raise() == limit)
    }

    @Test func halfOfTheDescriptorsAreForClients() {
        #expect(OpenFileLimit.connections(20) == 20)
        #expect(OpenFileLimit.connections(1) == 16)
        #expect(OpenFileLimit.connections(.max) == max(16, (OpenFileLimit.raise() - OpenFileLimit.reserve) / 2))
    }
}
