import CassetteStore
@testable import TapeProxy

/// The information that the magic host has in tests.
enum MagicFixtures {
    static let authority = MagicAuthority(
        name: "Wiretape CA <7>", fingerprint: [UInt8](repeating: 0xab, count: 32), pem: Array("PEM".utf8), der: [0x30, 0x00],
        p12: [0x30, 0x01], p12Password: "a&b")

    static func status(records: Bool = true, replays: Bool = false, authority: MagicAuthority? = Self.authority) -> MagicStatus {
        var status = MagicStatus(mode: .all, records: records, replays: replays, cassette: "t<a>pe.json", address: "127.0.0.1:7070")
        status.exchanges = 1234
        status.recorded = 1233
        status.replayed = 17
        status.misses = 16
        status.tlsFailures = 5
        status.authority = authority
        return status
    }
}
