internal import TapeCore

/// Reads the body of `POST /sessions`: one JSON object, every member of which is known.
///
/// A member that was misspelled would be a rule that silently does not hold.
struct SessionOrderReader {
    private var found: [String: JSONValue] = [:]

    static let members = ["cassette", "mode", "name", "order", "port", "repeat", "rules"]

    static func read(_ json: [UInt8]) throws(SessionError) -> SessionOrder {
        let document: JSONDocument
        do throws(JSONSyntaxError) {
            document = try JSONDocument(json)
        } catch {
            throw SessionError(
                .invalid, "the body is not JSON (line \(error.line): \(error.reason)): send an object, as {\"cassette\": \"pets.json\"}.")
        }
        return try SessionOrderReader(document.root).order()
    }

    private init(_ root: JSONValue) throws(SessionError) {
        guard root.kind == .object else {
            throw SessionError(.invalid, "the body is no JSON object: send one, as {\"cassette\": \"pets.json\"}.")
        }
        for member in root.members {
            let name = member.name.string ?? ""
            guard Self.members.contains(name) else {
                throw SessionError(
                    .invalid, "\"\(name.prefix(100))\" is not a member of a session: use \(Self.members.joined(separator: ", ")).")
            }
            guard self.found.updateValue(member.value, forKey: name) == nil else {
                throw SessionError(.invalid, "\"\(name)\" is there twice: give it once.")
            }
        }
    }

    private func order() throws(SessionError) -> SessionOrder {
        guard let cassette = try self.string("cassette") else {
            throw SessionError(.invalid, "\"cassette\" is missing: name a file of the folder, as \"pets.json\".")
        }
        let modes: [RecordMode] = [.none, .once, .newEpisodes, .all]
        return SessionOrder(
            name: try self.name(), cassette: cassette, mode: try self.choice("mode", modes) ?? .once,
            repetition: try self.choice("repeat", Repetition.allCases) ?? .never,
            replayOrder: try self.choice("order", ReplayOrder.allCases) ?? .any, rules: try self.rules(),
            wantsPort: try self.bool("port") ?? false)
    }

    private func name() throws(SessionError) -> SessionName? {
        guard let text = try self.string("name") else { return nil }
        guard let name = SessionName(text) else {
            throw SessionError(
                .invalid,
                "\"name\" is not 1 to \(SessionName.limit) letters, digits, \"-\", \"_\" and \".\", the last not in front: leave it out to get one."
            )
        }
        return name
    }

    private func rules() throws(SessionError) -> MatchRuleTexts {
        guard let value = self.found["rules"] else { return MatchRuleTexts() }
        guard value.kind == .object else {
            throw SessionError(.invalid, "\"rules\" is no object: give one with match, ignore or patterns, each a list of strings.")
        }
        var rules = MatchRuleTexts()
        for member in value.members {
            let name = member.name.string ?? ""
            let texts = member.value.elements.compactMap(\.string)
            guard member.value.kind == .array, texts.count == member.value.elements.reduce(0, { count, _ in count + 1 }) else {
                throw SessionError(.invalid, "\"rules.\(name.prefix(100))\" is no list of strings: write it as [\"...\"].")
            }
            switch name {
            case "match": rules.match = texts
            case "ignore": rules.ignore = texts
            case "patterns": rules.patterns = texts
            default:
                throw SessionError(.invalid, "\"rules.\(name.prefix(100))\" is not known: use match, ignore and patterns.")
            }
        }
        return rules
    }

    // MARK: Members by their kind

    private func string(_ name: String) throws(SessionError) -> String? {
        guard let value = self.found[name] else { return nil }
        guard let text = value.string else { throw SessionError(.invalid, "\"\(name)\" is no string: put it in quotes.") }
        return text
    }

    private func bool(_ name: String) throws(SessionError) -> Bool? {
        guard let value = self.found[name] else { return nil }
        guard let bool = value.bool else { throw SessionError(.invalid, "\"\(name)\" is neither true nor false: give one of them.") }
        return bool
    }

    private func choice<Choice: RawRepresentable<String>>(_ name: String, _ choices: [Choice]) throws(SessionError) -> Choice? {
        guard let text = try self.string(name) else { return nil }
        guard let choice = choices.first(where: { $0.rawValue == text }) else {
            let known = choices.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
            throw SessionError(.invalid, "\"\(name)\" is \"\(text.prefix(100))\": give one of \(known).")
        }
        return choice
    }
}
