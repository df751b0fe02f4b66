import TapeTestSupport
import Testing
@testable import TapeProxy

/// Names for which no server answers. Only the clients that ask for them have to wait.
@Suite struct HangingNameTests {
    private let names = HangingNames()

    private func dead(_ number: Int) -> String {
        "GET http://dead-\(number).test/ HTTP/1.1\r\nHost: dead-\(number).test\r\n\r\n"
    }

    @Test func twoHangingNamesDelayNoColdReplay() throws {
        let origin = try RawOrigin { connection in
            try connection.expectRequest("GET /")
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlive")
        }
        let recording = try RunningProxy()
        _ = try recording.ask(origin.request("GET", "/", "Connection: close"))
        origin.finish()
        try recording.stop()

        let replay = try RunningProxy(.newEpisodes, in: recording.folder, resolver: self.names.resolver())
        let clients = try (1...2).map { number in
            let client = try replay.connect()
            try client.send(self.dead(number))
            return client
        }
        try self.names.waitUntilBegun(2)
        #expect(try replay.ask(origin.request("GET", "/", "Connection: close")).hasSuffix("live"))
        #expect(self.names.ended == 0)
        #expect(replay.server.counts.replayed == 1)
        self.names.letGo(2)
        withExtendedLifetime(clients) {}
    }

    /// It waits neither for the answer, nor for the time limit of a lookup or of exchanges in flight.
    @Test func aStopDoesNotWaitForAHangingName() throws {
        let proxy = try RunningProxy(resolver: self.names.resolver()) { $0.limits.grace = 3600 }
        let client = try proxy.connect()
        try client.send(self.dead(1))
        try self.names.waitUntilBegun(1)
        try proxy.stop()
        #expect(self.names.ended == 0)
        guard case .cut(let cut)? = try proxy.recorded().first?.outcome else {
            Issue.record("recorded as something else than cut")
            return
        }
        #expect(cut.by == .recorder)
        self.names.letGo(1)
        withExtendedLifetime(client) {}
    }

    @Test func aTunnelToAHangingNameDelaysNoStopEither() throws {
        let proxy = try RunningProxy(.passthrough, resolver: self.names.resolver()) { $0.limits.grace = 3600 }
        let client = try proxy.connect()
        try client.send("CONNECT dead.test:443 HTTP/1.1\r\nHost: dead.test:443\r\n\r\n")
        try self.names.waitUntilBegun(1)
        try proxy.stop()
        #expect(self.names.ended == 0)
        self.names.letGo(1)
        withExtendedLifetime(client) {}
    }

    @Test func lookupBeyondTheLimitIsRefused() throws {
        let proxy = try RunningProxy(.passthrough, resolver: self.names.resolver(threadLimit: 1, waitingLimit: 0))
        let client = try proxy.connect()
        try client.send(self.dead(1))
        try self.names.waitUntilBegun(1)
        let answer = try proxy.ask("GET http://live.test/ HTTP/1.1\r\nHost: live.test\r\nConnection: close\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 502 "))
        #expect(answer.contains("\"live.test\" was not looked up, since too many names are being looked up (0 waiting)"), "\(answer)")
        self.names.letGo(1)
        withExtendedLifetime(client) {}
    }
}
