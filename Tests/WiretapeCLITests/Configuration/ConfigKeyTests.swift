import Testing

@testable import WiretapeCLI

@Suite struct ConfigKeyTests {
    @Test(
        arguments: [
            ("ingore", .ignore), ("fail-on", .failOn), ("FAILON", .failOn), ("max_age", .maxAge), ("pattern", .patterns),
            ("secret-env", .secretEnv), ("repaet", .repetition), ("cassette", .cassettes), ("redacts", .redact),
        ] as [(String, ConfigKey)])
    func aSlipHasANearestName(_ name: String, _ key: ConfigKey) {
        #expect(ConfigKey.nearest(to: name) == key)
    }

    @Test(arguments: ["", "x", "it", "throttle", String(repeating: "a", count: 100_000)])
    func whatIsFarHasNone(_ name: String) {
        #expect(ConfigKey.nearest(to: name) == nil)
    }
}
