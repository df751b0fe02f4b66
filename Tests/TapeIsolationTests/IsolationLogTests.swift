import Testing

@testable import TapeIsolation

@Suite struct IsolationLogTests {
    private let log = IsolationLog()

    @Test func theSameAttemptOfAProgramIsCounted() {
        let curl = IsolatedProgram(path: "/usr/bin/curl", id: 7, user: 1)
        for id in [7, 8] as [Int32] {
            self.log.refused(.udp, host: "a.test", port: 443, .datagram, by: IsolatedProgram(path: "/usr/bin/curl", id: id, user: 1))
        }
        self.log.refused(.udp, host: "a.test", port: 123, .datagram, by: nil)
        let report = self.log.report
        #expect(report.refusals == 3 && report.refused.map(\.count) == [2, 1])
        #expect(report.refused[0].program == curl && report.refused[1].program == nil)
    }

    @Test func attemptsBeyondTheLimitStillCount() {
        for port in 0..<UInt16(IsolationLog.limit + 5) { self.log.refused(.tcp, host: "a.test", port: port, .silent, by: nil) }
        #expect(self.log.report.refused.count == IsolationLog.limit && self.log.report.unlisted == 5)
        #expect(self.log.report.refusals == IsolationLog.limit + 5)
    }

    @Test func requestsAndProgramsAreToldApart() {
        self.log.requested(isProxied: true)
        self.log.requested(isProxied: false)
        for path in ["/a/curl", "/b/curl", "/node"] { self.log.connected(by: IsolatedProgram(path: path)) }
        self.log.connected(by: nil)
        #expect(self.log.report.proxied == 1 && self.log.report.seen == 1 && self.log.report.programs == ["curl", "node"])
    }

    @Test func theNewestConnectionToATargetIsKnown() {
        for time in [5, 9, 7] as [UInt64] { self.log.connected(host: "a.test", port: 80, at: time) }
        self.log.connected(host: "a.test", port: 81, at: 20)
        #expect(self.log.newestConnection(host: "a.test", port: 80) == 9 && self.log.newestConnection(host: "b.test", port: 80) == 0)
        #expect(self.log.report.connections == 4)
        self.log.reached(host: "a.test", port: 80)
        #expect(self.log.hasReached(host: "a.test", port: 80) && !self.log.hasReached(host: "a.test", port: 81))
    }

    @Test func serversOfRequestsAreKnown() {
        self.log.requested(isProxied: false, of: ("a.test", 8443))
        #expect(self.log.hasRequested(host: "a.test", port: 8443) && !self.log.hasRequested(host: "a.test", port: 443))
        // A root's dot and the case do not matter.
        #expect(self.log.hasRequested(host: "A.test.", port: 8443))
        self.log.arrived(host: "a.test", port: 8443, at: 3)
        #expect(self.log.newestConnection(host: "a.test", port: 8443) == 3 && self.log.report.connections == 0)
    }

    @Test func whatTheKernelDroppedIsCounted() {
        self.log.missed(7)
        #expect(self.log.report.unlisted == 7 && self.log.report.refusals == 7)
    }

    @Test func serversAreCounted() {
        for host in ["a.test", "b.test", "a.test"] { self.log.reached(host: host, port: 80) }
        self.log.passed(host: "db.test", port: 5432)
        #expect(self.log.report.reached == [.init(host: "a.test", port: 80, count: 2), .init(host: "b.test", port: 80)])
        #expect(self.log.report.passed == [.init(host: "db.test", port: 5432)])
    }
}
