internal import CassettePlayback

/// Which exchanges of two cassettes belong together: those whose requests match, in order; of the rest, those with the same method and URL;
/// and then those that differ in their query. Bodies that are the same go first, then those that have most in common.
///
/// Time is linear in the number of exchanges, but among a few with one URL and other bodies.
public struct ExchangePairing: Sendable, Hashable {
    /// One step of the comparison; indexes in order of request start.
    public enum Step: Sendable, Hashable {
        case both(old: Int, new: Int)
        case added(Int)
        case removed(Int)
    }

    /// More exchanges with one URL that are left are paired in order: looking for the nearest takes the square of their number.
    static let nearestLimit = 256

    /// What two requests have in common where they are paired.
    private struct Key: Hashable {
        var method: String
        var head: [UInt8] = []
        var url = ""
        var body: BodyFacets?
    }

    /// In the order of the new cassette, with what was removed where it stood before.
    public let steps: [Step]

    /// Of requests whose bodies are not looked at: methods and URLs, in order of request start.
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

    /// Takes the first of those left, whose last is the earliest; where bodies differ, the one that has most in common.
    private static func take(from left: inout [Int], like request: PairedRequest, _ old: [PairedRequest], isExact: Bool) -> Int? {
        guard !isExact, left.count > 1, left.count <= self.nearestLimit else { return left.popLast() }
        let distances = left.map { old[$0].sketch.distance(to: request.sketch) }
        guard let least = distances.min(), let place = distances.lastIndex(of: least) else { return nil }
        return left.remove(at: place)
    }
}
