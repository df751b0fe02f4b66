internal import TapeBytes

/// One rule: which requests it is for, and what it does to them.
package struct TrafficRule: Sendable {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case block, mapRemote, mapLocal, respond
        /// `request`, `response` or both.
        case edit
        case pause, pace, fault
    }

    /// Where the rule is written.
    package struct Place: Sendable, Hashable, CustomStringConvertible {
        package var file: String
        /// From 1.
        package var line: Int

        package init(file: String, line: Int) {
            self.file = file
            self.line = line
        }

        package var description: String { "\"\(self.file)\" line \(self.line)" }
    }

    enum Action: Sendable {
        case block(Block)
        case mapRemote(RemoteMap)
        case mapLocal(LocalMap)
        case respond(RespondRule)
        case edit(request: [EditStep], response: [EditStep])
        case pause(PauseRule)
        case pace(PaceRule)
        case fault(FaultRule)
    }

    /// `rule 2` if the rule has no name of its own.
    package internal(set) var name: String
    /// The text of `when`; nil for all requests.
    package var condition: String? { self.when?.text }
    package let kind: Kind
    package internal(set) var place: Place
    /// Whether the answers of `block`, `mapLocal` and `respond` are recorded.
    package let isRecorded: Bool
    /// False for a rule that is switched off: it is listed, and does nothing.
    package var isOn: Bool

    let when: RuleCondition?
    let action: Action
    let draw: RuleDraw
    var seed: UInt64?
    /// The rule as it was written.
    package let node: RuleNode
    /// Of the list that the rule came with.
    let folder: String?

    /// Whether it is a fault of TLS, which belongs to a connection and not to a request.
    var breaksTLS: Bool {
        if case .fault(let fault) = self.action, case .tls = fault.kind { true } else { false }
    }

    private static let actionNames = ["block", "mapRemote", "mapLocal", "respond", "request", "response", "pause", "pace", "fault"]
    static let memberNames = ["name", "when", "enabled", "record"] + RuleDraw.names + Self.actionNames
    private static let nameLimit = 100

    /// - Parameter number: among all rules, from 1.
    init(_ node: RuleNode, number: Int, seed: UInt64?, _ reader: RuleReader) throws(SettingSyntaxError) {
        let members = try reader.members(node, of: "a rule", known: Self.memberNames)
        self.place = Place(file: reader.file, line: node.line)
        self.node = node
        self.folder = reader.folder
        self.seed = seed
        self.name = try Self.name(members) ?? "rule \(number)"
        self.isOn = try members.flag("enabled") ?? true
        let when: RuleCondition?
        if let node = members["when"] { when = try RuleCondition(node, reader) } else { when = nil }
        self.when = when
        (self.kind, self.action, self.draw) = try Self.action(members, when)
        self.isRecorded = try members.flag("record") ?? false
        if self.breaksTLS, let problem = when?.problemOfTunnel { throw members.error("when", problem) }
        if self.isRecorded, case .block(let block) = self.action {
            switch block {
            case .status: break
            case .close, .reset:
                throw members.error(
                    "record",
                    "\"record\" is for answers, and \"block: \(block == .close ? "close" : "reset")\" gives none: remove it, or block with a status"
                )
            }
        }
        switch self.kind {
        case .block, .mapLocal, .respond: break
        case .mapRemote, .edit, .pause, .pace, .fault:
            guard !members.has("record") else {
                throw members.error(
                    "record",
                    "\"record\" is for \"block\", \"mapLocal\" and \"respond\": what the origin answers is always recorded; remove it")
            }
        }
    }

    private static func name(_ members: RuleMembers) throws(SettingSyntaxError) -> String? {
        guard let name = try members.text("name") else { return nil }
        guard !name.isEmpty, name.utf8.count <= self.nameLimit, name.utf8.allSatisfy({ $0 >= 32 && $0 != 127 }) else {
            throw members.error("name", "\"name\" needs from 1 to \(self.nameLimit) characters on one line")
        }
        return name
    }

    private static func action(_ members: RuleMembers, _ when: RuleCondition?) throws(SettingSyntaxError) -> (Kind, Action, RuleDraw) {
        let reader = members.reader
        let names = self.actionNames.filter(members.has)
        // A request and its answer may be edited by one rule.
        guard let name = names.first else {
            throw members.error("the rule does nothing: add one of \(self.actionNames.joined(separator: ", "))")
        }
        guard names.count == 1 || names == ["request", "response"] else {
            throw members.error(
                names[1], "the rule has both \"\(names[0])\" and \"\(names[1])\": write two rules, each with the same \"when\"")
        }
        var conditions = RuleDraw.names
        // How long a breakpoint waits, not how long the rule holds.
        if name == "pause" { conditions.removeAll { $0 == "for" } }
        let draw = try RuleDraw(members, names: conditions)
        guard let node = members[name] else { throw members.error("the rule does nothing") }
        switch name {
        case "block": return (.block, .block(try Block(node, reader)), draw)
        case "mapRemote": return (.mapRemote, .mapRemote(try RemoteMap(node, condition: when, reader)), draw)
        case "mapLocal": return (.mapLocal, .mapLocal(try LocalMap(node, condition: when, reader)), draw)
        case "respond": return (.respond, .respond(try RespondRule(node, reader)), draw)
        case "pause": return (.pause, .pause(try PauseRule(node, wait: try members.duration("for"), reader)), draw)
        case "pace": return (.pace, .pace(try PaceRule(node, reader)), draw)
        case "fault":
            let (fault, own) = try FaultRule.read(node, reader)
            return (.fault, .fault(fault), try draw.adding(own) { members.error("fault", $0) })
        default:
            let request: [EditStep]
            let response: [EditStep]
            if let node = members["request"] { request = try EditStep.read(node, .request, reader) } else { request = [] }
            if let node = members["response"] { response = try EditStep.read(node, .response, reader) } else { response = [] }
            return (.edit, .edit(request: request, response: response), draw)
        }
    }

    // MARK: What it needs

    /// Whether something is drawn or counted by what the request is.
    var identifiesRequests: Bool {
        guard self.draw.counting == .request else { return false }
        if self.draw.countsRequests { return true }
        return switch self.action {
        case .pace(let pace): pace.isDrawn
        case .fault(let fault): fault.kind == .corrupt || fault.kind == .garbage
        case .block, .mapRemote, .mapLocal, .respond, .edit, .pause: false
        }
    }

    /// Whether the rule, once it applies, is of use only with the body of the request. For a draw, its beginning will do.
    var actionNeedsBody: Bool { self.identifiesRequests || self.actionReadsBody }

    /// Whether the rule, once it applies, looks into the body of the request.
    var actionReadsBody: Bool {
        if self.draw.quota?.by?.isInBody == true { return true }
        return switch self.action {
        case .respond(let respond): respond.needsBody
        // Edits take the body when it is sent.
        case .block, .mapRemote, .mapLocal, .edit, .pause, .pace, .fault: false
        }
    }

    /// Whether the body of the request is of use before the rule applies: somebody wants to see it.
    var showsBody: Bool {
        guard case .pause(let pause) = self.action else { return false }
        return pause.message == .request || pause.message == .both
    }
}
