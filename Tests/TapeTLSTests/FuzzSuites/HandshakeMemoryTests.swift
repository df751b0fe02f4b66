import Foundation
import Testing

@testable import TapeTLS

/// Connections do not leak: the size of the process stays constant.
struct HandshakeMemoryTests {
    private static func residentKiB() -> Int {
        let words = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
        return words.count > 1 ? (Int(words[1]) ?? 0) * 4 : 0
    }

    /// Connections of every kind in turn: complete, resumed, refused by the client, and abandoned halfway.
    private static func connect(_ count: Int) throws {
        let authority = try TestAuthority()
        let client = try authority.clientContext()
        let stranger = try TLSClientContext(trustsSystem: false)
        let server = try TestAuthority.serverContext()
        let sessions = TLSSessionCache(capacity: 4)
        let pin = try TestCertificate("pin").der
        for number in 0..<count {
            let peer = TLSPeer(
                host: "example.test", serverName: "example.test", protocols: ["http/1.1"],
                policy: number % 7 == 0 ? .pinnedCertificates([pin, [1]]) : .defaultEvaluation(), sessionKey: "\(number % 6)")
            let pair =
                number % 5 == 0
                ? try authority.pair(stranger, server, peer: peer) : try authority.pair(client, server, peer: peer, sessions: sessions)
            if number % 11 == 0 {
                pair.client.receive()
                _ = pair.carry()
            } else {
                _ = TLSTranscript.play(pair)
            }
        }
    }

    #if os(Linux)
    @Test(.enabled(if: !FuzzSettings.isSanitized, "AddressSanitizer keeps what was freed"))
    func twoThousandConnectionsDoNotLeak() async {
        await #expect(processExitsWith: .success) {
            try Self.connect(500)
            let before = Self.residentKiB()
            try Self.connect(2000)
            let after = Self.residentKiB()
            #expect(before > 0)
            // A leaked connection takes about 20 KiB, and a session 1 KiB.
            #expect(after - before < 1500)
        }
    }
    #endif
}
