/// Why a request was refused, and which recorded requests come close to it.
///
/// All its strings are plain text: what came from the request is escaped and cut, and user information is left out.
public struct MissReport: Sendable, Hashable, CustomStringConvertible {
    public enum Reason: Sendable, Hashable {
        /// There is no cassette to replay from.
        case noCassette
        /// No equal request was recorded.
        case notRecorded
        /// So many equal ones were recorded, and all have been replayed.
        case usedUp(count: Int)
        /// With strict order, another exchange is due.
        case outOfOrder(index: Int, due: Int, dueRequest: String)
    }

    /// Method and URL are cut to so many octets of text.
    static let requestLimit = 400
    /// A near request is described by so many differences at most.
    static let differenceLimit = 6

    /// Method and URL as plain text.
    public var request: String
    public var mode: RecordMode
    public var reason: Reason
    /// At most three, the nearest first.
    public var nearest: [NearRequest]

    public init(request: String, mode: RecordMode, reason: Reason, nearest: [NearRequest] = []) {
        self.request = request
        self.mode = mode
        self.reason = reason
        self.nearest = nearest
    }

    /// Several lines without a line end behind the last, which is the next step. At most some 10 KiB.
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
        case .noCassette: "there is no cassette to answer \"\(self.request)\" from (mode \(self.mode.rawValue))"
        case .notRecorded: "no recorded exchange answers \"\(self.request)\" (mode \(self.mode.rawValue))"
        case .usedUp(count: 1): "the one recorded exchange for \"\(self.request)\" is used up (mode \(self.mode.rawValue))"
        case .outOfOrder(let index, let due, let dueRequest):
            "exchange \(index + 1), \"\(self.request)\", was asked for where exchange \(due + 1), \"\(dueRequest)\", is due (mode \(self.mode.rawValue), order strict)"
        case .usedUp(let count): "all \(count) recorded exchanges for \"\(self.request)\" are used up (mode \(self.mode.rawValue))"
        }
    }

    private var nextStep: String {
        switch self.reason {
        case .noCassette: "to make one, run: wiretape record …"
        case .notRecorded: "to record it, run: wiretape run --mode new-episodes …"
        case .outOfOrder: "to take requests in any order, run with: --order any"
        case .usedUp: "to record one more, run: wiretape run --mode new-episodes …"
        }
    }

    /// A key as plain text without its user information.
    static func text(_ key: UnsafeRawBufferPointer) -> String {
        let hidden = RequestLayout(key).userInformation
        guard !hidden.isEmpty else { return PlainText.escape(key, limit: Self.requestLimit) }
        let shown =
            Array(key[..<hidden.lowerBound].suffix(Self.requestLimit)) + Array("…".utf8)
            + Array(key[hidden.upperBound...].prefix(Self.requestLimit))
        return PlainText.escape(shown, limit: Self.requestLimit)
    }
}
