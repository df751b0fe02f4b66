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

/// Which of the requests that match a rule applies to.
///
/// Equal requests are counted: those with the same method, URL and body. The second attempt of a request is its number 2.
public struct TrafficSelection: Sendable, Hashable {
    private var first: Int?
    private var nth: [Int] = []
    private var every: Int?
    private var share: Double?
    private var countsAll = false

    public static let all = Self()

    /// The first so many attempts of each request.
    public static func first(_ count: Int) -> Self {
        var selection = Self()
        selection.first = count
        return selection
    }

    /// The attempts with these numbers, from 1.
    public static func nth(_ numbers: [Int]) -> Self {
        var selection = Self()
        selection.nth = numbers
        return selection
    }

    /// Every so many attempts: `every(3)` is the third, the sixth and so on.
    public static func every(_ count: Int) -> Self {
        var selection = Self()
        selection.every = count
        return selection
    }

    /// A share of the requests, from 0 to 1, drawn by what each request is.
    public static func share(_ share: Double) -> Self {
        var selection = Self()
        selection.share = share
        return selection
    }

    /// Counts all requests of the rule together, in the order in which they come, whatever they are.
    public var ofTheRule: Self {
        var selection = self
        selection.countsAll = true
        return selection
    }

    var members: [(String, RuleNode)] {
        var members: [(String, RuleNode)] = []
        if let first { members.append(("first", .plain("\(first)"))) }
        if !self.nth.isEmpty { members.append(("nth", .list(self.nth.map { .plain("\($0)") }))) }
        if let every { members.append(("every", .plain("\(every)"))) }
        if let share { members.append(("share", .plain("\((share * 1e7).rounded() / 1e5)%"))) }
        if self.countsAll { members.append(("count", .plain("rule"))) }
        return members
    }
}
