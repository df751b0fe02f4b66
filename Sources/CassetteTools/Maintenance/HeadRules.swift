internal import CassetteModel
public import CassettePlayback
internal import CassetteRedaction
internal import CassetteStore

/// Adds match rules to the head of a cassette.
public enum HeadRules {
    /// Throws for rules that a reader of the head would refuse, and while a recorder has the cassette.
    ///
    /// - Parameter recorder: the name and version of this program.
    public static func add(_ texts: MatchRuleTexts, to path: String, recorder: String) throws {
        let cassette = try RecordedCassette(path: path)
        _ = try cassette.matchRules().adding(texts)
        let all = try (cassette.matchTexts() ?? MatchRuleTexts()).adding(texts)
        guard let member = all.headMember else { return }
        let rewriter = try CassetteAppender.open(path, recorder: recorder).finish()
        var head = CassetteHead(try rewriter.reader.head())
        try head.set(member)
        try rewriter.rewrite(order: Array(0..<rewriter.reader.count), head: head.bytes)
    }
}
