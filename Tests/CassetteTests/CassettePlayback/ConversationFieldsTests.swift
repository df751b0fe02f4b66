@testable import CassetteModel
@testable import CassettePlayback
import TapeBytes
import Testing

/// Conversations of one URL, chosen by the fields of their requests.
@Suite struct ConversationFieldsTests {
    /// - Parameters:
    ///   - messages: the texts of the client's messages.
    ///   - greeting: the server's message.
    private func conversation(_ index: Int, _ lines: [String], _ messages: [String] = [], greeting: String) -> RecordedConversation {
        var interaction = Interaction(
            id: index + 1, started: Timestamp(microseconds: Int64(index)),
            request: RecordedRequest(method: "GET", url: "http://a.test/", headers: HeaderFields(lines)),
            response: RecordedResponse(status: 101))
        interaction.webSocket = .inline([
            WebSocketMessage(at: Double(index), from: .server, content: .text(.text(Array(greeting.utf8))))
        ])
        return RecordedConversation(
            index: index, requests: messages.map { ListedRequests.facets($0) },
            recording: ConversationScript.Recording(
                requests: messages.count, head: ConversationScript.Step(after: 0),
                messages: [ConversationScript.Step(after: messages.count)]),
            traits: ExchangeTraits(interaction, rules: .standard, body: .none))
    }

    /// The conversations in the order in which they answer a client with these fields; empty if none may.
    private func order(_ conversations: [RecordedConversation], for lines: [String], used: Set<Int> = []) -> [Int] {
        var fields = ConversationFields()
        fields.add(conversations)
        let headers = HeaderFields(lines)
        let live = LiveFields(
            method: "GET", headers, rules: .standard, placeholders: HeldPlaceholders(url: "", headers: headers, isRecorded: false))
        let fits = fields.fits(for: live)
        let left = conversations.filter { fits?[$0.index] != nil || fits == nil }
        let choice = ConversationChoice(left, fits: fits ?? [:], order: .strict, latency: .none)
        guard case .take(let indexes) = choice.step(isPatient: false, repeats: false, isLeft: { !used.contains($0) }) else { return [] }
        return indexes
    }

    @Test func conversationsThatAreAlikeAreNotRanked() {
        var fields = ConversationFields()
        fields.add((0..<3).map { self.conversation($0, ["X-A: 1"], greeting: "hello \($0)") })
        #expect(fields.fits(for: LiveFields(method: "GET", HeaderFields(["X-A: 2"]), rules: .standard)) == nil)
    }

    @Test func aPlaceholderNamesTheClient() {
        let users = (0..<3).map { self.conversation($0, ["Authorization: Bearer {{token:\($0 + 1)}}"], greeting: "user \($0)") }
        for user in 0..<3 { #expect(self.order(users, for: ["Authorization: Bearer {{token:\(user + 1)}}"]) == [user]) }
        // The others belong to other clients, even when this one is used up.
        #expect(self.order(users, for: ["Authorization: Bearer {{token:2}}"], used: [1]) == [])
    }

    @Test func aSelectingFieldDecides() {
        let tenants = ["a", "b"].enumerated().map { self.conversation($0, ["X-Tenant-Id: \($1)"], greeting: $1) }
        #expect(self.order(tenants, for: ["X-Tenant-Id: b"]) == [1])
        #expect(self.order(tenants, for: ["X-Tenant-Id: c"]) == [])
    }

    /// The server answers other messages differently, so the field is not what makes the difference.
    @Test func fieldsAreComparedAmongEqualMessagesOnly() {
        let calls = ["a", "b"].enumerated().map { self.conversation($0, ["X-Tenant-Id: \($1)"], [$1], greeting: $1) }
        #expect(self.order(calls, for: ["X-Tenant-Id: c"]) == [0, 1])
    }

    @Test func otherFieldsBreakTies() {
        let themes = ["dark", "light"].enumerated().map { self.conversation($0, ["Cookie: theme=\($1)"], greeting: $1) }
        #expect(self.order(themes, for: ["Cookie: theme=light"]) == [1, 0])
        #expect(self.order(themes, for: ["Cookie: theme=blue"]) == [0, 1])
        #expect(self.order(themes, for: ["Cookie: theme=light"], used: [1]) == [0])
    }

    /// Their messages will tell them apart, so the order decides until then.
    @Test func tiesAreBrokenAmongEqualMessagesOnly() {
        let calls = ["a", "b"].enumerated().map { self.conversation($0, ["X-Note: \($1)"], [$1], greeting: $1) }
        #expect(self.order(calls, for: ["X-Note: b"]) == [0, 1])
    }

    @Test func aPlaceholderInAMessageNamesTheClient() {
        func facets(_ number: Int) -> BodyFacets {
            var facets = ListedRequests.facets("hello")
            facets.placeholders = Array("{{token:\(number)}}".utf8).withUnsafeBytes { HeldPlaceholders(in: $0, isRecorded: true) }
            return facets
        }
        let conversations = (1...2).map { number in
            RecordedConversation(
                index: number, requests: [facets(number)],
                recording: ConversationScript.Recording(requests: 1, messages: [ConversationScript.Step(after: 1)]))
        }
        var choice = ConversationChoice(conversations, order: .strict, latency: .none)
        choice.messageCame(facets(2))
        #expect(choice.step(isPatient: false, repeats: false, isLeft: { _ in true }) == .take([2]))
    }
}
