internal import TapeBytes

/// Which of the requests that a rule matches it applies to: all conditions must hold.
struct RuleDraw: Sendable {
    var share: Quantity.Share?
    /// As it was written.
    var shareText = ""
    var first: Int?
    var nth: [Int] = []
    var every: Int?
    /// Since the run began.
    var after: Duration?
    /// How long the rule applies, from `after` on.
    var length: Duration?
    var quota: Quota?
    var counting = Counting.request

    /// What `first`, `nth`, `every` and the draws count.
    enum Counting: String, CaseIterable, Sendable {
        /// Equal requests: method, redacted URL and body.
        case request
        /// All requests that the rule matches, in the order in which they come.
        case rule
    }

    /// How many requests are allowed in a time, by a value of the request.
    struct Quota: Sendable {
        var limit: Int
        var window: Duration
        /// Nil if all requests count together.
        var by: RequestValue?
    }

    /// The largest number of a request.
    private static let countLimit = 1_000_000_000
    private static let nthLimit = 1000

    static let names = ["share", "first", "nth", "every", "after", "for", "quota", "count"]

    init() {}

    /// Reads the conditions among the members.
    ///
    /// - Parameter names: those that are conditions here.
    init(_ members: RuleMembers, names: [String]) throws(SettingSyntaxError) {
        func isAsked(_ name: String) -> Bool { names.contains(name) && members.has(name) }
        if isAsked("share"), let text = try members.text("share") {
            guard let share = Quantity.share(text) else {
                throw members.error(
                    "share", "\"share\" is \"\(RuleReader.shown(text))\"; write a percentage from 0% to 100%, for example 5% or 0.1%")
            }
            self.share = share
            self.shareText = text
        }
        if isAsked("first") { self.first = try members.integer("first", 1...Self.countLimit) }
        if isAsked("every") { self.every = try members.integer("every", 1...Self.countLimit) }
        if isAsked("nth"), let node = members["nth"] {
            let nodes: [RuleNode]
            if case .list(let list) = node.content { nodes = list } else { nodes = [node] }
            guard !nodes.isEmpty, nodes.count <= Self.nthLimit else {
                throw members.error("nth", "\"nth\" needs from 1 to \(Self.nthLimit) numbers, for example [1, 3]")
            }
            for node in nodes { self.nth.append(try members.reader.integer(node, "\"nth\"", 1...Self.countLimit)) }
        }
        if isAsked("after") { self.after = try members.duration("after") }
        if isAsked("for") { self.length = try members.duration("for") }
        if isAsked("count") { self.counting = try members.choice("count", Counting.self) ?? .request }
        if isAsked("quota"), let node = members["quota"] { self.quota = try Self.quota(node, members.reader) }
    }

    private static func quota(_ node: RuleNode, _ reader: RuleReader) throws(SettingSyntaxError) -> Quota {
        let members = try reader.members(node, of: "\"quota\"", known: ["limit", "window", "by"])
        guard let limit = try members.integer("limit", 0...self.countLimit), let window = try members.duration("window") else {
            throw members.error("\"quota\" needs \"limit\" and \"window\", for example { limit: 100, window: 60s }")
        }
        guard window >= .milliseconds(1) else {
            throw members.error("window", "\"window\" of \"quota\" is 0; write a time, for example 60s")
        }
        var by: RequestValue?
        if let text = try members.text("by") {
            guard let value = RequestValue(text) else {
                throw members.error(
                    "by", "\"by\" is \"\(RuleReader.shown(text))\"; write a place in the request: \(RequestValue.grammar)")
            }
            by = value
        }
        return Quota(limit: limit, window: window, by: by)
    }

    /// These conditions and others of the same rule. Throws the name of one that both have.
    func adding(_ other: RuleDraw, _ error: (String) -> SettingSyntaxError) throws(SettingSyntaxError) -> RuleDraw {
        var sum = self
        func both(_ name: String) -> SettingSyntaxError { error("\"\(name)\" appears in the rule and in its action: remove one of them") }
        if let share = other.share {
            guard self.share == nil else { throw both("share") }
            (sum.share, sum.shareText) = (share, other.shareText)
        }
        if let first = other.first {
            guard self.first == nil else { throw both("first") }
            sum.first = first
        }
        if !other.nth.isEmpty {
            guard self.nth.isEmpty else { throw both("nth") }
            sum.nth = other.nth
        }
        if let every = other.every {
            guard self.every == nil else { throw both("every") }
            sum.every = every
        }
        if let after = other.after {
            guard self.after == nil else { throw both("after") }
            sum.after = after
        }
        if let length = other.length {
            guard self.length == nil else { throw both("for") }
            sum.length = length
        }
        if let quota = other.quota {
            guard self.quota == nil else { throw both("quota") }
            sum.quota = quota
        }
        if other.counting == .rule { sum.counting = .rule }
        return sum
    }

    /// Whether requests are counted or drawn by what they are.
    var countsRequests: Bool { self.share != nil || self.first != nil || !self.nth.isEmpty || self.every != nil }

    // MARK: Deciding

    /// Why the rule does not apply to a request that it matches.
    enum Problem: Sendable, Hashable {
        case tooEarly
        case tooLate
        /// With the number of the request.
        case notFirst(Int)
        case notNth(Int)
        case notEvery(Int)
        case notDrawn(Int, draw: UInt64)
        case withinQuota
    }

    /// Nil if the time is right.
    func problem(at now: Duration) -> Problem? {
        let start = self.after ?? .zero
        if now < start { return .tooEarly }
        if let length = self.length, now >= start + length { return .tooLate }
        return nil
    }

    /// Nil if the rule applies.
    ///
    /// - Parameters:
    ///   - ordinal: from 1.
    ///   - draw: asked for only if there is a share.
    func problem(ordinal: Int, draw: () -> UInt64) -> Problem? {
        if let first = self.first, ordinal > first { return .notFirst(ordinal) }
        if !self.nth.isEmpty, !self.nth.contains(ordinal) { return .notNth(ordinal) }
        if let every = self.every, ordinal % every != 0 { return .notEvery(ordinal) }
        if let share = self.share {
            let draw = draw()
            if !share.takes(draw) { return .notDrawn(ordinal, draw: draw) }
        }
        return nil
    }

    /// A problem in words.
    func text(_ problem: Problem) -> String {
        func request(_ ordinal: Int) -> String {
            self.counting == .request ? "request \(ordinal) of its kind" : "request \(ordinal) of the rule"
        }
        let start = self.after ?? .zero
        switch problem {
        case .tooEarly: return "the rule begins \(Quantity.text(start)) after the run began"
        case .tooLate: return "the rule ended \(Quantity.text(start + (self.length ?? .zero))) after the run began"
        case .notFirst(let ordinal): return "it is \(request(ordinal)), and the rule is for the first \(self.first ?? 0)"
        case .notNth(let ordinal):
            return "it is \(request(ordinal)), and the rule is for \(self.nth.map(String.init).joined(separator: ", "))"
        case .notEvery(let ordinal): return "it is \(request(ordinal)), and the rule is for each \(self.every ?? 0)th"
        case .notDrawn(let ordinal, let draw):
            return "\(request(ordinal)) draws \(Self.percent(draw)), which is not below \(self.shareText)"
        case .withinQuota: return "the quota of \(self.quota?.limit ?? 0) is not used up"
        }
    }

    /// For people alone: the decision compares whole numbers.
    private static func percent(_ draw: UInt64) -> String {
        let hundredths = Int(Double(draw) / 18_446_744_073_709_551_616.0 * 10_000)
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)%"
    }
}

extension RuleDraw {
    /// The conditions in short, for example `share 5%, first 2`; nil if there are none.
    var description: String? {
        var words: [String] = []
        if self.share != nil { words.append("share \(self.shareText)") }
        if let first = self.first { words.append("first \(first)") }
        if !self.nth.isEmpty { words.append("nth \(self.nth.map(String.init).joined(separator: ", "))") }
        if let every = self.every { words.append("every \(every)") }
        if self.after != nil || self.length != nil {
            let length = self.length.map { " for \(Quantity.text($0))" } ?? ""
            words.append("from \(Quantity.text(self.after ?? .zero)) on\(length)")
        }
        if let quota = self.quota {
            words.append("quota \(quota.limit) in \(Quantity.text(quota.window))\(quota.by.map { " by \($0)" } ?? "")")
        }
        if self.counting == .rule, !words.isEmpty { words.append("of the rule") }
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }
}
