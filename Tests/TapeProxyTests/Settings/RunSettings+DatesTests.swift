import CassetteModel
import CassettePlayback
import TapeTestSupport
import Testing
@testable import TapeProxy

@Suite struct RunSettingsDatesTests {
    private static let now = Timestamp(microseconds: 1_800_000_000_000_000)

    private func settings(_ refreshes: Bool?, _ fields: [String] = []) -> RunSettings {
        var settings = RunSettings()
        settings.refreshDates = refreshes.map { Setting(value: $0, source: .commandLine) }
        settings.refreshFields = fields.map { Setting(value: $0, source: .commandLine) }
        return settings
    }

    @Test func datesStayUnlessTheyAreToMove() throws {
        #expect(try self.settings(nil, ["json:/at"]).dateRefresh(of: nil, now: Self.now) == nil)
        #expect(try self.settings(false).dateRefresh(of: nil, now: Self.now) == nil)
        #expect(throws: (any Error).self) { try self.settings(true, ["header:date"]).dateRefresh(of: nil, now: Self.now) }
    }

    @Test func theyMoveFromTheFirstExchangeToTheReplay() throws {
        let folder = try TemporaryFolder()
        let text = """
            { "wiretape": 1, "interactions": [ { "id": 1, "started": "2026-11-21T04:00:00.000000Z",
              "request": { "method": "GET", "url": "http://h.test/" }, "response": { "status": 204 } } ] }
            """
        try folder.write(Array(text.utf8), to: "tape.json")
        let cassette = try RecordedCassette(path: folder.file("tape.json"))
        let start = try #require(cassette.firstStart)
        let refresh = try self.settings(true, ["json:/at"]).dateRefresh(of: cassette, now: Self.now)
        #expect(refresh == DateRefresh(try RefreshRules(["json:/at"]), shift: DateShift(from: start, to: Self.now)))
        #expect(start != Self.now)
    }

    @Test func withoutACassetteNothingMoves() throws {
        let refresh = try self.settings(true).dateRefresh(of: nil, now: Self.now)
        #expect(refresh == DateRefresh(.standard, shift: DateShift(from: Self.now, to: Self.now)))
    }
}
