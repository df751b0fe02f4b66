internal import CassetteModel
internal import CassettePlayback

/// Pairs the exchanges of two cassettes: first those whose requests match, in order; then those with the same method and URL; then those
/// that differ only in their query. Equal bodies are paired first, then those that have most in common.
///
/// Takes time linear in the number of exchanges, except for up to `nearestLimit` with one URL and different bodies.
public struct ExchangePairing: Sendable, Hashable {
    /// One step of the comparison; indexes in order of request start.
    public enum Step: Sendable, Hashable {
        case both(old: Int, new: Int)
        case added(Int)
        case removed(Int)
    }

    /// If more exchanges are left with one URL, they are paired in order, as searching for the nearest takes quadratic time.
    private static let nearestLimit = 256

    /// The properties that two paired requests share.
    private struct Key: Hashable {
        var method: String
        var head: [UInt8] = []
        var url = ""
        var body: BodyFacets?
    }

    /// In the order of the new cassette; removed exchanges are at their old places.
    public let steps: [Step]

    /// For requests whose bodies are not compared: methods and URLs, in order of request start.
    public init(old: [(method: String, url: String)], new: [(method: String, url: String)]) {
        self.init(
            old: old.map { PairedRequest(method: $0.method, url: $0.url) }, new: new.map { PairedRequest(method: $0.method, url: $0.url) })
    }

    /// - Parameters: in order of request start.
    init(old: [PairedRequest], new: [PairedRequest]) {
        var partners = [Int?](repeating: nil, count: new.count)
        var isPaired = [Bool](repeating: false, count: old.count)
        let keys: [(PairedRequest) -> Key] = [
            { Key(method: $0.method, head: $0.head, body: $0.body) },
            { Key(method: $0.method, url: $0.pieces.key, body: $0.body) },
            { Key(method: $0.method, url: $0.pieces.key) },
            { Key(method: $0.method, url: $0.pieces.base, body: $0.body) },
            { Key(method: $0.method, url: $0.pieces.base) },
        ]
        for key in keys {
            var waiting: [Key: [Int]] = [:]
            for (index, request) in old.enumerated().reversed() where !isPaired[index] { waiting[key(request), default: []].append(index) }
            var asking: [Key: [Int]] = [:]
            for (index, request) in new.enumerated() where partners[index] == nil { asking[key(request), default: []].append(index) }
            for (key, indexes) in asking {
                guard var left = waiting[key] else { continue }
                for index in indexes {
                    guard let old = Self.take(from: &left, like: new[index], old, isExact: key.body != nil) else { break }
                    partners[index] = old
                    isPaired[old] = true
                }
            }
        }
        var steps: [Step] = []
        var next = 0
        func passRemoved(upTo end: Int) {
            while next < end {
                if !isPaired[next] { steps.append(.removed(next)) }
                next += 1
            }
        }
        for (index, partner) in partners.enumerated() {
            if let partner {
                passRemoved(upTo: partner)
                steps.append(.both(old: partner, new: index))
            } else {
                steps.append(.added(index))
            }
        }
        passRemoved(upTo: old.count)
        self.steps = steps
    }

    /// Takes the earliest remaining one, which is the last in the list; if bodies differ, the one with most in common.
    private static func take(from left: inout [Int], like request: PairedRequest, _ old: [PairedRequest], isExact: Bool) -> Int? {
        guard !isExact, left.count > 1, left.count <= self.nearestLimit else { return left.popLast() }
        let distances = left.map { old[$0].sketch.distance(to: request.sketch) }
        guard let least = distances.min(), let place = distances.lastIndex(of: least) else { return nil }
        return left.remove(at: place)
    }
}

/// The properties by which a recorded request is paired.
struct PairedRequest: Sendable {
    var method: String
    var pieces: URLPieces
    /// Its head key under the match rules.
    var head: [UInt8]
    var body: BodyFacets
    var sketch: BodySketch

    init(method: String, url: String, rules: MatchRules = .standard, headers: HeaderFields? = nil, body: BodyFacets = .none) {
        self.method = method
        self.pieces = URLPieces(url)
        self.head = rules.withHeadKey(method: method, url: url, headers: headers) { Array($0) }
        self.body = body.digestOnly
        self.sketch = BodySketch(body)
    }
}

/// A URL split for pairing and comparing. Decodes nothing.
struct URLPieces: Sendable, Hashable {
    /// Scheme and authority in lower case, and the path.
    var base: String
    /// In the order of the URL; a value is nil if there is no equals sign.
    var query: [(name: String, value: String?)] = []

    init(_ url: String) {
        let text = url.prefix { $0 != "#" }
        let base = text.prefix { $0 != "?" }
        if let scheme = base.firstRange(of: "://") {
            let path = base[scheme.upperBound...].firstIndex(of: "/") ?? base.endIndex
            self.base = base[..<path].lowercased() + (path == base.endIndex ? "/" : base[path...])
        } else {
            self.base = String(base)
        }
        guard base.endIndex < text.endIndex else { return }
        for item in text[text.index(after: base.endIndex)...].split(separator: "&", omittingEmptySubsequences: true) {
            let name = item.prefix { $0 != "=" }
            self.query.append((String(name), name.endIndex < item.endIndex ? String(item[item.index(after: name.endIndex)...]) : nil))
        }
    }

    /// Equal for URLs that differ only in the order of their query.
    var key: String {
        self.base + "?" + self.query.map { $0.name + ($0.value.map { "=" + $0 } ?? "") }.sorted().joined(separator: "&")
    }

    static func == (one: Self, other: Self) -> Bool { one.key == other.key }

    func hash(into hasher: inout Hasher) { hasher.combine(self.key) }
}
