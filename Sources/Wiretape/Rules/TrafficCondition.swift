internal import TrafficRules

/// Which requests a traffic rule is for: an expression of the filter language, checked by the compiler where it is written in Swift.
///
///     .fault(.reset(), when: .method("POST") && .url("/pay$"))
///
/// A string literal is an expression in the syntax of `when` in `wiretape.yaml`, checked when the cassette is opened.
public struct TrafficCondition: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// In the filter language.
    public let description: String

    public init(_ expression: String) { self.description = expression }
    public init(stringLiteral expression: String) { self.init(expression) }

    /// Regular expressions without case, which match anywhere in their text.
    public static func method(_ pattern: String) -> Self { Self("~m", pattern) }
    public static func url(_ pattern: String) -> Self { Self("~u", pattern) }
    public static func host(_ pattern: String) -> Self { Self("~d", pattern) }
    /// Of a line of the header section, such as `^accept: .*json`.
    public static func header(_ pattern: String) -> Self { Self("~hq", pattern) }
    /// Of the decoded body of the request.
    public static func body(_ pattern: String) -> Self { Self("~bq", pattern) }
    public static let webSocket = Self("~websocket")

    private init(_ term: String, _ pattern: String) {
        self.init("\(term) \"\(pattern.replacing("\"", with: "\\\""))\"")
    }

    public static func && (left: Self, right: Self) -> Self { Self("(\(left.description)) & (\(right.description))") }
    public static func || (left: Self, right: Self) -> Self { Self("(\(left.description)) | (\(right.description))") }
    public static prefix func ! (condition: Self) -> Self { Self("!(\(condition.description))") }
}

/// Which of the requests that match a rule applies to. All conditions must hold: `.first(2).share(0.5)` is half of the first two.
///
/// Equal requests are counted: those that the cassette's match rules compare as equal, by default by method, URL and body. The second
/// attempt of a request is its number 2.
public struct TrafficSelection: Sendable, Hashable {
    private struct Quota: Sendable, Hashable {
        var limit: Int
        var window: Duration
        var place: String?
    }

    private var first: Int?
    private var nth: [Int] = []
    private var every: Int?
    private var share: Double?
    private var start: Duration?
    private var length: Duration?
    private var quota: Quota?
    private var countsAll = false

    public static let all = Self()

    /// The first so many attempts of each request.
    public static func first(_ count: Int) -> Self { Self().first(count) }

    public func first(_ count: Int) -> Self { self.with { $0.first = count } }

    /// The attempts with these numbers, from 1.
    public static func nth(_ numbers: [Int]) -> Self { Self().nth(numbers) }

    public func nth(_ numbers: [Int]) -> Self { self.with { $0.nth = numbers } }

    /// Every so many attempts: `every(3)` is the third, the sixth and so on.
    public static func every(_ count: Int) -> Self { Self().every(count) }

    public func every(_ count: Int) -> Self { self.with { $0.every = count } }

    /// A share of the requests, from 0 to 1, drawn by what each request is. Only 0 is never, and only 1 is always.
    public static func share(_ share: Double) -> Self { Self().share(share) }

    public func share(_ share: Double) -> Self { self.with { $0.share = share } }

    /// Requests that come so long after the cassette was opened, or later, and for a time from then on. By the clock of the session.
    public static func after(_ start: Duration, for length: Duration? = nil) -> Self { Self().after(start, for: length) }

    public func after(_ start: Duration, for length: Duration? = nil) -> Self {
        self.with { ($0.start, $0.length) = (start, length) }
    }

    /// Requests beyond a number in a time, which begins with the first request. By the clock of the session.
    ///
    /// - Parameter place: whose values are counted apart, such as `header:authorization`; nil counts all requests together.
    public static func quota(_ limit: Int, in window: Duration, by place: String? = nil) -> Self {
        Self().quota(limit, in: window, by: place)
    }

    public func quota(_ limit: Int, in window: Duration, by place: String? = nil) -> Self {
        self.with { $0.quota = Quota(limit: limit, window: window, place: place) }
    }

    /// Counts all requests of the rule together, in the order in which they come, whatever they are.
    public var ofTheRule: Self { self.with { $0.countsAll = true } }

    private func with(_ change: (inout Self) -> Void) -> Self {
        var selection = self
        change(&selection)
        return selection
    }

    var members: [(String, RuleNode)] {
        var members: [(String, RuleNode)] = []
        if let first { members.append(("first", .plain("\(first)"))) }
        if !self.nth.isEmpty { members.append(("nth", .list(self.nth.map { .plain("\($0)") }))) }
        if let every { members.append(("every", .plain("\(every)"))) }
        if let share { members.append(("share", .plain(Self.percent(share)))) }
        if let start { members.append(("after", .time(start))) }
        if let length { members.append(("for", .time(length))) }
        if let quota {
            let place: [(String, RuleNode)] = quota.place.map { [("by", .string($0))] } ?? []
            members.append(("quota", .members([("limit", .plain("\(quota.limit)")), ("window", .time(quota.window))] + place)))
        }
        if self.countsAll { members.append(("count", .plain("rule"))) }
        return members
    }

    /// As rules have it: with at most 12 decimals, and no exponent. What is neither 0 nor 1 is rounded to neither.
    private static func percent(_ share: Double) -> String {
        // Refused by the reader of rules, which names the number.
        guard share >= 0, share <= 1 else { return "\(share * 100)%" }
        let (one, whole) = (1_000_000_000_000 as UInt64, 100_000_000_000_000 as UInt64)
        var parts = UInt64((share * Double(whole)).rounded())
        if share > 0 { parts = max(parts, 1) }
        if share < 1 { parts = min(parts, whole - 1) }
        return RuleNode.decimal(whole: parts / one, fraction: parts % one, digits: 12) + "%"
    }
}
