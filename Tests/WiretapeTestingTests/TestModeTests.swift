import Testing
import Wiretape

@testable import WiretapeTesting

struct TestModeTests {
    @Test(arguments: [
        ([:], RecordMode.once), (["CI": "true"], .none), (["CI": "1"], .none), (["CI": ""], .once), (["CI": "false"], .once),
        (["CI": "0"], .once), (["WIRETAPE_MODE": "all", "CI": "true"], .all), (["WIRETAPE_MODE": "none"], .none),
        (["WIRETAPE_MODE": "once", "CI": "1"], .once), (["WIRETAPE_MODE": "new-episodes"], .newEpisodes),
        (["WIRETAPE_MODE": "live"], .passthrough), (["WIRETAPE_MODE": ""], .once),
    ]) func environmentGivesTheMode(environment: [String: String], mode: RecordMode) throws {
        #expect(try TestMode.automatic.recordMode(environment: environment) == mode)
    }

    @Test(arguments: [
        (TestMode.none, RecordMode.none), (.once, .once), (.newEpisodes, .newEpisodes), (.all, .all), (.live, .passthrough),
    ]) func ownModeGoesFirst(own: TestMode, mode: RecordMode) throws {
        #expect(try own.recordMode(environment: ["WIRETAPE_MODE": "nonsense", "CI": "true"]) == mode)
    }

    @Test(arguments: ["nonsense", "None", " once", "passthrough", "newEpisodes", "automatic"]) func otherValuesAreRefused(value: String) {
        let error = #expect(throws: CassetteTestError.self) {
            try TestMode.automatic.recordMode(environment: ["WIRETAPE_MODE": value])
        }
        #expect(error?.code == .badMode)
        #expect(error?.message == "WIRETAPE_MODE is \"\(value)\"; set it to none, once, new-episodes, all or live, or unset it")
    }
}
