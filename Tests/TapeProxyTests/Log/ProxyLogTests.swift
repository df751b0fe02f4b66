import CassetteModel
import Foundation
import Logging
import TapeExchange
@testable import TapeProxy
@testable import TapeTLS
import TapeTestSupport
import Testing

@Suite struct ProxyLogTests {
    private let log = LogLines()

    @Test func eachEventIsALineOfItsLevel() throws {
        let log = ProxyLog(self.log.logger(.trace))
        let origin = Origin(scheme: .https, host: "h.test", port: 8443)
        log.started("127.0.0.1:1", loops: 2)
        log.replay(0, connection: 7, method: "GET", origin: origin)
        log.forward(3, connection: 7, method: "POST", origin: origin)
        log.forward(nil, connection: 7, method: "HEAD", origin: origin)
        log.refuse(connection: 7, method: "GET", origin: origin)
        log.exchangeEnded(3, connection: 7, outcome: .failed(Failure(kind: .dns, message: "m")), milliseconds: 1.9)
        log.tunnel(.passThrough, connection: 8, authority: "h.test:443")
        log.connected(1, origin: origin, remote: "127.0.0.1:8443", milliseconds: 2)
        log.poolPut(1)
        log.upstreamClosed(1, reason: "idle too long")
        log.tlsFailed(.client, host: "h.test", port: 443, cause: .closed)
        log.recorderFull()
        #expect(
            self.log.lines == [
                "info started address=127.0.0.1:1 loops=2",
                "debug replay connection=7 method=GET origin=h.test:8443 recorded=1",
                "debug forward connection=7 exchange=3 method=POST origin=h.test:8443",
                "debug forward connection=7 exchange=unrecorded method=HEAD origin=h.test:8443",
                "debug refuse connection=7 method=GET origin=h.test:8443",
                "debug exchange ended connection=7 exchange=3 ms=1 outcome=failed: dns",
                "debug tunnel passed through authority=h.test:443 connection=8",
                "debug origin connected ms=2 origin=h.test:8443 remote=127.0.0.1:8443 upstream=1",
                "trace upstream put into the pool upstream=1",
                "trace upstream closed reason=idle too long upstream=1",
                "warning TLS failed cause=\(TLSFailure.Cause.closed.rawValue) host=h.test leg=client port=443",
                "debug recorder full: reading stops",
            ])
    }

    @Test func linesOfASessionNameIt() throws {
        let log = ProxyLog(self.log.logger(.debug)).naming(try #require(SessionName("pets")))
        log.sessionEntered(connection: 3)
        log.answered(status: 424, error: "miss", connection: 3)
        #expect(
            self.log.lines == [
                "debug session entered connection=3 session=pets",
                "debug answered by the proxy connection=3 error=miss session=pets status=424",
            ])
    }

    @Test func anUnwantedLevelIsNotWritten() {
        let log = ProxyLog(self.log.logger(.warning))
        log.started("127.0.0.1:1", loops: 2)
        log.connectionClosed(1)
        log.poolTook(1)
        #expect(self.log.lines.isEmpty && log.isWarning && !log.isInfo && !log.isDebug && !log.isTrace)
        let silent = ProxyLog()
        #expect(!silent.isWarning && !silent.isInfo && !silent.isDebug && !silent.isTrace)
    }

    @Test func aMethodThatMayBeAnythingIsNotWritten() {
        let log = ProxyLog(self.log.logger(.debug))
        log.refuse(connection: 1, method: "hush-4711-hush", origin: Origin(scheme: .http, host: "h", port: 80))
        #expect(self.log.lines == ["debug refuse connection=1 method=other origin=h"])
    }

    @Test func aRunIsWrittenFromItsStartToItsStop() throws {
        let origin = try RawOrigin.numbered(1)
        let proxy = try RunningProxy(loops: 2) { $0.logger = self.log.logger(.debug) }
        _ = try proxy.ask("GET http://\(origin.authority)/ HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        try proxy.stop()
        let lines = self.log.lines
        #expect(lines.first == "info started address=\(proxy.server.address) loops=2")
        #expect(lines.contains { $0.hasPrefix("debug connection accepted connection=1 peer=127.0.0.1:") }, "\(lines)")
        #expect(lines.contains("debug connection closed connection=1"))
        #expect(lines.contains("info stopping"))
        #expect(lines.last?.hasPrefix("info stopped forwarded=1 ") == true)
    }

    @Test func sessionsAreWritten() throws {
        let running = try RunningSessions(loops: 2) { $0.logger = self.log.logger(.info) }
        let session = try running.server.open(SessionOrder(cassette: "a.json"))
        _ = try running.server.end(session.name, keepsOld: false)
        running.stop()
        let lines = self.log.lines
        #expect(lines.contains("info session opened cassette=a.json mode=once session=s1"), "\(lines)")
        let ended = lines.first { $0.hasPrefix("info session ended exit=0 ") }
        #expect(ended?.hasSuffix(" session=s1 tls-failures=0 tunnels=0") == true, "\(lines)")
    }

    /// Puts a secret in each place where a client, an origin or a person can put one.
    @Test func noSecretIsWrittenAtAnyLevel() throws {
        let secret = "hush-4711-hush"
        let origin = try RawOrigin { connection in
            _ = try connection.expectRequest("POST /\(secret)?token=\(secret)")
            _ = try connection.read(through: "\(secret)\"}")
            try connection.send("HTTP/1.1 200 \(secret)\r\nSet-Cookie: id=\(secret)\r\nContent-Length: 14\r\n\r\n\(secret)")
        }
        let body = "{\"password\": \"\(secret)\"}"
        let request = [
            "POST http://user:\(secret)@\(origin.authority)/\(secret)?token=\(secret) HTTP/1.1", "Host: \(origin.authority)",
            "Authorization: Bearer \(secret)", "Cookie: id=\(secret)", "Content-Length: \(body.utf8.count)", "Connection: close",
        ].joined(separator: "\r\n")
        let scene = try TLSScene()
        let proxy = try scene.proxy { $0.logger = self.log.logger(.trace) }
        _ = try proxy.ask(request.replacingOccurrences(of: "user:\(secret)@", with: "") + "\r\n\r\n" + body)
        _ = try proxy.ask(request + "\r\n\r\n" + body)
        _ = try proxy.ask("\(secret) http://\(origin.authority)/\(secret) HTTP/1.1\r\nHost: \(secret) \r\nConnection: close\r\n\r\n")
        _ = try proxy.ask("CONNECT \(secret) HTTP/1.1\r\nHost: h\r\nProxy-Authorization: Basic \(secret)\r\n\r\n")
        try proxy.stop()

        let running = try RunningSessions { $0.logger = self.log.logger(.trace) }
        let session = try running.server.open(SessionOrder(cassette: "a.json"))
        _ = try running.get("http://127.0.0.1:1/\(secret)?q=\(secret)", as: session, fields: ["Cookie: \(secret)"])
        _ = try running.get("http://127.0.0.1:1/", credentials: "s1:\(secret)", port: running.port)
        let token = session.token.revealed
        running.stop()
        let lines = self.log.lines
        #expect(lines.count > 10)
        for hidden in [secret, token, RunningSessions.token] { #expect(!lines.contains { $0.contains(hidden) }, "\(hidden): \(lines)") }
    }
}
