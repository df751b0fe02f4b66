import Testing

@testable import TapeIsolation

@Suite struct InheritedSocketsTests {
    private static let sockets = [
        InheritedSocket(descriptor: 3, transport: .tcp, host: "203.0.113.10", port: 80),
        InheritedSocket(descriptor: 12, transport: .udp), InheritedSocket(descriptor: 4, transport: .icmp),
        InheritedSocket(descriptor: 5, transport: .other(132), host: "2001:db8::1", port: 9),
        InheritedSocket(descriptor: 6, transport: .family(40)),
    ]

    @Test func oneIsReadAsItWasWritten() {
        for socket in Self.sockets { #expect(InheritedSocket(text: socket.text) == socket) }
    }

    @Test(arguments: ["", "3", "x 6 80 a", "3 x 80 a", "3 300 80 a", "3 6 x a", "3 fx - ", "3 6 70000 a"])
    func otherTextIsNone(_ text: String) { #expect(InheritedSocket(text: text) == nil) }

    @Test func eachIsARefusal() {
        let log = IsolationLog()
        for socket in Self.sockets { log.closed(socket) }
        let report = log.report
        #expect(report.refusals == 5 && report.refused.map(\.descriptor) == [3, 12, 4, 5, 6])
        #expect(report.refused.allSatisfy { $0.reason == .inherited && $0.count == 1 && $0.program == nil })
        #expect(report.refused[0].host == "203.0.113.10" && report.refused[0].port == 80)
        #expect(report.refused.map(\.transport.name) == ["tcp", "udp", "icmp", "protocol 132", "vsock"])
    }

    @Test func multipathTCPIsTCP() { #expect(IsolationReport.Transport.ofIP(262) == .tcp) }
}
