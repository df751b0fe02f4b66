internal import TapeBytes

/// Tells by header fields and placeholders which recorded conversations may answer a live one, and which of these fits best. The rules are
/// those of `FieldChoice`: fields are compared among conversations whose clients sent the same messages.
///
/// Knows conversations by their index. Messages are compared by `ConversationChoice`.
struct ConversationFields: Sendable {
    /// By a digest of the client's messages.
    private var groups: [Int: FieldChoice] = [:]
    private var seen: Set<Int> = []
    private var profiles: Set<RequestProfile> = []

    mutating func add(_ conversations: [RecordedConversation]) {
        for conversation in conversations where self.seen.insert(conversation.index).inserted {
            guard let traits = conversation.traits else { continue }
            self.profiles.insert(traits.profile)
            self.groups[conversation.messages, default: FieldChoice()].append(traits, index: conversation.index)
        }
    }

    /// How well each conversation fits that may answer, by its index; nil if all are alike, so that only their order decides.
    ///
    /// If some were recorded with a placeholder of the live request, the others belong to another client.
    mutating func fits(for live: LiveFields) -> [Int: FieldChoice.Fit]? {
        guard self.profiles.count > 1 || self.groups.values.contains(where: { !$0.isUniform }) else { return nil }
        var suitable: [FieldChoice.Suitable] = []
        for number in self.groups.keys { suitable += self.groups[number]?.suitable(for: live) ?? [] }
        let least = suitable.map(\.missing).min()
        var fits: [Int: FieldChoice.Fit] = [:]
        for one in suitable where one.missing == least {
            for member in one.members { fits[Int(member)] = one.fit }
        }
        return fits
    }
}
