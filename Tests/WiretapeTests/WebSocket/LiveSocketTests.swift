import ClientCapabilities
import Foundation
import Testing
@testable import Wiretape

@Suite struct LiveSocketTests {
    private func refusal(_ protocols: Set<String>) throws -> TransportFailure? {
        var facts = PlatformFacts(system: .linux)
        facts.libcurl = LibcurlFacts(version: "8.5.0", protocols: protocols, hasHTTP2: false)
        let url = try #require(URL(string: "https://pets.test/talk?token=secret"))
        return LiveTransport.webSocketRefusal(of: TransportRequest(method: "GET", url: url), on: CapabilityReport(facts))
    }

    @Test func aLibcurlWithoutWebSocketsIsRefusedInWords() throws {
        let failure = try #require(try self.refusal(["http", "https"]))
        #expect(failure.kind == .unsupported)
        #expect(
            failure.message
                == #"URLSession opens no WebSockets here (libcurl 8.5.0), so "wss://pets.test/talk?token=…" was not asked: replay a cassette that the proxy recorded, stub the socket, or give the session AsyncHTTPClientTransport (trait AsyncHTTPClient)."#
        )
    }

    @Test func aLibcurlWithWebSocketsIsNot() throws { #expect(try self.refusal(["http", "https", "ws", "wss"]) == nil) }

    @Test func applesPlatformsAreNot() throws {
        let url = try #require(URL(string: "https://pets.test/talk"))
        let report = CapabilityReport(PlatformFacts(system: .macOS))
        #expect(LiveTransport.webSocketRefusal(of: TransportRequest(method: "GET", url: url), on: report) == nil)
    }

    #if os(Linux)
    @Test(.enabled(if: Wiretape.capabilities[.webSocket]?.state == .no)) func theRefusalIsTheSessionsError() async throws {
        let session = HTTPSession(transport: LiveTransport())
        let error = await socketError { _ = try await session.webSocket("ws://127.0.0.1:9/") }
        #expect(error?.code == .unsupported && error?.message.contains("ws://127.0.0.1:9/") == true)
    }
    #endif
}
