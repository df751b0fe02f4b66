internal import Platform
internal import TapeBytes

/// How fast an exchange is: what all rules of pace together make of it.
package struct Pace: Sendable, Hashable {
    /// Until the first byte of the answer, drawn for this exchange.
    package var latency: Duration
    /// Rates of the answer. All of them hold.
    package var down: [TokenRate]
    /// Rates of the request. All of them hold.
    package var up: [TokenRate]
    /// The indices of the rules.
    package var rules: [Int]
}

/// A token bucket: how many bytes a second, and how many at once.
package struct TokenRate: Sendable, Hashable {
    /// Which bytes share a bucket.
    package enum Scope: Sendable, Hashable {
        case request
        case connection
        case host(String)
        case session
    }

    package var bytesPerSecond: Double
    /// The size of the bucket in bytes, which is full at the beginning.
    package var burst: Int
    package var scope: Scope
    /// The index of the rule: each rule has buckets of its own.
    package var rule: Int
}

/// What one rule says of an exchange's pace.
struct PaceRule: Sendable {
    enum Each: String, CaseIterable, Sendable { case request, connection, host, session }

    /// A latency with a long tail: half of all draws are below the median.
    struct LogNormal: Sendable {
        var median: Double
        /// The standard deviation of the logarithm.
        var sigma: Double
    }

    var latency: Duration = .zero
    /// Added to the latency or taken from it, evenly.
    var jitter: Duration = .zero
    var logNormal: LogNormal?
    /// Bytes a second.
    var down: Double?
    var up: Double?
    var burst: Int?
    var each = Each.request

    static let names = ["profile", "latency", "jitter", "lognormal", "down", "up", "burst", "each"]
    private static let longest: Duration = .seconds(3600)
    /// Bytes a second; a slower rate would take an hour for a small page.
    private static let slowest = 1.0
    /// A bucket holds what its rate allows in 50 ms, and at least one packet's payload.
    private static let burstSeconds = 0.05
    private static let smallestBurst = 1460

    init(_ node: RuleNode, _ reader: RuleReader) throws(SettingSyntaxError) {
        if case .text(let name) = node.content {
            try self.use(name, line: node.line, reader)
            return
        }
        let members = try reader.members(node, of: "\"pace\"", known: Self.names)
        guard !members.list.isEmpty else { throw members.error("\"pace\" is empty; write for example { latency: 200ms, down: 1.5Mbit }") }
        if let profile = try members.text("profile") { try self.use(profile, line: members["profile"]?.line ?? node.line, reader) }
        if let latency = try members.duration("latency", atMost: Self.longest) { self.latency = latency }
        if let jitter = try members.duration("jitter", atMost: Self.longest) {
            guard self.latency > .zero || jitter == .zero else {
                throw members.error("jitter", "\"jitter\" needs a latency: write for example { latency: 200ms, jitter: 50ms }")
            }
            guard jitter <= self.latency else {
                throw members.error("jitter", "\"jitter\" is greater than the latency, which could become negative; write a smaller one")
            }
            self.jitter = jitter
        }
        if let node = members["lognormal"] {
            guard !members.has("latency"), !members.has("jitter") else {
                throw members.error("lognormal", "\"lognormal\" replaces \"latency\" and \"jitter\"; remove these, or \"lognormal\"")
            }
            let parts = try reader.members(node, of: "\"lognormal\"", known: ["median", "sigma"])
            guard let median = try parts.duration("median", atMost: Self.longest), let text = try parts.text("sigma") else {
                throw parts.error("\"lognormal\" needs \"median\" and \"sigma\", for example { median: 200ms, sigma: 0.5 }")
            }
            guard let sigma = Double(text), sigma > 0, sigma <= 5 else {
                throw parts.error(
                    "sigma", "\"sigma\" is \"\(RuleReader.shown(text))\"; write a number above 0 and up to 5, for example 0.5")
            }
            self.logNormal = LogNormal(median: Quantity.seconds(median), sigma: sigma)
            self.latency = .zero
        }
        if members.has("down") { self.down = try Self.rate("down", members) }
        if members.has("up") { self.up = try Self.rate("up", members) }
        if let text = try members.text("burst") {
            guard let burst = Quantity.bytes(text), (1...1 << 30).contains(burst) else {
                throw members.error("burst", "\"burst\" is \"\(RuleReader.shown(text))\"; write a size up to 1GiB, for example 64KiB")
            }
            guard self.down != nil || self.up != nil else {
                throw members.error("burst", "\"burst\" is for \"down\" or \"up\"; write one of them, or remove it")
            }
            self.burst = burst
        }
        if let each = try members.choice("each", Each.self) {
            guard self.down != nil || self.up != nil else {
                throw members.error("each", "\"each\" is for \"down\" or \"up\"; write one of them, or remove it")
            }
            self.each = each
        }
    }

    private static func rate(_ name: String, _ members: RuleMembers) throws(SettingSyntaxError) -> Double? {
        guard let text = try members.text(name) else { return nil }
        guard let rate = Quantity.rate(text) else {
            throw members.error(
                name, "\"\(name)\" is \"\(RuleReader.shown(text))\"; write a rate with its unit, for example 1.5Mbit, 500kbit or 64KiB/s")
        }
        guard rate >= self.slowest else {
            throw members.error(name, "\"\(name)\" is slower than a byte a second; write a faster rate, or a fault of kind \"stall\"")
        }
        return rate
    }

    private mutating func use(_ name: String, line: Int, _ reader: RuleReader) throws(SettingSyntaxError) {
        guard let profile = PaceProfile.all.first(where: { $0.name == name }) else {
            let names = PaceProfile.all.map(\.name)
            let near = RuleReader.nearest(to: name, in: names).map { "did you mean \"\($0)\"?" }
            throw reader.error(
                line,
                "there is no profile \"\(RuleReader.shown(name))\"; \(near ?? "write one of \(names.joined(separator: ", "))")")
        }
        self.latency = .milliseconds(profile.latency)
        self.down = profile.down * 1000 / 8
        self.up = profile.up * 1000 / 8
    }

    // MARK: One exchange

    /// Whether the latency is drawn.
    var isDrawn: Bool { self.jitter > .zero || self.logNormal != nil }

    /// - Parameter draw: a draw for a purpose.
    func latency(_ draw: (_ purpose: String) -> UInt64) -> Duration {
        /// Above 0 and below 1: of 53 bits, all of which a number can hold.
        func part(_ purpose: String) -> Double { (Double(draw(purpose) >> 11) + 0.5) / 9_007_199_254_740_992 }
        if let logNormal = self.logNormal {
            // Box and Muller, "A Note on the Generation of Random Normal Deviates" (1958).
            let normal = (-2 * log(part("latency"))).squareRoot() * cos(2 * Double.pi * part("latency angle"))
            let seconds = logNormal.median * exp(logNormal.sigma * normal)
            return min(Self.longest, .nanoseconds(Int64(min(seconds, 1e6) * 1e9)))
        }
        guard self.jitter > .zero else { return self.latency }
        let shift = (2 * part("latency") - 1) * Quantity.seconds(self.jitter)
        return max(.zero, self.latency + .nanoseconds(Int64(shift * 1e9)))
    }

    func rate(_ bytesPerSecond: Double?, rule: Int, host: String) -> TokenRate? {
        bytesPerSecond.map { rate in
            let scope: TokenRate.Scope =
                switch self.each {
                case .request: .request
                case .connection: .connection
                case .host: .host(host.lowercased())
                case .session: .session
                }
            let burst = self.burst ?? max(Self.smallestBurst, Int(rate * Self.burstSeconds))
            return TokenRate(bytesPerSecond: rate, burst: burst, scope: scope, rule: rule)
        }
    }
}

/// A network by its name, with figures that other tools use.
package struct PaceProfile: Sendable, Hashable {
    package var name: String
    /// In milliseconds.
    package var latency: Int
    /// In kilobits (1,000 bits) a second.
    package var down: Double
    package var up: Double

    /// Of WebPageTest's connectivity profiles (webpagetest.org, "connectivity.ini"), whose latency is the time of a round trip, but for the
    /// last: signals to a geostationary satellite and back take about 600 ms.
    package static let all: [PaceProfile] = [
        PaceProfile(name: "dial", latency: 120, down: 49, up: 30),
        PaceProfile(name: "edge", latency: 840, down: 240, up: 200),
        PaceProfile(name: "2g", latency: 800, down: 280, up: 256),
        PaceProfile(name: "slow-3g", latency: 400, down: 400, up: 400),
        PaceProfile(name: "3g", latency: 300, down: 1600, up: 768),
        PaceProfile(name: "fast-3g", latency: 150, down: 1600, up: 768),
        PaceProfile(name: "4g", latency: 170, down: 9000, up: 9000),
        PaceProfile(name: "lte", latency: 70, down: 12_000, up: 12_000),
        PaceProfile(name: "dsl", latency: 50, down: 1500, up: 384),
        PaceProfile(name: "cable", latency: 28, down: 5000, up: 1000),
        PaceProfile(name: "fibre", latency: 4, down: 20_000, up: 5000),
        PaceProfile(name: "satellite", latency: 600, down: 15_000, up: 3000),
    ]
}
