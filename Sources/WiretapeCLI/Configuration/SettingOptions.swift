internal import ArgumentParser
internal import Platform
internal import TapeProxy

/// A group of options, as a type, because commands declare their groups by type.
protocol SettingOptionGroup: Sendable { static var group: SettingOption.Group { get } }

/// The options of one group of settings, made from the table of all settings.
///
/// The parser finds the options of a type in its mirror, and gives their values to its decoder. Both are made from the table here.
struct SettingOptions<Group: SettingOptionGroup>: ParsableArguments, CustomReflectable {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ row: SettingRow) { self.stringValue = row.key }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private static var rows: [SettingRow] { Settings.rows.filter { $0.option?.group == Group.group } }

    /// What the options set.
    private(set) var settings = RunSettings()
    /// The first value that is wrong.
    private var problem: String?

    init() {}

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        for row in Self.rows {
            for text in try Self.texts(row, values) {
                do {
                    try self.settings.read(row, text, source: .commandLine)
                } catch {
                    self.problem = self.problem ?? Self.sentence(error)
                }
            }
        }
        // Some values are right alone, but not together.
        if self.problem == nil, !self.isEmpty {
            do {
                try self.settings.checkTogether(secret: EnvironmentSecret.value)
            } catch {
                self.problem = Self.sentence(error)
            }
        }
    }

    func validate() throws { if let problem { throw ValidationError(problem) } }

    private static func sentence(_ error: any Error) -> String {
        let message = "\(error)"
        return message.hasSuffix("?") || message.hasSuffix(".") ? message : message + "."
    }

    /// The values of an option as they were typed; those of a flag are `true` and `false`.
    private static func texts(_ row: SettingRow, _ values: KeyedDecodingContainer<Key>) throws -> [String] {
        let key = Key(row)
        switch row.option?.kind {
        case .invertible?: return try values.decode(Flag<Bool?>.self, forKey: key).wrappedValue.map { ["\($0)"] } ?? []
        case .negative?: return try values.decode(Flag<Bool>.self, forKey: key).wrappedValue ? ["false"] : []
        case .value? where row.isList: return try values.decode(Option<[String]>.self, forKey: key).wrappedValue
        case .value?, nil: return try values.decode(Option<String?>.self, forKey: key).wrappedValue.map { [$0] } ?? []
        }
    }

    var customMirror: Mirror {
        Mirror(self, children: Self.rows.map { Mirror.Child(label: $0.key, value: Self.argument($0)) }, displayStyle: .struct)
    }

    /// The declaration of an option, as a property wrapper would make it.
    private static func argument(_ row: SettingRow) -> Any {
        guard let option = row.option else { return row }
        let name = NameSpecification([.customLong(option.name)] + (option.otherName.map { [.customLong($0)] } ?? []))
        var text = row.help
        var completion: CompletionKind?
        if case .choice(let words) = row.form {
            text += " (values: \(words.joined(separator: ", ")))"
            completion = .list(words)
        } else if option.completion == .file {
            completion = .file()
        }
        let help = ArgumentHelp(text, valueName: option.valueName ?? option.name)
        switch option.kind {
        case .invertible: return Flag<Bool?>(name: name, inversion: .prefixedNo, help: help)
        case .negative: return Flag<Bool>(wrappedValue: false, name: name, help: help)
        case .value where row.isList: return Option<[String]>(wrappedValue: [], name: name, help: help, completion: completion)
        case .value:
            return Option<String?>(name: name, help: help, completion: completion) { text in
                do {
                    try row.check(text)
                } catch {
                    throw ValidationError(Self.sentence(error))
                }
                return text
            }
        }
    }

    /// Whether none of the options was given.
    var isEmpty: Bool { self.settings == RunSettings() }

    /// The settings, and the options over them.
    func lay(over settings: RunSettings) -> RunSettings { settings.adding(self.settings) }
}

enum ModeGroup: SettingOptionGroup { static let group = SettingOption.Group.mode }
enum RuleGroup: SettingOptionGroup { static let group = SettingOption.Group.rules }
enum MoreRuleGroup: SettingOptionGroup { static let group = SettingOption.Group.moreRules }
enum FailureGroup: SettingOptionGroup { static let group = SettingOption.Group.failures }
enum AnswerGroup: SettingOptionGroup { static let group = SettingOption.Group.answers }
enum PaceGroup: SettingOptionGroup { static let group = SettingOption.Group.pace }
enum ClockGroup: SettingOptionGroup { static let group = SettingOption.Group.clock }
enum SeedGroup: SettingOptionGroup { static let group = SettingOption.Group.modify }
enum ListenGroup: SettingOptionGroup { static let group = SettingOption.Group.listening }
enum ProxyGroup: SettingOptionGroup { static let group = SettingOption.Group.proxy }
enum RedactionGroup: SettingOptionGroup { static let group = SettingOption.Group.redaction }
enum ReviewGroup: SettingOptionGroup { static let group = SettingOption.Group.recording }
enum KeepingGroup: SettingOptionGroup { static let group = SettingOption.Group.keeping }
enum StoreGroup: SettingOptionGroup { static let group = SettingOption.Group.store }

/// A secret in the environment.
enum EnvironmentSecret {
    /// The bytes of a variable's value: a secret need not be UTF-8.
    static func value(_ name: String) -> [UInt8]? {
        guard let value = getenv(name) else { return nil }
        // SAFETY: each value in the environment ends with a NUL, and nothing changes it while the command line is parsed.
        return Array(UnsafeRawBufferPointer(start: value, count: strlen(value)))
    }
}
