public import Foundation
internal import TapeBytes
internal import TrafficRules

/// One traffic rule: which requests it is for, and what it does to them.
///
///     @Test(.cassette("pay", modify: [.fault(.status(429, retryAfter: .seconds(2)), first: 2)]))
///     func paysAtTheThirdAttempt() async throws { … }
///
/// Means the same as a rule under `modify` in `wiretape.yaml`, where docs/traffic-rules.md describes it: the order of effects is fixed, and
/// draws depend on what a request is, never on when it comes. Latencies and stalls use the transport's clock. Rules that are wrong are
/// errors when the cassette is opened.
public struct TrafficModification: Sendable, Hashable {
    enum Source: Sendable, Hashable {
        case rule(RuleNode)
        case file(String)
    }

    let source: Source
    /// Belongs to a suite: some of its tests make no request that the rule matches.
    package var isOfSuite = false

    private init(_ source: Source) { self.source = source }

    /// The rules of a file in YAML or JSON, as for `--modify` on the command line. Files that they name are found from its folder.
    ///
    /// YAML needs the trait `Server` of this package; JSON is always read.
    public static func file(_ path: String) -> Self { Self(.file(path)) }

    // MARK: Answers

    /// What a blocked request gets.
    public enum Block: Sendable, Hashable {
        /// 200 to 599.
        case status(Int)
        /// The connection is closed.
        case close
        /// The connection is reset.
        case reset
    }

    /// - Parameter records: whether the answer is recorded. Only a status is one.
    public static func block(
        _ block: Block = .status(403), records: Bool = false, when condition: TrafficCondition? = nil, name: String? = nil,
        _ selection: TrafficSelection = .all
    ) -> Self {
        let text =
            switch block {
            case .status(let status): "\(status)"
            case .close: "close"
            case .reset: "reset"
            }
        return self.rule([("block", .plain(text))] + self.recording(records), condition, name, selection)
    }

    /// Sends requests to another URL: what the condition's URL matched is replaced, and the rest of the path and query stays.
    public static func mapRemote(
        to url: String, when condition: TrafficCondition? = nil, name: String? = nil, _ selection: TrafficSelection = .all
    ) -> Self {
        self.rule("mapRemote", .string(url), condition, name, selection)
    }

    /// Answers with a file, or with the files of a folder for the rest of the path. The path is relative to the cassette's folder, and lies
    /// in it or below it.
    ///
    /// - Parameter records: whether the answer is recorded.
    public static func mapLocal(
        _ path: String, records: Bool = false, when condition: TrafficCondition? = nil, name: String? = nil,
        _ selection: TrafficSelection = .all
    ) -> Self {
        self.rule([("mapLocal", .string(path))] + self.recording(records), condition, name, selection)
    }

    /// Answers by itself. `{{json:/id}}` and the like in the body are values of the request.
    ///
    /// - Parameters:
    ///   - status: 200 to 599.
    ///   - reason: nil for the usual one.
    ///   - json: JSON text; sets the content type. At most one of `json`, `body`, `data` and `file`.
    ///   - body: text.
    ///   - data: bytes, in which nothing is filled in.
    ///   - file: a path, relative to the cassette's folder, in it or below it. Nothing is filled in.
    ///   - templates: false keeps all braces.
    ///   - records: whether the answer is recorded.
    public static func respond(
        status: Int = 200, reason: String? = nil, headers: [String: String] = [:], json: String? = nil, body: String? = nil,
        data: Data? = nil, file: String? = nil, templates: Bool = true, records: Bool = false,
        when condition: TrafficCondition? = nil, name: String? = nil, _ selection: TrafficSelection = .all
    ) -> Self {
        var members: [(String, RuleNode)] = [("status", .plain("\(status)"))]
        if let reason { members.append(("reason", .string(reason))) }
        if !templates { members.append(("templates", .plain("false"))) }
        if !headers.isEmpty || json != nil {
            var fields = headers.sorted { $0.key < $1.key }.map { ($0.key, RuleNode.string($0.value)) }
            if json != nil, !headers.keys.contains(where: { $0.lowercased() == "content-type" }) {
                fields.append(("content-type", .string("application/json")))
            }
            members.append(("headers", .members(fields)))
        }
        if let json { members.append(("body", .string(json))) }
        if let body { members.append(("body", .string(body))) }
        if let data { members.append(("base64", .string(data.base64EncodedString()))) }
        if let file { members.append(("file", .string(file))) }
        return self.rule([("respond", .members(members))] + self.recording(records), condition, name, selection)
    }

    // MARK: Edits

    /// Changes of a message. Places are those of match rules: `header:NAME`, `query:NAME`, `json:/POINTER`, `form:NAME`, `part:NAME`,
    /// `filename:NAME`, `body`; of a request also `method`, `url`, `path` and `query`, of an answer `status` and `reason`.
    public struct Edit: Sendable, Hashable {
        /// Replaces what a regular expression matches at a place. `$1` in `with` is the first group.
        public struct Replacement: Sendable, Hashable {
            public var place: String
            public var match: String
            public var with: String

            public init(in place: String, match: String, with text: String) {
                self.place = place
                self.match = match
                self.with = text
            }
        }

        /// Places and their new values, which are JSON where a place is JSON: `"7"`, `"true"`, `"\"text\""`.
        public var set: [String: String]
        /// Places whose new values are files, such as `part:photo`. Paths are relative to the cassette's folder, in it or below it.
        public var setFiles: [String: String]
        public var remove: [String]
        public var replace: [Replacement]

        public init(
            set: [String: String] = [:], setFiles: [String: String] = [:], remove: [String] = [], replace: [Replacement] = []
        ) {
            self.set = set
            self.setFiles = setFiles
            self.remove = remove
            self.replace = replace
        }

        var isEmpty: Bool { self.set.isEmpty && self.setFiles.isEmpty && self.remove.isEmpty && self.replace.isEmpty }

        var node: RuleNode {
            var members: [(String, RuleNode)] = []
            let values =
                self.set.map { ($0.key, Self.value($0.value, at: $0.key)) }
                + self.setFiles.map { ($0.key, RuleNode.members([("file", .string($0.value))])) }
            if !values.isEmpty { members.append(("set", .members(values.sorted { $0.0 < $1.0 }))) }
            if !self.remove.isEmpty { members.append(("remove", .list(self.remove.map { .string($0) }))) }
            if !self.replace.isEmpty {
                members.append(
                    (
                        "replace",
                        .list(
                            self.replace.map {
                                .members([("in", .string($0.place)), ("match", .string($0.match)), ("with", .string($0.with))])
                            })
                    ))
            }
            return .members(members)
        }

        /// Text, or for a place in JSON the value that the text is.
        private static func value(_ text: String, at place: String) -> RuleNode {
            guard place.contains("json:"), let document = try? JSONDocument(Array(text.utf8)) else { return .string(text) }
            return RuleNode(document.root)
        }
    }

    /// Edits requests on their way to the origin, and answers on their way to the client. A recording has both as they were.
    public static func edit(
        request: Edit = Edit(), response: Edit = Edit(), when condition: TrafficCondition? = nil, name: String? = nil,
        _ selection: TrafficSelection = .all
    ) -> Self {
        var actions: [(String, RuleNode)] = []
        if !request.isEmpty { actions.append(("request", request.node)) }
        if !response.isEmpty { actions.append(("response", response.node)) }
        return self.rule(actions, condition, name, selection)
    }

    // MARK: Pace

    /// Named networks.
    public enum Profile: String, Sendable, Hashable, CaseIterable {
        case dial, edge
        case secondGeneration = "2g"
        case slowThirdGeneration = "slow-3g"
        case thirdGeneration = "3g"
        case fastThirdGeneration = "fast-3g"
        case fourthGeneration = "4g"
        case lte, dsl, cable, fibre, satellite
    }

    /// A latency with a long tail.
    public struct Lognormal: Sendable, Hashable {
        /// Half of the draws are below it.
        public var median: Duration
        /// The standard deviation of the logarithm, above 0 and up to 5.
        public var sigma: Double

        public init(median: Duration, sigma: Double) {
            self.median = median
            self.sigma = sigma
        }
    }

    /// Who shares a rate.
    public enum Scope: String, Sendable, Hashable, CaseIterable {
        case request
        /// In a test as `session`, since requests are not told apart by their connections.
        case connection
        case host
        case session
    }

    /// Slows exchanges down.
    ///
    /// - Parameters:
    ///   - latency: until the first byte of the answer.
    ///   - jitter: added to the latency or taken from it, evenly.
    ///   - lognormal: in place of `latency` and `jitter`.
    ///   - down: bytes a second of the answer.
    ///   - up: bytes a second of the request.
    ///   - burst: bytes that pass at once after a silence; nil for what the rate allows in 50 ms, and at least 1,460.
    ///   - each: who shares the rates.
    public static func pace(
        _ profile: Profile? = nil, latency: Duration? = nil, jitter: Duration? = nil, lognormal: Lognormal? = nil, down: Int? = nil,
        up: Int? = nil, burst: Int? = nil, each: Scope? = nil,
        when condition: TrafficCondition? = nil, name: String? = nil, _ selection: TrafficSelection = .all
    ) -> Self {
        var members: [(String, RuleNode)] = []
        if let profile { members.append(("profile", .string(profile.rawValue))) }
        if let latency { members.append(("latency", .time(latency))) }
        if let jitter { members.append(("jitter", .time(jitter))) }
        if let lognormal {
            members.append(("lognormal", .members([("median", .time(lognormal.median)), ("sigma", .plain("\(lognormal.sigma)"))])))
        }
        if let down { members.append(("down", .plain("\(down)B/s"))) }
        if let up { members.append(("up", .plain("\(up)B/s"))) }
        if let burst { members.append(("burst", .plain("\(burst)B"))) }
        if let each { members.append(("each", .plain(each.rawValue))) }
        return self.rule("pace", .members(members), condition, name, selection)
    }

    // MARK: Faults

    /// What goes wrong with an exchange.
    public struct Fault: Sendable, Hashable {
        /// How much of the answer passes first.
        public enum Place: Sendable, Hashable {
            case bytes(Int)
            /// From 0 to 1, of the body.
            case share(Double)
            case events(Int)
            case messages(Int)
        }

        /// Where in the answer the fault comes, if no place in the body is given.
        public enum Part: String, Sendable, Hashable, CaseIterable { case head, body, trailers }

        let members: [Member]

        struct Member: Sendable, Hashable {
            var name: String
            var value: RuleNode
        }

        private init(_ kind: String?, _ members: [(String, RuleNode)] = [], after place: Place? = nil, in part: Part? = nil) {
            var all = members
            if let part { all.append(("in", .plain(part.rawValue))) }
            if let kind { all.insert(("kind", .string(kind)), at: 0) }
            switch place {
            case .bytes(let count): all.append(("after", .plain("\(count)B")))
            case .share(let share): all.append(("after", .plain("\((share * 1000).rounded() / 10)%")))
            case .events(let count): all.append(("after", .plain("\(count) events")))
            case .messages(let count): all.append(("after", .plain("\(count) messages")))
            case nil: break
            }
            self.members = all.map { Member(name: $0.0, value: $0.1) }
        }

        /// An answer with this status in place of the real one.
        public static func status(_ status: Int, retryAfter: Duration? = nil) -> Self {
            Self(nil, [("status", .plain("\(status)"))] + (retryAfter.map { [("retryAfter", .time($0))] } ?? []))
        }

        /// A call of gRPC ends with this status.
        ///
        /// - Parameter status: a name or a number, such as `UNAVAILABLE` or `14`.
        public static func grpc(_ status: String, message: String? = nil) -> Self {
            Self(nil, [("grpc", .string(status))] + (message.map { [("message", .string($0))] } ?? []))
        }

        /// The connection is closed before the answer, or within it.
        public static func close(after place: Place? = nil, in part: Part? = nil) -> Self { Self("close", after: place, in: part) }

        /// A WebSocket is closed by a close frame, after so many messages.
        ///
        /// - Parameter code: 1000 to 4999 (RFC 6455, 7.4); nil for a frame without a code.
        public static func webSocketClose(code: Int?, reason: String? = nil, after messages: Int? = nil) -> Self {
            Self(
                "close",
                [("code", .plain(code.map { "\($0)" } ?? "none"))] + (reason.map { [("reason", .string($0))] } ?? []),
                after: messages.map { .messages($0) })
        }

        /// The connection is reset before the answer, or within it.
        ///
        /// - Parameters:
        ///   - code: of HTTP/2, a name or a number; nil for CANCEL. The client of a test gets the same failure for each.
        ///   - ofConnection: on HTTP/2 the connection ends, and not only the stream.
        public static func reset(
            after place: Place? = nil, in part: Part? = nil, code: String? = nil, ofConnection: Bool = false
        ) -> Self {
            Self(
                "reset",
                (code.map { [("code", .string($0))] } ?? []) + (ofConnection ? [("scope", .plain("connection"))] : []), after: place,
                in: part)
        }
        /// The origin refuses the connection.
        public static let refuse = Self("refuse")
        /// The host has no address.
        public static let dns = Self("dns")
        /// The TLS handshake fails.
        public static let tls = Self("tls")
        /// The TLS handshake fails with an alert.
        ///
        /// - Parameter alert: a name or a number, such as `certificate_expired`. The client of a test gets the same failure for each.
        public static func tls(alert: String) -> Self { Self("tls", [("alert", .string(alert))]) }
        /// Nothing more comes, ever.
        public static func timeout(after place: Place? = nil, in part: Part? = nil) -> Self { Self("timeout", after: place, in: part) }
        /// Nothing comes for a time, and then the rest.
        public static func stall(for time: Duration, after place: Place? = nil, in part: Part? = nil) -> Self {
            Self("stall", [("for", .time(time))], after: place, in: part)
        }
        /// The body ends early, and its framing says that it is whole. In the middle unless a place is given.
        public static func truncate(after place: Place? = nil, in part: Part? = nil) -> Self { Self("truncate", after: place, in: part) }
        /// The body ends early, and its framing shows it. In the middle unless a place is given.
        public static func cut(after place: Place? = nil, in part: Part? = nil) -> Self { Self("cut", after: place, in: part) }
        /// Bytes that break the framing.
        public static func garbage(after place: Place? = nil, in part: Part? = nil) -> Self { Self("garbage", after: place, in: part) }
        /// One bit of the body is inverted.
        public static let corrupt = Self("corrupt")
        /// The body comes in pieces of so many bytes, from a place on.
        public static func slice(bytes: Int = 1, delay: Duration = .zero, after place: Place? = nil) -> Self {
            Self("slice", [("bytes", .plain("\(bytes)")), ("delay", .time(delay))], after: place)
        }
        /// An event comes after the one that followed it.
        public static func reorder(after place: Place? = nil) -> Self { Self("reorder", after: place) }
        /// An event comes twice.
        public static func `repeat`(after place: Place? = nil) -> Self { Self("repeat", after: place) }
        /// An event does not come.
        public static func drop(after place: Place? = nil) -> Self { Self("drop", after: place) }
    }

    public static func fault(
        _ fault: Fault, when condition: TrafficCondition? = nil, name: String? = nil, _ selection: TrafficSelection = .all
    ) -> Self {
        self.rule("fault", .members(fault.members.map { ($0.name, $0.value) }), condition, name, selection)
    }

    /// A fault of the first attempts of each request.
    public static func fault(_ fault: Fault, when condition: TrafficCondition? = nil, name: String? = nil, first count: Int) -> Self {
        self.fault(fault, when: condition, name: name, .first(count))
    }

    // MARK: The rule

    private static func recording(_ records: Bool) -> [(String, RuleNode)] { records ? [("record", .plain("true"))] : [] }

    private static func rule(
        _ action: String, _ value: RuleNode, _ condition: TrafficCondition?, _ name: String?, _ selection: TrafficSelection
    ) -> Self {
        self.rule([(action, value)], condition, name, selection)
    }

    private static func rule(
        _ actions: [(String, RuleNode)], _ condition: TrafficCondition?, _ name: String?, _ selection: TrafficSelection
    ) -> Self {
        var members: [(String, RuleNode)] = []
        if let name { members.append(("name", .string(name))) }
        if let condition { members.append(("when", .string(condition.description))) }
        return Self(.rule(.members(members + selection.members + actions)))
    }
}

extension RuleNode {
    static func string(_ text: String) -> RuleNode { RuleNode(line: 1, content: .text(text), isString: true) }
    /// A number or the like.
    static func plain(_ text: String) -> RuleNode { RuleNode(line: 1, content: .text(text)) }
    static func list(_ nodes: [RuleNode]) -> RuleNode { RuleNode(line: 1, content: .list(nodes)) }
    static func members(_ members: [(String, RuleNode)]) -> RuleNode {
        RuleNode(line: 1, content: .members(members.map { Member(name: $0.0, line: 1, value: $0.1) }))
    }
    /// In seconds, to the nanosecond.
    static func time(_ time: Duration) -> RuleNode {
        let (seconds, attoseconds) = time.components
        // Refused by the reader of rules, which names the member.
        guard seconds >= 0, attoseconds >= 0 else { return .plain("\(time)") }
        return .plain(Self.decimal(whole: UInt64(seconds), fraction: UInt64(attoseconds / 1_000_000_000), digits: 9) + "s")
    }

    /// A number as rules have it: without an exponent, and without zeros at its end.
    ///
    /// - Parameter digits: of the fraction, which is a whole number with up to so many.
    static func decimal(whole: UInt64, fraction: UInt64, digits: Int) -> String {
        guard fraction > 0 else { return "\(whole)" }
        let text = "\(fraction)"
        var decimals = String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
        while decimals.hasSuffix("0") { decimals.removeLast() }
        return "\(whole).\(decimals)"
    }
}
