import Testing
@testable import TapeProxy

@Suite struct ProxyListenerTests {
    @Test func theMachineHasALoopbackAddress() {
        #expect(ProxyListener.interfaces().contains { $0.isLoopback })
    }

    @Test func whatIsBoundIsNotDialled() throws {
        let proxy = try RunningProxy()
        let answer = try proxy.ask("GET http://127.0.0.1:\(proxy.server.port)/ HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 508 "))
    }
}
