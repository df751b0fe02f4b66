internal import TapeBytes

/// A setting of which the last source counts.
///
/// `Value` is optional if a run may have none.
public struct RunSetting<Value: Sendable & Hashable>: Sendable {
    public let row: SettingRow
    /// The value that no source gives.
    public let standard: Value

    /// - Parameters:
    ///   - key: its name in files, sessions and `wiretape config`.
    ///   - help: also the description in the schema.
    ///   - session: where a session has it.
    ///   - isOfFiles: whether a configuration file may have it.
    ///   - isShownIfUnset: whether `wiretape config` shows the standard value.
    ///   - read: makes a value of a text, or throws an error that says what is wrong and what to write, without a period at the end. Nil if
    ///     each source has a reader of its own.
    package init(
        _ key: String, _ form: SettingRow.Form, standard: Value, _ help: String, option: SettingOption? = nil,
        session: SettingRow.SessionPlace? = nil, isOfFiles: Bool = true, isShownIfUnset: Bool = true,
        shown: @escaping @Sendable (Value) -> String = { "\($0)" }, read: (@Sendable (String) throws -> Value)?
    ) {
        self.standard = standard
        self.row = SettingRow(
            key: key, form: form, help: help, option: option, session: session, isOfFiles: isOfFiles, isPath: false,
            standard: isShownIfUnset ? shown(standard) : nil, read: SettingRow.erased(read),
            shown: { ($0 as? Value).map(shown) ?? "" })
    }
}

extension RunSetting where Value: RawRepresentable<String> & CaseIterable {
    /// One of a few words.
    package init(
        _ key: String, standard: Value, _ help: String, option: SettingOption? = nil, session: SettingRow.SessionPlace? = nil
    ) {
        self.init(
            key, .choice(Value.allCases.map(\.rawValue)), standard: standard, help, option: option, session: session,
            shown: { $0.rawValue }, read: { try SettingRow.choice($0, of: Array(Value.allCases)) })
    }
}

extension RunSetting where Value: ExpressibleByNilLiteral {
    /// A setting that a run may not have.
    package init<Wrapped: Sendable & Hashable>(
        _ key: String, _ form: SettingRow.Form, _ help: String, option: SettingOption? = nil, session: SettingRow.SessionPlace? = nil,
        shown: @escaping @Sendable (Wrapped) -> String = { "\($0)" }, read: (@Sendable (String) throws -> Wrapped)?
    ) where Value == Wrapped? {
        self.init(
            key, form, standard: nil, help, option: option, session: session, isShownIfUnset: false, shown: { $0.map(shown) ?? "" },
            read: read.map { read -> @Sendable (String) throws -> Value in { text in try read(text) } })
    }
}

/// A setting whose values are added up: those of a configuration file, then those of the command line.
public struct RunSettingList<Element: Sendable & Hashable>: Sendable {
    public let row: SettingRow

    /// - Parameters: as for `RunSetting`.
    ///   - isPath: whether a value is a path, which a configuration file gives relative to its own folder.
    package init(
        _ key: String, _ help: String, option: SettingOption? = nil, session: SettingRow.SessionPlace? = nil, isPath: Bool = false,
        shown: @escaping @Sendable (Element) -> String = { "\($0)" }, read: (@Sendable (String) throws -> Element)?
    ) {
        self.row = SettingRow(
            key: key, form: .list, help: help, option: option, session: session, isOfFiles: true, isPath: isPath, standard: nil,
            read: SettingRow.erased(read), shown: { ($0 as? Element).map(shown) ?? "" })
    }
}

/// A row of the table of settings, without the type of its values.
public struct SettingRow: Sendable {
    typealias AnyValue = any Sendable & Hashable

    /// How values are written.
    public enum Form: Sendable, Hashable {
        /// A string.
        case text
        /// A string that matches this expression, for editors; reading it checks more.
        case shaped(String)
        /// One of these words.
        case choice([String])
        /// `true` or `false`.
        case flag
        /// A whole number.
        case number(ClosedRange<UInt64>)
        /// Names that are one value together: a list, or separated by commas. If there are only a few, these.
        case names([String]?)
        /// Any number of strings, each a value.
        case list
        /// Something that only the setting's own reader knows.
        case other
    }

    /// Where the request that opens a session has a setting.
    public enum SessionPlace: Sendable, Hashable {
        /// A member.
        case top
        /// A member of `rules`.
        case rules
        /// A member that is written in a way of its own.
        case own
    }

    public let key: String
    public let form: Form
    public let help: String
    public let option: SettingOption?
    public let session: SessionPlace?
    public let isOfFiles: Bool
    public let isPath: Bool
    /// The value that no source gives, as text; nil if it is not shown.
    public let standard: String?
    let read: (@Sendable (String) throws -> AnyValue)?
    let shown: @Sendable (AnyValue) -> String

    /// Whether its values are added up.
    public var isList: Bool { self.form == .list }

    /// Throws if the text is not a value of this setting; the error has no period at the end.
    public func check(_ text: String) throws { _ = try self.read?(text) }

    fileprivate static func erased<Value: Sendable & Hashable>(
        _ read: (@Sendable (String) throws -> Value)?
    ) -> (@Sendable (String) throws -> AnyValue)? {
        guard let read else { return nil }
        return { text in try read(text) }
    }

    /// The JSON Schema of the setting's values.
    ///
    /// - Parameter texts: the schema of a list of strings.
    package func schema(texts: String) -> String {
        func list(_ words: [String]) -> String { "[\(words.map { "\"\($0)\"" }.joined(separator: ", "))]" }
        return switch self.form {
        case .text: #"{"type": "string"}"#
        case .shaped(let pattern): #"{"type": "string", "pattern": "\#(pattern)"}"#
        case .choice(let words): #"{"enum": \#(list(words))}"#
        case .flag: #"{"type": "boolean"}"#
        case .number(let range) where range.upperBound == .max: #"{"type": "integer", "minimum": \#(range.lowerBound)}"#
        case .number(let range): #"{"type": "integer", "minimum": \#(range.lowerBound), "maximum": \#(range.upperBound)}"#
        case .names(let words?):
            #"{"anyOf": [{"type": "string"}, {"type": "array", "items": {"enum": \#(list(words))}}]}"#
        case .names(nil), .list: texts
        case .other: "{}"
        }
    }

    // MARK: Texts of values

    static func choice<Choice: RawRepresentable<String>>(_ text: String, of choices: [Choice]) throws(SettingSyntaxError) -> Choice {
        guard let choice = choices.first(where: { $0.rawValue == text }) else {
            throw SettingSyntaxError("\"\(text.prefix(100))\" is not known; write \(choices.map(\.rawValue).joined(separator: ", "))")
        }
        return choice
    }

    /// YAML's other booleans are rejected: `no` is also the country code of Norway.
    static func flag(_ text: String) throws(SettingSyntaxError) -> Bool {
        switch text {
        case "true": return true
        case "false": return false
        default: throw SettingSyntaxError("\"\(text.prefix(100))\" is neither true nor false; write one of them")
        }
    }

    static func number(_ text: String, in range: ClosedRange<Int>, _ what: String) throws(SettingSyntaxError) -> Int {
        guard let number = Int(text), range.contains(number), text.utf8.allSatisfy({ 48...57 ~= $0 }) else {
            throw SettingSyntaxError("\"\(text.prefix(100))\" is not \(what) from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// The names in a text, separated by commas and blanks.
    static func names(_ text: String) -> [String] {
        text.isEmpty ? [] : text.split(separator: ",", omittingEmptySubsequences: false).map { String($0.drop { $0 == " " }) }
    }
}

/// The option of a setting on the command line.
public struct SettingOption: Sendable, Hashable {
    /// Which commands have it, and under which title.
    public enum Group: Sendable, Hashable {
        case mode, rules, moreRules, failures, answers, pace, clock, modify, listening, proxy, redaction, recording, keeping, store
    }

    /// How a shell completes its value.
    public enum Completion: Sendable, Hashable { case none, file }

    /// Whether a flag sets the value to true, or with `--no-` in front to false.
    public enum Kind: Sendable, Hashable {
        case value
        case invertible
        /// A flag that sets the value to false.
        case negative
    }

    /// Without the hyphens.
    public let name: String
    /// Another name, which the help does not show first.
    public let otherName: String?
    /// Of the value in the help; nil for the option's name.
    public let valueName: String?
    public let group: Group
    public let completion: Completion
    public let kind: Kind

    init(_ name: String, _ valueName: String? = nil, also otherName: String? = nil, in group: Group, completes: Completion = .none) {
        (self.name, self.otherName, self.valueName, self.group, self.completion) = (name, otherName, valueName, group, completes)
        self.kind = .value
    }

    /// - Parameter flag: its name; `--no-` in front gives false.
    init(flag: String, in group: Group) {
        (self.name, self.otherName, self.valueName, self.group, self.completion) = (flag, nil, nil, group, .none)
        self.kind = .invertible
    }

    /// - Parameter negative: the name of a flag that gives false.
    init(negative: String, in group: Group) {
        (self.name, self.otherName, self.valueName, self.group, self.completion) = (negative, nil, nil, group, .none)
        self.kind = .negative
    }
}
