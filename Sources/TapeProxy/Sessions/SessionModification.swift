internal import CassetteRun
internal import NIOCore
internal import TapeBytes
internal import TrafficRules

/// Other traffic rules for an open session, from the control API.
struct SessionModification: Sendable {
    var rules: TrafficRules
    /// Seconds until the session's own rules apply again; nil for the rest of the session.
    var timeToLive: Int64?

    static let members = ["modify", "ttl"]

    /// - Parameter json: `{"modify": [...], "ttl": "30s"}`.
    init(_ json: [UInt8]) throws(SessionError) {
        let document: JSONDocument
        do throws(JSONSyntaxError) {
            document = try JSONDocument(json)
        } catch {
            throw SessionError(
                .invalid, "the body is not JSON (line \(error.line): \(error.reason)): send an object, as {\"modify\": []}.", cause: error)
        }
        guard document.root.kind == .object else {
            throw SessionError(.invalid, "the body is not a JSON object: send one, such as {\"modify\": []}.")
        }
        let members = try OrderMembers(document.root, known: Self.members)
        guard let value = members.value("modify") else {
            throw SessionError(.invalid, "\"modify\" is missing: send a list of rules, or an empty one for no rules.")
        }
        // It would remove all rules, which nobody who sends it may mean.
        guard value.kind != .null else {
            throw members.error("modify", "is null: send a list of rules, or an empty one for no rules.")
        }
        self.rules = try members.made("modify") { try TrafficRules([RuleList(node: RuleNode(value), file: "modify", folder: nil)]) }
        self.timeToLive = try members.string("ttl").map { text throws(SessionError) in try members.made("ttl") { try Age(text) }.seconds }
        if let timeToLive, timeToLive < 1 {
            throw members.error("ttl", "is 0 seconds: send at least 1s, or leave it out for the rest of the session.")
        }
    }
}

/// The traffic rules of an open session, which can be replaced for a time.
final class SessionRulesSwitch: Sendable {
    private struct State: Sendable {
        /// The rules for the rest of the session: those of its order, or others that have replaced them without a time.
        var own: TrafficRules
        var isForATime = false
        var replacements = 0
    }

    private let engine: RuleEngine
    private let state: Guarded<State>

    init(_ engine: RuleEngine) {
        self.engine = engine
        self.state = Guarded(State(own: engine.rules))
    }

    /// - Parameter loop: restores the session's own rules when the time is over.
    func apply(_ modification: SessionModification, on loop: any EventLoop) {
        let (own, number) = self.state.withLock { state in
            // A page may have changed them.
            if !state.isForATime { state.own = self.engine.rules }
            if modification.timeToLive == nil { state.own = modification.rules }
            state.isForATime = modification.timeToLive != nil
            state.replacements += 1
            return (state.own, state.replacements)
        }
        self.engine.replace(modification.rules, settingAside: own)
        guard let seconds = modification.timeToLive else { return }
        _ = loop.scheduleTask(in: .seconds(seconds)) {
            let own: TrafficRules? = self.state.withLock { state in
                // Later rules stay.
                guard state.replacements == number else { return nil }
                state.isForATime = false
                return state.own
            }
            if let own { self.engine.restore(own) }
        }
    }
}
