public import CassetteModel
public import CassetteRedaction
internal import CassetteStore
internal import TapeBytes

extension RecordedCassette {
    /// The member of a cassette's head that holds its match rules.
    static let matchMember = "match"

    /// The match rules that the cassette was recorded with or given by hand, as they are written; nil where it has none.
    public func matchTexts() throws(CassetteError) -> MatchRuleTexts? {
        try Self.matchTexts(inHead: self.head(), of: self.path)
    }

    /// The same of a file whose exchanges need no sense.
    public static func matchTexts(ofFile path: String) throws(CassetteError) -> MatchRuleTexts? {
        try self.matchTexts(inHead: CassetteReader(path: path).head(), of: path)
    }

    /// The standard rules with the cassette's own laid over them.
    public func matchRules() throws(CassetteError) -> MatchRules { try Self.matchRules(inHead: self.head(), of: self.path) }

    package static func matchRules(inHead head: [UInt8], of path: String) throws(CassetteError) -> MatchRules {
        guard let texts = try self.matchTexts(inHead: head, of: path) else { return .standard }
        do {
            return try MatchRules.standard.adding(texts)
        } catch {
            throw self.error(error.message, in: path)
        }
    }

    private static func matchTexts(inHead head: [UInt8], of path: String) throws(CassetteError) -> MatchRuleTexts? {
        guard let rules = try self.member(self.matchMember, ofHead: head, of: path) else { return nil }
        do {
            return try MatchRuleTexts(rules)
        } catch {
            throw self.error(error.message, in: path)
        }
    }

    private static func error(_ problem: String, in path: String) -> CassetteError {
        CassetteError(.damaged, "\"\(path)\", \"\(self.matchMember)\": \(problem)")
    }

    private static func member(_ name: String, ofHead head: [UInt8], of path: String) throws(CassetteError) -> JSONValue? {
        // Torn before its end: what is left has no rules.
        guard head.last == UInt8(ascii: "[") else { return nil }
        do {
            return try JSONDocument(head + [UInt8(ascii: "]"), UInt8(ascii: "}")]).root[name]
        } catch {
            throw CassetteError(.damaged, "\"\(path)\" line \(error.line): \(error.reason): correct it or restore the file.")
        }
    }
}

extension RecordedCassette {
    /// The rules of redaction that the cassette was recorded with; nil where nothing was redacted, so that live requests stay as they
    /// are, too.
    public func redactionRules() throws(CassetteError) -> RedactionRules? {
        try Self.redactionRules(inHead: self.head(), of: self.path)
    }

    /// The same of a file whose exchanges need no sense.
    public static func redactionRules(ofFile path: String) throws(CassetteError) -> RedactionRules? {
        try self.redactionRules(inHead: CassetteReader(path: path).head(), of: path)
    }

    private static func redactionRules(inHead head: [UInt8], of path: String) throws(CassetteError) -> RedactionRules? {
        do {
            return try CassetteHead(head).redactionRules()
        } catch {
            throw CassetteError(error.code, "\"\(path)\": \(error.message)")
        }
    }
}
