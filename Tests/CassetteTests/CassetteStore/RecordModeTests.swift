@testable import CassetteStore
import Testing

@Suite struct RecordModeTests {
    @Test func rawValuesAreTheOnesOfTheCommandLine() {
        #expect(RecordMode.allCases.map(\.rawValue) == ["none", "once", "new-episodes", "all", "passthrough"])
    }

    @Test func onlyThreeModesReplay() {
        #expect(RecordMode.allCases.filter(\.replays) == [.none, .once, .newEpisodes])
    }

    @Test(arguments: [
        (RecordMode.none, RecordMode.MissRule.refuse, RecordMode.MissRule.refuse),
        (.once, .forward(record: true), .refuse),
        (.newEpisodes, .forward(record: true), .forward(record: true)),
        (.all, .forward(record: true), .forward(record: true)),
        (.passthrough, .forward(record: false), .forward(record: false)),
    ])
    func missFollowsTheTable(mode: RecordMode, without: RecordMode.MissRule, with: RecordMode.MissRule) {
        #expect(mode.missRule(hasCassette: false) == without)
        #expect(mode.missRule(hasCassette: true) == with)
    }
}
