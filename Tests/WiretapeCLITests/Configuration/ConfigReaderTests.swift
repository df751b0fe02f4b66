import CassettePlayback
import CassetteStore
import TapeProxy
import TapeTrust
import Testing
@testable import WiretapeCLI

@Suite struct ConfigReaderTests {
    private static func settings(_ text: String) throws -> RunSettings {
        let node = try ConfigNode.yaml(Array(text.utf8), file: "w.yaml")
        return try ConfigReader(file: "w.yaml").settings(node) { _ in }
    }

    @Test func pricesAreReadApart() throws {
        func prices(_ yaml: String) throws -> [String] { try ConfigFile(path: "w.yaml", bytes: Array(yaml.utf8)).prices.map(\.model) }
        #expect(try prices("mode: none\nprices:\n  - gpt-5=1.25,10,0.125\n  - claude*=3,15\n") == ["gpt-5", "claude*"])
        #expect(try prices("prices: gpt-5=1,2\n") == ["gpt-5"] && prices("mode: none\n").isEmpty)
        for wrong in ["prices: [gpt-5]", "prices: {gpt-5: 1}", "prices:", "prices: [[a]]", "cassettes: {'a': {prices: [a=1,2]}}"] {
            #expect(throws: SettingError.self, "\(wrong)") { try prices(wrong) }
        }
    }

    @Test(arguments: [
        "ignore:\n- query:ts\nrepeat: last\n", "{ ignore: [query:ts], repeat: last }", "---\nignore: [query:ts]\nrepeat: last\n",
    ])
    func aByteOrderMarkIsNoIndentation(text: String) throws {
        let settings = try Self.settings("\u{FEFF}" + text)
        #expect(settings[Settings.ignore].map(\.value) == ["query:ts"])
    }

    @Test func eachKeyIsRead() throws {
        let settings = try Self.settings(
            """
            match: [method, url]
            ignore:
              - query:ts
              - json:/createdAt
            patterns: "header:x-request-id=[0-9a-f-]+"
            redact: [json:/user/name]
            keep: [jwt]
            secretEnv: [API_KEY]
            repeat: last
            order: strict
            latency: recorded
            failOn: miss, unused
            maxAge: 30d
            onExpired: fail
            passthrough: ["*.a.test"]
            refuse: ["b.test:443"]
            mode: new-episodes
            refreshDates: true
            refreshFields: ["json:/items/*/at"]
            keepOnFailure: false
            review: true
            durability: full
            onDiskFull: refuse
            listen: 127.0.0.1:7070
            grace: 0
            upstreamCA: [ca.pem, /etc/ca.pem]
            insecureUpstream: ["*.c.test"]
            """)
        #expect(settings[Settings.match]?.value == ["method", "url"])
        #expect(settings[Settings.ignore].map(\.value) == ["query:ts", "json:/createdAt"])
        #expect(settings[Settings.ignore].map(\.source) == [3, 4].map { .file("w.yaml", line: $0, section: nil) })
        #expect(settings[Settings.patterns].map(\.value) == ["header:x-request-id=[0-9a-f-]+"])
        #expect(settings[Settings.redact].map(\.value) == ["json:/user/name"] && settings[Settings.keep].map(\.value) == ["jwt"])
        #expect(settings[Settings.secretEnv].map(\.value) == ["API_KEY"])
        #expect(
            settings[Settings.repetition]?.value == .last && settings[Settings.order]?.value == .strict
                && settings.value(Settings.latency) == .scaled(1))
        #expect(settings[Settings.failOn]?.value.flaws == [.miss, .unused])
        #expect(settings.value(Settings.maxAge)?.seconds == 30 * 86_400 && settings[Settings.onExpired]?.value == .fail)
        #expect(settings[Settings.passthrough].map(\.value.description) == ["*.a.test"] && settings[Settings.refuse].count == 1)
        #expect(settings[Settings.mode]?.value == .newEpisodes && settings[Settings.refreshDates]?.value == true)
        #expect(settings[Settings.refreshFields].map(\.value) == ["json:/items/*/at"])
        #expect(settings[Settings.keepOnFailure]?.value == false && settings[Settings.review]?.value == true)
        #expect(settings[Settings.durability]?.value == .full && settings[Settings.onDiskFull]?.value == .refuse)
        #expect(settings[Settings.listen]?.value == ListenAddress(host: "127.0.0.1", port: 7070) && settings[Settings.grace]?.value == 0)
        #expect(settings[Settings.upstreamCA].map(\.value) == ["ca.pem", "/etc/ca.pem"] && settings[Settings.insecureUpstream].count == 1)
    }

    @Test func pathsAreSeenFromTheFilesFolder() throws {
        let node = try ConfigNode.yaml(Array("upstreamCA: [ca.pem, ../ca.pem, /ca.pem]\ndescriptors: protos".utf8), file: "a")
        let settings = try ConfigReader(file: "/work/pets/wiretape.yaml").settings(node) { _ in }
        #expect(settings[Settings.upstreamCA].map(\.value) == ["/work/pets/ca.pem", "/work/pets/../ca.pem", "/ca.pem"])
        #expect(settings[Settings.descriptors].map(\.value) == ["/work/pets/protos"])
    }

    @Test(arguments: ["yes", "no", "on", "off", "1", "True", "~", "[true, true]"])
    func onlyTrueAndFalseAreFlags(_ text: String) {
        #expect(throws: SettingError.self) { try Self.settings("refreshDates: \(text)") }
    }

    @Test(
        arguments: [
            ("a: b", "\"w.yaml\" line 1: \"a\" is not a setting; the settings are mode, match, presets, ignore"),
            ("# c\ningore: [x]", "\"w.yaml\" line 2: \"ingore\" is not a setting; did you mean \"ignore\"?"),
            ("- a", "\"w.yaml\" line 1: expected settings"),
            ("ignore:\n  - query:a\n  - nowhere", "\"w.yaml\" line 3, \"ignore\": \"nowhere\" is not a place"),
            ("ignore:\n  - query: a", "\"w.yaml\" line 2, \"ignore\": expected a list of strings; write \"PLACE:NAME\" without a space"),
            ("ignore:", "\"w.yaml\" line 1, \"ignore\": there is no value"),
            ("modify:", "\"w.yaml\" line 1, \"modify\": there are no rules"),
            ("patterns: ['query:a=(']", "\"w.yaml\" line 1, \"patterns\": \"query:a=(\""),
            ("match: [methd]", "\"w.yaml\" line 1, \"match\": \"methd\" is not a match rule"),
            ("redact: [path]", "\"w.yaml\" line 1, \"redact\":"),
            ("keep: ['query:']", "\"w.yaml\" line 1, \"keep\":"),
            ("secretEnv: ['a=b']", "\"a=b\" cannot be the name of a variable"),
            ("repeat: always", "\"always\" is not known; write never, last, cycle"),
            ("repeat: [last, last]", "expected one value"),
            ("failOn: leak", "\"leak\" is not a reason to fail"),
            ("maxAge: 30", "\"30\" is not a duration"),
            ("mode: passthrough", "\"passthrough\" is not known; write once, new-episodes, all, none"),
            ("review: no", "line 1, \"review\": \"no\" is neither true nor false"),
            ("refreshFields: [query:a]", "line 1, \"refreshFields\": \"query:a\" does not name a date"),
            ("refreshDate: true", "did you mean \"refreshDates\"?"), ("upstream-ca: [a]", "did you mean \"upstreamCA\"?"),
            ("listen: nowhere", "\"nowhere\" is not an address to listen on"),
            ("grace: +5", "\"+5\" is not a number of seconds"), ("grace: 1e3", "\"1e3\" is not a number of seconds"),
            ("durability: yes", "\"yes\" is not known; write normal, full"), ("upstreamCA: ['']", "\"\" is not a path"),
            ("noRedaction: true", "\"noRedaction\" is not a setting"),
            ("passthrough: ['http://a']", "line 1, \"passthrough\":"),
            ("cassettes: [a]", "\"cassettes\" takes names of cassettes"),
        ])
    func aMistakeIsReportedWithItsLine(_ text: String, _ message: String) {
        let error = #expect(throws: SettingError.self) { try Self.settings(text) }
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }

    @Test func aSectionHasNoSections() throws {
        let node = try ConfigNode.yaml(Array("cassettes: {a: {}}".utf8), file: "w.yaml")
        #expect(throws: SettingError.self) { try ConfigReader(file: "w.yaml").settings(node, section: "x") { _ in } }
    }
}

@Suite struct ConfigKeyTests {
    @Test(
        arguments: [
            ("ingore", "ignore"), ("fail-on", "failOn"), ("FAILON", "failOn"), ("max_age", "maxAge"), ("pattern", "patterns"),
            ("secret-env", "secretEnv"), ("repaet", "repeat"), ("cassette", "cassettes"), ("redacts", "redact"),
        ])
    func aSlipHasANearestName(_ name: String, _ key: String) {
        #expect(ConfigKey.nearest(to: name) == key)
    }

    @Test(arguments: ["", "x", "it", "throttle", String(repeating: "a", count: 100_000)])
    func distantNameHasNoSuggestion(_ name: String) {
        #expect(ConfigKey.nearest(to: name) == nil)
    }
}
