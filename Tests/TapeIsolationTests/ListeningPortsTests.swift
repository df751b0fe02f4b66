import Testing

@testable import TapeIsolation

@Suite(.enabled(if: UInt16(littleEndian: 1) == 1, "the kernel's tables are in the machine's byte order")) struct ListeningPortsTests {
    private static let head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"

    private static func line(_ address: String, _ state: String = "0A") -> String {
        "   0: \(address) 00000000:0000 \(state) 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0\n"
    }

    @Test func serversOnLoopbackAndOnEveryAddressAreFound() {
        let table =
            Self.head + Self.line("0100007F:2328") + Self.line("00000000:0050") + Self.line("0571CB:01BB")
            + Self.line("057100CB:01BB") + Self.line("0100007F:0400", "01")
        #expect(ListeningPorts.ports(in: table) == [9000, 80])
    }

    @Test func version6IsReadToo() {
        let table =
            Self.head + Self.line("00000000000000000000000001000000:0016") + Self.line("00000000000000000000000000000000:0017")
            + Self.line("0000000000000000FFFF00000100007F:0018") + Self.line("B80D0120000000000000000005000000:0019")
        #expect(ListeningPorts.ports(in: table) == [22, 23, 24])
    }

    @Test(
        arguments: [
            ("0100007F:2328", "", ["127.0.0.1"]), ("", "00000000000000000000000001000000:2328", ["::1"]),
            ("", "00000000000000000000000000000000:2328", ["127.0.0.1", "::1"]), ("00000000:2328", "", ["127.0.0.1"]),
            ("", "0000000000000000FFFF00000100007F:2328", ["127.0.0.1"]), ("0100007F:2329", "", []),
        ] as [(String, String, Set<String>)])
    func theFamiliesOfAServerAreFound(_ version4: String, _ version6: String, _ expected: Set<String>) {
        let found = ListeningPorts.addresses(of: 9000) {
            Self.head + ($0.hasSuffix("6") ? version6 : version4).split(separator: " ").map { Self.line(String($0)) }.joined()
        }
        #expect(found == expected)
    }

    @Test func withoutTheTablesThereAreNone() { #expect(ListeningPorts.here { _ in nil }.isEmpty) }
}
