import CassetteStore
import Testing
@testable import TapeProxy

@Suite struct MagicStatusTests {
    @Test func theJSONHoldsAllThatIsThere() {
        var status = MagicStatus(mode: .newEpisodes, records: true, replays: true, cassette: "a \"b\".json", address: "127.0.0.1:7070")
        status.exchanges = 5
        status.recorded = 3
        status.replayed = 2
        status.misses = 1
        status.tlsFailures = 4
        status.authority = MagicFixtures.authority
        #expect(
            String(decoding: status.json, as: UTF8.self) == """
                { "mode": "new-episodes", "records": true, "replays": true, "cassette": "a \\"b\\".json", "exchanges": 5, "recorded": 3, \
                "replayed": 2, "misses": 1, "tlsFailures": 4, "authority": { "name": "Wiretape CA <7>", \
                "sha256": "\(String(repeating: "ab", count: 32))" } }

                """)
    }

    @Test func withoutAnAuthorityThereIsNoneInTheJSON() {
        let status = MagicStatus(mode: .none, records: false, replays: true, cassette: "a.json", address: "127.0.0.1:7070")
        #expect(!String(decoding: status.json, as: UTF8.self).contains("authority"))
    }
}
