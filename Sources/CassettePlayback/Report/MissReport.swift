internal import CassetteRedaction
public import CassetteStore
internal import TapeBytes

/// Why a request was refused, and which recorded requests are close to it.
///
/// All strings are plain text: text from the request is escaped and truncated, and user information is left out.
public struct MissReport: Sendable, Hashable, CustomStringConvertible {
    public enum Reason: Sendable, Hashable {
        /// There is no cassette to replay from.
        case noCassette
        /// No equal request was recorded.
        case notRecorded
        /// `count` equal requests were recorded, and all of them have been replayed.
        case usedUp(count: Int)
        /// The conversation matched this recorded one until part of the answer had been sent, and then differed.
        case otherMessages(index: Int)
        /// The recorded client left this exchange before its end, but this client did not. The rest of the answer is unknown.
        case clientStayed(index: Int)
        /// The recorder ended before this exchange did, for example because it was killed. The rest of the answer is unknown.
        case recorderEnded(index: Int)
        /// The client does not accept the content coding of this exchange's answer, which cannot be decoded for it.
        case codingNotAccepted(index: Int, coding: String)
        /// This exchange's answer is 101, and the bytes that followed in another protocol than WebSocket were not recorded.
        case switchedProtocols(index: Int)
        /// The cassette has answers of several servers under this URL's host, and this exchange's is not of the one that was asked.
        case otherServer(index: Int, recorded: String, asked: String)
        /// The request came in a tunnel to another server, so the proxy cannot forward it.
        case misdirected(tunnel: String)
        /// The proxy answered with an error of its own before anything could be looked up.
        case ownAnswer(problem: String, next: String)
        /// The request is malformed, so that no recorded one can be equal.
        case malformed(problem: String)
        /// With strict order, another exchange is due.
        case outOfOrder(index: Int, due: Int, dueRequest: String)

        /// For machine-readable reports.
        var name: String {
            switch self {
            case .noCassette: "no-cassette"
            case .notRecorded: "not-recorded"
            case .usedUp: "used-up"
            case .otherMessages: "other-messages"
            case .clientStayed: "client-stayed"
            case .recorderEnded: "recorder-ended"
            case .codingNotAccepted: "coding-not-accepted"
            case .switchedProtocols: "switched-protocols"
            case .otherServer: "other-server"
            case .misdirected: "misdirected"
            case .ownAnswer: "own-answer"
            case .malformed: "malformed"
            case .outOfOrder: "out-of-order"
            }
        }
    }

    /// The reader of the next step.
    public enum Audience: Sendable, Hashable {
        /// A user at a shell, with the options of `wiretape`.
        case commandLine
        /// The author of the program that opened the cassette.
        case program
        /// The client that creates sessions of `wiretape serve`, in terms of the members of its request.
        case session
        /// The author of a test, who sets the mode with `WIRETAPE_MODE`, or in the test itself if it names a mode.
        case test(namesMode: Bool)
    }

    /// Method and URL are truncated to this many bytes of text.
    static let requestLimit = 400
    /// A near request is described by at most this many differences.
    static let differenceLimit = 6
    /// At most this many places are suggested to be ignored. A request that differs in more is a different request.
    private static let ignorableLimit = 3

    /// Method and URL as plain text.
    public var request: String
    public var mode: RecordMode
    public var reason: Reason
    /// At most three, the nearest first.
    public var nearest: [NearRequest]

    /// Path of the cassette; nil if there is none.
    public var cassette: String?
    public var audience: Audience

    public init(
        request: String, mode: RecordMode, reason: Reason, nearest: [NearRequest] = [], cassette: String? = nil,
        audience: Audience = .commandLine
    ) {
        self.cassette = cassette
        self.audience = audience
        self.request = request
        self.mode = mode
        self.reason = reason
        self.nearest = nearest
    }

    /// Several lines, without a final line end. The last one is the next step. About 10 KiB at most.
    public var description: String {
        var lines = [self.headline]
        if !self.nearest.isEmpty { lines.append("nearest recorded requests:") }
        for near in self.nearest {
            lines.append("  exchange \(near.index + 1), \"\(near.request)\"\(near.isUsedUp ? ", used up" : "")")
            lines += near.differences.prefix(Self.differenceLimit).map { "    \($0)" }
            let more = near.differences.count - Self.differenceLimit
            if more > 0 { lines.append("    and \(more) more \(more == 1 ? "difference" : "differences")") }
        }
        lines.append(self.nextStep)
        return lines.joined(separator: "\n")
    }

    private var headline: String {
        switch self.reason {
        case .noCassette: "there is no cassette to answer \"\(self.request)\" from"
        case .notRecorded: "no recorded exchange answers \"\(self.request)\""
        case .otherMessages(let index):
            "\"\(self.request)\" diverged from exchange \(index + 1), which had begun to answer it"
        case .clientStayed(let index):
            "exchange \(index + 1), \"\(self.request)\", ended when its recorded client left, but this client waits for more"
        case .recorderEnded(let index):
            "exchange \(index + 1), \"\(self.request)\", was cut by the end of its recorder, and this client waits for more"
        case .codingNotAccepted(let index, let coding):
            "exchange \(index + 1), \"\(self.request)\", has a body coded as \"\(PlainText.escape(coding.utf8, limit: 40))\", which this client does not accept and which cannot be decoded for it"
        case .switchedProtocols(let index):
            "exchange \(index + 1), \"\(self.request)\", switched protocols, and what passed in the other one is not in the cassette"
        case .otherServer(let index, let recorded, let asked):
            "exchange \(index + 1), \"\(self.request)\", was answered by \(recorded), and this request goes to \(asked): the cassette has answers of several servers under this host"
        case .misdirected(let tunnel):
            "\"\(self.request)\" was asked for in a connection to \"\(tunnel)\" and was not forwarded"
        case .ownAnswer(let problem, _): "\(self.request) was not looked up: \(problem)"
        case .malformed(let problem): "\(self.request) was answered with an error: \(problem)"
        case .usedUp(count: 1): "the only recorded exchange for \"\(self.request)\" is used up"
        case .outOfOrder(let index, let due, let dueRequest):
            "exchange \(index + 1), \"\(self.request)\", was requested while exchange \(due + 1), \"\(dueRequest)\", was due, and the order is strict"
        case .usedUp(let count): "all \(count) recorded exchanges for \"\(self.request)\" are used up"
        }
    }

    /// The places that rules would have to ignore for the nearest request to match, in the grammar of `--ignore`. Empty if no rules can do
    /// that, or if they would ignore too much.
    public var ignorablePlaces: [String] {
        let rules = self.rules
        return rules.patterns.isEmpty && rules.sort.isEmpty ? rules.ignore : []
    }

    /// The rules under which the nearest request would match, including `--pattern` rules for a path with a random segment; empty if there
    /// are none.
    var rules: (ignore: [String], patterns: [String], sort: [String]) {
        guard let near = self.nearest.first else { return ([], [], []) }
        switch self.reason {
        case .notRecorded where !near.isUsedUp, .otherMessages: break
        case .noCassette, .notRecorded, .usedUp, .clientStayed, .recorderEnded, .codingNotAccepted, .switchedProtocols, .otherServer,
            .misdirected, .ownAnswer, .malformed, .outOfOrder:
            return ([], [], [])
        }
        var paths = near.randomPaths
        // If two recorded requests fit, choosing between them would be a guess.
        if self.nearest.dropFirst().contains(where: { $0.randomPaths.contains(where: paths.contains) }) { paths = [] }
        let sort = near.differences.compactMap(Self.sorted)
        let others = near.differences.filter { difference in
            if case .path = difference { paths.isEmpty } else { Self.sorted(difference) == nil }
        }
        let ignore = Self.places(others)
        return ignore.isEmpty && !others.isEmpty ? ([], [], []) : (ignore, paths, sort)
    }

    /// Says which other near requests the same rules make equal: the order decides between their answers. Empty if there are none.
    private func alsoEqual(under rules: (ignore: [String], patterns: [String], sort: [String])) -> String {
        let outermost = Set(IgnorablePlace.outermost(rules.ignore))
        func isCovered(_ difference: RequestDifference, of near: NearRequest) -> Bool {
            if case .path = difference { return near.randomPaths.contains(where: rules.patterns.contains) }
            if let array = Self.sorted(difference) { return rules.sort.contains(array) }
            guard let place = IgnorablePlace.text(difference) ?? (difference.isOfBody ? IgnorablePlace.body : nil) else { return false }
            return Set(IgnorablePlace.outermost(rules.ignore + [place])) == outermost
        }
        let others = self.nearest.dropFirst().filter { near in near.differences.allSatisfy { isCovered($0, of: near) } }
        guard !others.isEmpty else { return "" }
        let numbers = others.map { "\($0.index + 1)" }.joined(separator: " and ")
        return " (and with \(others.count == 1 ? "exchange" : "exchanges") \(numbers), which then answer in recorded order)"
    }

    /// The array whose order makes the difference, in the grammar of `--sort`.
    private static func sorted(_ difference: RequestDifference) -> String? {
        switch difference {
        case .order: IgnorablePlace.text(difference)
        case .message(_, let inner): self.sorted(inner)
        case .within(_, let inner): self.sorted(inner).flatMap { _ in IgnorablePlace.text(difference) }
        default: nil
        }
    }

    /// Empty if not all of the differences can be ignored.
    private static func places(_ differences: [RequestDifference]) -> [String] {
        var places: [String] = []
        for difference in differences {
            guard let place = IgnorablePlace.text(difference) ?? (difference.isOfBody ? IgnorablePlace.body : nil) else { return [] }
            if !places.contains(place) { places.append(place) }
        }
        let outermost = IgnorablePlace.outermost(places)
        guard outermost.count > Self.ignorableLimit else { return outermost }
        let anyElement = IgnorablePlace.ofAnyElement(outermost)
        // Ignoring all elements means ignoring their container.
        guard anyElement.count > Self.ignorableLimit || anyElement.contains(where: { $0.hasSuffix("/*") }) else { return anyElement }
        let fewer = IgnorablePlace.gathered(outermost)
        return fewer.count <= Self.ignorableLimit ? fewer : []
    }

    /// The kind of its reason, for machine-readable answers.
    package var reasonName: String { self.reason.name }

    /// One line: the command, rule or setting that would make the request be answered.
    public var nextStep: String {
        switch self.audience {
        case .commandLine: self.nextCommand
        case .program: self.nextSetting
        case .session: self.nextMember
        case .test(let namesMode): self.nextOption(namesMode)
        }
    }

    private static let ownConnection = "send it in a connection to its own host: leave the Host field to the client's library"

    private static let recordedOrder = "ask the servers in the recorded order, or by names of their own"

    private static let withoutUpgrade = "replace the server by one of your own in the test, or let the client do without this upgrade"

    private static let readable = "send a request that a server of HTTP can read"

    private func nextOption(_ namesMode: Bool) -> String {
        let recording = namesMode ? "pass mode: .newEpisodes" : "run the test with WIRETAPE_MODE=new-episodes"
        switch self.reason {
        case .noCassette: return "to record one, \(namesMode ? "pass mode: .once" : "run the test with WIRETAPE_MODE=once")"
        case .notRecorded: return self.match("to record it, \(recording)")
        case .otherMessages:
            return self.match("to record it anew, \(namesMode ? "pass mode: .all" : "run the test with WIRETAPE_MODE=all")")
        case .clientStayed, .recorderEnded:
            return "to record it whole, \(namesMode ? "pass mode: .all" : "run the test with WIRETAPE_MODE=all")"
        case .codingNotAccepted:
            return "to record it for this client, \(namesMode ? "pass mode: .all" : "run the test with WIRETAPE_MODE=all")"
        case .switchedProtocols: return Self.withoutUpgrade
        case .otherServer: return Self.recordedOrder
        case .misdirected: return Self.ownConnection
        case .ownAnswer(_, let next): return next
        case .malformed: return Self.readable
        case .outOfOrder: return "to accept requests in any order, pass order: .any"
        case .usedUp: return "to repeat the last answer, pass settings with repetition = .last; to record one more, \(recording)"
        }
    }

    private var nextSetting: String {
        let recording = "open the cassette with mode .newEpisodes"
        switch self.reason {
        case .noCassette: return "to record one, open the cassette with mode .once"
        case .notRecorded: return self.match("to record it, \(recording)")
        case .otherMessages: return self.match("to record it anew, open the cassette with mode .all")
        case .clientStayed, .recorderEnded: return "to record it whole, open the cassette with mode .all"
        case .codingNotAccepted: return "to record it for this client, open the cassette with mode .all"
        case .switchedProtocols: return Self.withoutUpgrade
        case .otherServer: return Self.recordedOrder
        case .misdirected: return Self.ownConnection
        case .ownAnswer(_, let next): return next
        case .malformed: return Self.readable
        case .outOfOrder: return "to accept requests in any order, set settings.order to .any"
        case .usedUp: return "to repeat the last answer, set settings.repetition to .last; to record one more, \(recording)"
        }
    }

    /// As members of `POST /sessions`.
    private var nextMember: String {
        let recording = "open the session with \"mode\": \"new-episodes\""
        let anew = "to record it anew, open the session with \"mode\": \"all\""
        switch self.reason {
        case .noCassette: return "to record one, open the session with \"mode\": \"once\""
        case .notRecorded: return self.match("to record it, \(recording)")
        case .otherMessages where self.hasOtherMessage && self.rules.ignore.isEmpty:
            return "to accept its messages in any order, open the session with \"conversation\": \"any\"; \(anew)"
        case .otherMessages: return self.match(anew)
        case .clientStayed, .recorderEnded: return "to record it whole, open the session with \"mode\": \"all\""
        case .codingNotAccepted: return "to record it for this client, open the session with \"mode\": \"all\""
        case .switchedProtocols: return Self.withoutUpgrade
        case .otherServer: return Self.recordedOrder
        case .misdirected: return Self.ownConnection
        case .ownAnswer(_, let next): return next
        case .malformed: return Self.readable
        case .outOfOrder: return "to accept requests in any order, open the session with \"order\": \"any\""
        case .usedUp:
            return "to repeat the last answer, open the session with \"repeat\": \"last\"; to record one more, \(recording)"
        }
    }

    private var nextCommand: String {
        let anew = "to record it anew, run: wiretape record \(self.shownCassette) -- COMMAND"
        switch self.reason {
        case .noCassette: return "to record one, run: wiretape record \(self.shownCassette) -- COMMAND"
        case .notRecorded: return self.match("to record it, run: \(self.recording)")
        case .otherMessages where self.hasOtherMessage && self.rules.ignore.isEmpty:
            return "to accept its messages in any order, run with: --conversation any; \(anew)"
        case .otherMessages: return self.match(anew)
        case .clientStayed, .recorderEnded: return "to record it whole, run: wiretape record \(self.shownCassette) -- COMMAND"
        case .codingNotAccepted: return "to record it for this client, run: wiretape record \(self.shownCassette) -- COMMAND"
        case .switchedProtocols: return Self.withoutUpgrade
        case .otherServer: return Self.recordedOrder
        case .misdirected: return Self.ownConnection
        case .ownAnswer(_, let next): return next
        case .malformed: return Self.readable
        case .outOfOrder: return "to accept requests in any order, run with: --order any"
        case .usedUp: return "to repeat the last answer, run with: --repeat last; to record one more, run: \(self.recording)"
        }
    }

    /// The rules that would match the request with the nearest exchange, if there are any, before another step.
    private func match(_ other: String) -> String {
        let (ignore, patterns, sort) = self.rules
        guard !ignore.isEmpty || !patterns.isEmpty || !sort.isEmpty else { return other }
        let start = "to match it with exchange \(self.nearest[0].index + 1)\(self.alsoEqual(under: (ignore, patterns, sort))), "
        let lists = [(name: "patterns", rules: patterns), ("ignore", ignore), ("sort", sort)].filter { !$0.rules.isEmpty }
        switch self.audience {
        case .commandLine:
            let options = lists.flatMap { list in
                list.rules.map { "--\(list.name == "patterns" ? "pattern" : list.name) \(IgnorablePlace.word($0))" }
            }
            return "\(start)run with: \(options.joined(separator: " ")); \(other)"
        case .program:
            let settings = lists.map { "settings.\($0.name): \(Self.quoted($0.rules))" }
            return "\(start)add to \(settings.joined(separator: ", and to ")); \(other)"
        case .session:
            let members = lists.map { "\"\($0.name)\": [\(Self.quoted($0.rules))]" }
            return "\(start)open the session with \"rules\": {\(members.joined(separator: ", "))}; \(other)"
        case .test:
            let arguments = lists.map { list in
                let rules = "[\(Self.quoted(list.rules))]"
                return list.name == "sort"
                    ? "settings with sort = \(rules)" : "\(list.name == "ignore" ? "ignoring" : list.name): \(rules)"
            }
            return "\(start)pass \(arguments.joined(separator: ", ")); \(other)"
        }
    }

    /// As literals of Swift and JSON.
    private static func quoted(_ rules: [String]) -> String {
        rules.map { "\"\($0.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\"" }.joined(separator: ", ")
    }

    /// Whether a message differs, and not just the number of messages.
    private var hasOtherMessage: Bool {
        for difference in self.nearest.first?.differences ?? [] {
            if case .message = difference { return true }
            if case .grpc = difference { return true }
        }
        return false
    }

    private var recording: String { "wiretape run --mode new-episodes \(self.shownCassette) -- COMMAND" }

    private var shownCassette: String {
        guard let cassette, cassette.utf8.count <= Self.requestLimit else { return "CASSETTE" }
        return IgnorablePlace.isTypeable(cassette) ? IgnorablePlace.word(cassette) : "CASSETTE"
    }

    /// A key as plain text, without its user information and the secrets in its query.
    static func text(_ key: UnsafeRawBufferPointer) -> String {
        let hidden = RequestLayout(key).userInformation
        guard !hidden.isEmpty else {
            return Redactor.withoutTokens(PlainText.escape(ShownSecrets.hidden(inQueryOf: key), limit: Self.requestLimit))
        }
        let shown =
            Array(key[..<hidden.lowerBound].suffix(Self.requestLimit)) + Array("…".utf8)
            + ShownSecrets.hidden(inQueryOf: UnsafeRawBufferPointer(rebasing: key[hidden.upperBound...]))
        return Redactor.withoutTokens(PlainText.escape(shown, limit: Self.requestLimit))
    }
}

/// Hides secrets in a report, by their names and by their appearance: a replay without a recording has no redactor.
enum ShownSecrets {
    private static let ellipsis = Array("…".utf8)

    /// The beginning of a request's key, with "…" for the values of its query that are secrets.
    static func hidden(inQueryOf key: UnsafeRawBufferPointer) -> [UInt8] {
        let key = key.prefix(2 * MissReport.requestLimit)
        guard let mark = key.firstIndex(of: UInt8(ascii: "?")) else { return Array(key) }
        let query = key[(mark + 1)...].split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        return Array(key[...mark]) + query.map { self.hidden(inItem: Array($0)) }.joined(separator: [UInt8(ascii: "&")])
    }

    /// `name=…`; a placeholder is left as it is.
    private static func hidden(inItem item: [UInt8]) -> [UInt8] {
        guard let equals = item.firstIndex(of: UInt8(ascii: "=")), !self.isPlaceholder(item[(equals + 1)...]),
            SecretNames.hides(FormFacets.decoded(Array(item[..<equals]))) || self.holdsSecrets(item[(equals + 1)...])
        else { return item }
        return item[...equals] + self.ellipsis
    }

    /// Whether a value contains secrets that are escaped, such as those of a URL in a query.
    private static func holdsSecrets(_ value: ArraySlice<UInt8>) -> Bool {
        guard value.contains(UInt8(ascii: "%")) else { return false }
        let text = String(decoding: FormFacets.decoded(Array(value)), as: UTF8.self)
        return Redactor.withoutTokens(Redactor.shown(text)) != text
    }

    private static func isPlaceholder(_ value: some Collection<UInt8>) -> Bool {
        value.starts(with: "{{".utf8) || value.starts(with: "%7B%7B".utf8)
            || Array(value.prefix { $0 != UInt8(ascii: "\"") }).withUnsafeBytes(Placeholder.isWhole)
    }

    /// A path with its query.
    private static func hiddenTarget(_ text: String) -> String {
        Redactor.withoutTokens(String(decoding: Array(text.utf8).withUnsafeBytes { self.hidden(inQueryOf: $0) }, as: UTF8.self))
    }

    /// The difference, with "…" for values that are secrets.
    static func hidden(in difference: RequestDifference) -> RequestDifference {
        func item(_ item: String) -> String {
            Redactor.withoutTokens(String(decoding: self.hidden(inItem: Array(item.utf8)), as: UTF8.self))
        }
        func value(_ text: String?, of name: String) -> String? {
            text.map {
                SecretNames.hides(Array(name.utf8)) && !self.isPlaceholder($0.utf8.drop { $0 == UInt8(ascii: "\"") })
                    ? "…" : Redactor.withoutTokens($0)
            }
        }
        switch difference {
        case .queryItemAdded(let added): return .queryItemAdded(item(added))
        case .queryItemRemoved(let removed): return .queryItemRemoved(item(removed))
        case .queryItemChanged(let here, let recorded): return .queryItemChanged(here: item(here), recorded: item(recorded))
        case .header(let name, let here, let recorded):
            return .header(name: name, here: value(here, of: name), recorded: value(recorded, of: name))
        case .json(let pointer, let here, let recorded):
            // The secret's name may be an outer one: "/passwords/0".
            let name = pointer.split(separator: "/").map { String($0).replacing("~1", with: "/").replacing("~0", with: "~") }
                .first { SecretNames.hides(Array($0.utf8)) }
            return .json(pointer: pointer, here: value(here, of: name ?? ""), recorded: value(recorded, of: name ?? ""))
        case .xml(let path, let here, let recorded):
            let name = path.split(separator: "/").map { $0.drop { $0 == "@" }.prefix { $0 != "[" } }.first {
                SecretNames.hides(Array($0.utf8))
            }
            return .xml(
                path: path, here: value(here, of: name.map(String.init) ?? ""), recorded: value(recorded, of: name.map(String.init) ?? ""))
        case .grpc(let message, let field, let here, let recorded):
            let names = field.split(separator: "/").compactMap { $0.split(separator: ":", maxSplits: 1).dropFirst().first }
            let name = names.first { SecretNames.hides(Array($0.utf8)) }.map(String.init) ?? ""
            return .grpc(message: message, field: field, here: value(here, of: name), recorded: value(recorded, of: name))
        case .formField(let name, let here, let recorded):
            return .formField(name: name, here: value(here, of: name), recorded: value(recorded, of: name))
        case .innerQueryItem(let name, let here, let recorded):
            return .innerQueryItem(name: name, here: value(here, of: name), recorded: value(recorded, of: name))
        case .part(let name, .text(let here, let recorded)):
            return .part(name: name, .text(here: value(here, of: name) ?? "", recorded: value(recorded, of: name) ?? ""))
        case .text(let line, let here, let recorded):
            return .text(
                line: line, here: Redactor.withoutTokens(Redactor.shown(here)), recorded: Redactor.withoutTokens(Redactor.shown(recorded)))
        case .parted(let offset, let difference): return .parted(offset: offset, self.hidden(in: difference))
        case .message(let number, let difference): return .message(number, self.hidden(in: difference))
        case .within(let container, let difference): return .within(container, self.hidden(in: difference))
        case .path(let here, let recorded, let edits):
            return .path(here: Redactor.withoutTokens(here), recorded: Redactor.withoutTokens(recorded), edits: edits)
        case .spelling(let part, let here, let recorded):
            return .spelling(part: part, here: self.hiddenTarget(here), recorded: self.hiddenTarget(recorded))
        case .method, .scheme, .userInformation, .host, .port, .queryOrder, .severalValues, .condition, .precondition, .bodyKind, .order,
            .element, .part, .closingDelimiter, .bytes,
            .bodyRemainder, .custom, .messageAdded, .messagesMissing, .remainder:
            return difference
        }
    }
}

/// A recorded request close to one that was missed.
public struct NearRequest: Sendable, Hashable {
    /// The first exchange with this request, in order of request start from 0.
    public var index: Int
    /// Method and URL as plain text.
    public var request: String
    /// Whether all exchanges with this request have been replayed.
    public var isUsedUp: Bool
    /// Never empty.
    public var differences: [RequestDifference]

    public init(index: Int, request: String, isUsedUp: Bool, differences: [RequestDifference]) {
        self.index = index
        self.request = request
        self.isUsedUp = isUsedUp
        self.differences = differences
    }

    /// Patterns for a path that differs only in random segments.
    fileprivate var randomPaths: [String] {
        self.differences.compactMap { difference in
            if case .path(let here, let recorded, _) = difference { PatternSuggestion.randomPath(here, recorded) } else { nil }
        }
    }
}

/// The place of a difference in the grammar of rules, so that a run can ignore it.
enum IgnorablePlace {
    /// The whole body: the smallest place for bytes, and for bodies of different kinds.
    static let body = "body"

    /// The kinds of places in a body.
    private static let kindsInBody = ["json:", "xml:", "grpc:", "form:", "part:", "filename:"]
    /// The kinds whose places are paths.
    private static let kindsOfPaths = ["json:", "xml:"]

    private static func isInBody(_ place: String) -> Bool { self.kindsInBody.contains { place.hasPrefix($0) } }

    /// Drops places that are covered by others.
    static func outermost(_ places: [String]) -> [String] {
        let coversBody = places.contains(self.body)
        return places.filter { place in
            let part = place.hasPrefix("filename:") ? "part:" + place.dropFirst("filename:".count) : nil
            let isCovered = places.contains { other in
                other == part || place.hasPrefix(other + "|") || self.isPath(other) && place.hasPrefix(other + "/")
                    || self.coversNumbered(other, place)
            }
            return !isCovered && !(coversBody && self.isInBody(place))
        }
    }

    /// Whether a place in XML names elements of which the other one has only some: `xml:/a/b` covers `xml:/a/b[2]/c`.
    private static func coversNumbered(_ place: String, _ other: String) -> Bool {
        guard place != other, self.isXML(place), self.isXML(other) else { return false }
        let (names, others) = (place.split(separator: "/"), other.split(separator: "/"))
        guard names.count <= others.count else { return false }
        return zip(names, others).allSatisfy { $0 == $1 || $0 == self.withoutNumber($1) }
    }

    private static func isXML(_ place: String) -> Bool {
        place[(place.lastIndex(of: "|").map { place.index(after: $0) } ?? place.startIndex)...].hasPrefix("xml:/")
    }

    /// `b` for `b[2]`.
    private static func withoutNumber(_ name: Substring) -> Substring {
        guard name.hasSuffix("]"), let open = name.lastIndex(of: "["), open > name.startIndex,
            name[name.index(after: open)...].dropLast().allSatisfy(\.isWholeNumber)
        else { return name }
        return name[..<open]
    }

    /// The places for any element, without duplicates: `json:/items/*/id` covers the id of any item, and `xml:/a/b/c` any `c` in any `b`.
    static func ofAnyElement(_ places: [String]) -> [String] {
        var general: [String] = []
        for place in places {
            let start = place.lastIndex(of: "|").map { place.index(after: $0) } ?? place.startIndex
            let isJSON = place[start...].hasPrefix("json:/")
            let names = place[start...].split(separator: "/", omittingEmptySubsequences: false).map { name in
                !name.isEmpty && name.allSatisfy(\.isWholeNumber) ? "*" : String(name)
            }
            let own =
                if isJSON {
                    String(place[..<start]) + names.joined(separator: "/")
                } else if self.isXML(place) {
                    place.split(separator: "/", omittingEmptySubsequences: false).map(self.withoutNumber).joined(separator: "/")
                } else {
                    place
                }
            if !general.contains(own) { general.append(own) }
        }
        return general
    }

    /// Replaces all places in the body by one: the innermost value that contains them, or the whole body.
    static func gathered(_ places: [String]) -> [String] {
        let inBody = places.filter(self.isInBody)
        guard let first = inBody.first else { return places }
        let around = inBody.dropFirst().reduce(first.split(separator: "/")) { common, place in
            zip(common, place.split(separator: "/")).prefix { $0 == $1 }.map(\.0)
        }
        let common = around.joined(separator: "/")
        let isPath = self.kindsOfPaths.contains { common.contains($0 + "/") }
        return [isPath ? common : self.body] + places.filter { !self.isInBody($0) }
    }

    /// Whether a place is a path, possibly in the content of a part or field.
    private static func isPath(_ place: String) -> Bool {
        let own = place.lastIndex(of: "|").map { place[place.index(after: $0)...] } ?? place[...]
        return self.kindsOfPaths.contains { own.hasPrefix($0) }
    }

    /// `query:page`; nil if no rule can or should ignore the difference, or if its name cannot be typed as shown.
    static func text(_ difference: RequestDifference) -> String? {
        switch difference {
        case .queryItemAdded(let item), .queryItemRemoved(let item): self.item(item)
        case .queryItemChanged(let here, let recorded):
            self.item(here) == self.item(recorded) ? self.item(here) : here.contains("=") || recorded.contains("=") ? nil : "query:"
        case .scheme: "scheme"
        case .port: "port"
        // A client would get the bytes of another range.
        case .header("range", _, _), .header("if-range", _, _), .header("x-ms-range", _, _): nil
        case .header(let name, _, _): self.place("header:", name)
        case .json(let pointer, _, _): self.place("json:", pointer)
        case .order(let pointer, _): self.place("json:", pointer)
        case .element(let array, let index, _): self.place("json:", "\(array)/\(index)")
        case .parted(_, let difference): self.text(difference)
        case .xml(let path, _, _): path.hasPrefix("/") ? self.place("xml:", path) : nil
        case .grpc(_, let field, _, _): field.isEmpty ? nil : self.place("grpc:", field)
        case .formField(let name, _, _): name.isEmpty ? "form:" : self.place("form:", name)
        case .part(let name, .filename(.some, .some)): self.place("filename:", name)
        case .part(let name, _): self.place("part:", name)
        case .innerQueryItem(let name, _, _): name.isEmpty ? "query:" : self.place("query:", name)
        case .message(_, let difference): self.text(difference)
        case .within(let container, let difference):
            // The whole part or field, if there is no place for the difference in it.
            (self.text(difference).flatMap { self.place("\(container)|", $0) } ?? (difference.isOfBody ? container : nil))
                .flatMap { self.place("", $0) }
        // A different host, method or path means a different request, and no rule can make a status a possible answer.
        case .method, .userInformation, .host, .path, .queryOrder, .spelling, .severalValues, .condition, .precondition, .remainder,
            .bodyKind, .closingDelimiter, .text, .bytes,
            .bodyRemainder,
            .custom, .messageAdded, .messagesMissing:
            nil
        }
    }

    /// A place or a path as one word of a shell.
    static func word(_ text: String) -> String { text.utf8.allSatisfy { Self.isPlain($0) } ? text : "'\(text)'" }

    /// Whether a shell needs nothing but quotes to take the text literally. Text that was escaped or truncated for display does not
    /// qualify, as it differs from the original.
    static func isTypeable(_ text: String) -> Bool {
        !text.isEmpty
            && text.unicodeScalars.allSatisfy { scalar in
                scalar.isASCII
                    ? scalar.value >= 0x20 && scalar.value < 0x7F && scalar != "'" && scalar != "\\"
                    : Self.isVisible(scalar)
            }
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator, .spaceSeparator: false
        // An ellipsis stands for what was cut off.
        default: scalar != "\u{FFFD}" && scalar != "…"
        }
    }

    /// Uses the decoded name, as rules do.
    private static func item(_ item: String) -> String? {
        self.place("query:", String(decoding: FormFacets.decoded(Array(item.utf8.prefix { $0 != UInt8(ascii: "=") })), as: UTF8.self))
    }

    /// Placeholders and boundaries in a name differ from run to run.
    private static func place(_ kind: String, _ name: String) -> String? {
        guard self.isTypeable(name), !name.contains("{{") else { return nil }
        // A rule takes "[*]" for any index, and what follows a bar for a place in the value.
        if kind == "query:" || kind == "form:", name.contains("[*]") { return nil }
        return kind == "form:" && name.contains("|") ? nil : kind + name
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "/"), UInt8(ascii: "~"), UInt8(ascii: ":"),
            UInt8(ascii: "@"):
            true
        default: false
        }
    }
}
