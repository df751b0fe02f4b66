import TapeTestSupport
import Testing
import Wiretape
@testable import WiretapeTesting

struct TestModeTests {
    @Test(arguments: [
        ([:], RecordMode.once), (["CI": "true"], .none), (["CI": "1"], .none), (["CI": ""], .once), (["CI": "false"], .once),
        (["CI": "0"], .once), (["WIRETAPE_MODE": "all", "CI": "true"], .all), (["WIRETAPE_MODE": "none"], .none),
        (["WIRETAPE_MODE": "once", "CI": "1"], .none), (["TEST_RUNNER_CI": "true"], .none),
        (["WIRETAPE_MODE": "new-episodes"], .newEpisodes),
        (["WIRETAPE_MODE": "live"], .passthrough), (["WIRETAPE_MODE": ""], .once),
    ]) func environmentGivesTheMode(environment: [String: String], mode: RecordMode) throws {
        #expect(try TestMode.automatic.recordMode(environment: environment) == mode)
    }

    @Test(arguments: [
        (TestMode.none, RecordMode.none), (.once, .none), (.newEpisodes, .newEpisodes), (.all, .all), (.live, .passthrough),
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

struct CassetteOptionsTests {
    @Test func innerOptionsOverrideOuterOnes() {
        var settings = Cassette.Settings()
        settings.ignore = ["query:ts"]
        let outer = CassetteOptions(mode: .all, unused: .allow, order: .strict, settings: settings)
        let inner = CassetteOptions(mode: .none)
        let merged = inner.over(outer)
        #expect(merged.mode == .none)
        #expect(merged.unused == .allow)
        #expect(merged.order == .strict)
        #expect(merged.settings?.ignore == ["query:ts"])
        #expect(CassetteOptions().over(outer).mode == .all)
        #expect(CassetteOptions(unused: .fail).over(outer).unused == .fail)
        #expect(CassetteOptions(order: .any).over(outer).order == .any)
    }
}

struct CassetteTestErrorTests {
    @Test func isReadAsItsMessage() {
        let error = CassetteTestError(.badMode, "what to do")
        #expect("\(error)" == "what to do")
        #expect("\(error.code)" == "badMode")
        #expect(error.code != .badName)
    }
}
