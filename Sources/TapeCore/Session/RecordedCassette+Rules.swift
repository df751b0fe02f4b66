extension RecordedCassette {
    /// The member of the cassette's head that holds its match rules.
    static let matchMember = "match"

    /// The match rules that the cassette was recorded with or given by hand, as they are written; nil where it has none.
    public func matchTexts() throws(CassetteError) -> MatchRuleTexts? {
        guard let rules = try self.headMember(Self.matchMember) else { return nil }
        do {
            return try MatchRuleTexts(rules)
        } catch {
            throw self.error(error.message)
        }
    }

    /// The standard rules with the cassette's own laid over them.
    public func matchRules() throws(CassetteError) -> MatchRules {
        guard let texts = try self.matchTexts() else { return .standard }
        do {
            return try MatchRules.standard.adding(texts)
        } catch {
            throw self.error(error.message)
        }
    }

    private func error(_ problem: String) -> CassetteError {
        CassetteError(.damaged, "\"\(self.path)\", \"\(Self.matchMember)\": \(problem)")
    }

    private func headMember(_ name: String) throws(CassetteError) -> JSONValue? {
        let head = try self.head()
        // Torn before its end: what is left has no rules.
        guard head.last == UInt8(ascii: "[") else { return nil }
        do {
            return try JSONDocument(head + [UInt8(ascii: "]"), UInt8(ascii: "}")]).root[name]
        } catch {
            throw CassetteError(.damaged, "\"\(self.path)\" line \(error.line): \(error.reason): correct it or restore the file.")
        }
    }
}

extension RecordedCassette {
    /// The rules of redaction that the cassette was recorded with; nil where nothing was redacted, so that live requests stay as they
    /// are, too.
    public func redactionRules() throws(CassetteError) -> RedactionRules? {
        do {
            return try CassetteHead(self.head()).redactionRules()
        } catch {
            throw CassetteError(error.code, "\"\(self.path)\": \(error.message)")
        }
    }
}
