import ArgumentParser
import TapeProxy
import TapeTestSupport
import Testing
@testable import WiretapeCLI

/// Every setting reaches every place that its row names.
@Suite struct SettingsTableTests {
    private static let sampled = Settings.rows.filter { SettingSamples.texts[$0.key] != nil }

    private func parse(_ arguments: [String], _ group: SettingOption.Group) throws -> RunSettings {
        switch group {
        case .mode: try SettingOptions<ModeGroup>.parse(arguments).settings
        case .rules: try SettingOptions<RuleGroup>.parse(arguments).settings
        case .moreRules: try SettingOptions<MoreRuleGroup>.parse(arguments).settings
        case .failures: try SettingOptions<FailureGroup>.parse(arguments).settings
        case .answers: try SettingOptions<AnswerGroup>.parse(arguments).settings
        case .pace: try SettingOptions<PaceGroup>.parse(arguments).settings
        case .clock: try SettingOptions<ClockGroup>.parse(arguments).settings
        case .modify: try SettingOptions<SeedGroup>.parse(arguments).settings
        case .listening: try SettingOptions<ListenGroup>.parse(arguments).settings
        case .proxy: try SettingOptions<ProxyGroup>.parse(arguments).settings
        case .redaction: try SettingOptions<RedactionGroup>.parse(arguments).settings
        case .recording: try SettingOptions<ReviewGroup>.parse(arguments).settings
        case .keeping: try SettingOptions<KeepingGroup>.parse(arguments).settings
        case .store: try SettingOptions<StoreGroup>.parse(arguments).settings
        }
    }

    @Test(arguments: sampled.filter { $0.option != nil }) func anOptionSetsItsSetting(row: SettingRow) throws {
        let (option, samples) = (try #require(row.option), try #require(SettingSamples.texts[row.key]))
        for text in [samples.first, samples.second] {
            let arguments: [String]
            switch option.kind {
            case .value: arguments = ["--\(option.name)", text]
            case .invertible: arguments = [(text == "true" ? "--" : "--no-") + option.name]
            case .negative:
                guard text == "false" else { continue }
                arguments = ["--\(option.name)"]
            }
            let settings = try self.parse(arguments, option.group)
            #expect(settings.shown(row).map(\.text) == [text])
            #expect(settings.shown(row).map(\.source) == [.commandLine])
        }
    }

    @Test(arguments: sampled.filter(\.isOfFiles)) func aFileSetsItsSetting(row: SettingRow) throws {
        let samples = try #require(SettingSamples.texts[row.key])
        let quoted = ![.flag, .names(nil)].contains(row.form) && row.form != Settings.failOn.row.form
        let yaml = "# comment\n\(row.key): \(quoted ? "\"\(samples.first)\"" : samples.first)\n"
        let settings = try ConfigFile(path: "/w/wiretape.yaml", bytes: Array(yaml.utf8)).settings
        #expect(settings.shown(row).map(\.text) == [samples.first])
        #expect(settings.shown(row).map(\.source) == [.file("/w/wiretape.yaml", line: 2, section: nil)])
        // The line that `wiretape config` prints.
        #expect(SettingLine.rows(settings).contains { $0.name == row.key && $0.value == samples.first })
    }

    @Test func aFileCannotKeepSecrets() {
        #expect(throws: SettingError.self) { try ConfigFile(path: "w.yaml", bytes: Array("redaction: false".utf8)) }
    }
}
