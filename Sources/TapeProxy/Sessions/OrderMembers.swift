internal import CassettePlayback
internal import TapeBytes

/// The members of one JSON object in an order. All must be known, and each may occur once.
///
/// A misspelled member would be a rule that silently has no effect. Every error begins with the member's name.
struct OrderMembers {
    private let values: [String: JSONValue]
    /// The prefix of member names in errors, such as `rules.`.
    private let prefix: String

    /// - Parameter known: the known names, in the order in which errors list them.
    init(_ object: JSONValue, known: [String], prefix: String = "") throws(SessionError) {
        var values: [String: JSONValue] = [:]
        for member in object.members {
            let name = member.name.string ?? ""
            guard known.contains(name) else {
                throw SessionError(
                    .invalid,
                    "\"\(prefix)\(name.prefix(100))\" is unknown here: use \(known.joined(separator: ", ")).")
            }
            guard values.updateValue(member.value, forKey: name) == nil else {
                throw SessionError(.invalid, "\"\(prefix)\(name)\" is given twice: remove one.")
            }
        }
        self.values = values
        self.prefix = prefix
    }

    /// An error about one of the members.
    func error(_ name: String, _ problem: String) -> SessionError {
        SessionError(.invalid, "\"\(self.prefix)\(name)\" \(problem)")
    }

    func value(_ name: String) -> JSONValue? { self.values[name] }

    func string(_ name: String) throws(SessionError) -> String? {
        guard let value = self.values[name] else { return nil }
        guard let text = value.string else { throw self.error(name, "is not a string: put it in quotes.") }
        return text
    }

    func bool(_ name: String) throws(SessionError) -> Bool? {
        guard let value = self.values[name] else { return nil }
        guard let bool = value.bool else { throw self.error(name, "is neither true nor false: use one of them.") }
        return bool
    }

    func choice<Choice: RawRepresentable<String>>(_ name: String, _ choices: [Choice]) throws(SessionError) -> Choice? {
        guard let text = try self.string(name) else { return nil }
        guard let choice = choices.first(where: { $0.rawValue == text }) else {
            let known = choices.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
            throw self.error(name, "is \"\(text.prefix(100))\": use one of \(known).")
        }
        return choice
    }

    /// nil if there is no such member.
    ///
    /// - Parameter check: throws an error whose message has no period.
    func texts(_ name: String, check: (String) throws -> Void = { _ in }) throws(SessionError) -> [String]? {
        guard let value = self.values[name] else { return nil }
        guard value.kind == .array else { throw self.error(name, "is not a list of strings: write it as [\"...\"].") }
        var texts: [String] = []
        for element in value.elements {
            guard let text = element.string else { throw self.error(name, "is not a list of strings: write it as [\"...\"].") }
            try self.made(name) { try check(text) }
            texts.append(text)
        }
        return texts
    }

    /// The texts of a setting's values; empty if there is no such member.
    func texts(of row: SettingRow) throws(SessionError) -> [String] {
        guard let value = self.values[row.key] else { return [] }
        switch row.form {
        case .list: return try self.texts(row.key) ?? []
        // The names of one value; a single one needs no list.
        case .names:
            if let names = value.string { return [names] }
            return [try (self.texts(row.key) ?? []).joined(separator: ",")]
        case .flag: return try self.bool(row.key).map { ["\($0)"] } ?? []
        case .number:
            return value.kind == .number ? [String(decoding: value.raw, as: UTF8.self)] : try self.string(row.key).map { [$0] } ?? []
        case .text, .shaped, .choice, .other: return try self.string(row.key).map { [$0] } ?? []
        }
    }

    /// Adds the member's name to errors.
    func made<Value>(_ name: String, _ make: () throws -> Value) throws(SessionError) -> Value {
        do {
            return try make()
        } catch {
            let problem = (error as? SettingSyntaxError)?.message ?? (error as? MatchRuleError)?.message ?? "\(error)"
            let label = "\"\(self.prefix)\(name)\""
            // Some name the member themselves, and some end with a question.
            throw SessionError(
                .invalid, (problem.hasPrefix("\(label) ") ? "" : "\(label): ") + problem + (problem.hasSuffix("?") ? "" : "."))
        }
    }
}
