/// Which exchanges of two cassettes belong together: those with equal requests, in order; then those of the rest whose requests differ in
/// their query alone, in order.
///
/// Time and memory are linear in the number of exchanges.
public struct ExchangePairing: Sendable, Hashable {
    /// One step of the comparison; indexes in order of request start.
    public enum Step: Sendable, Hashable {
        case both(old: Int, new: Int)
        case added(Int)
        case removed(Int)
    }

    /// In the order of the new cassette, with what was removed where it stood before.
    public let steps: [Step]

    /// - Parameters: methods and URLs, in order of request start.
    public init(old: [(method: String, url: String)], new: [(method: String, url: String)]) {
        var partners = [Int?](repeating: nil, count: new.count)
        var isPaired = [Bool](repeating: false, count: old.count)
        let oldPieces = old.map { (method: $0.method, pieces: URLPieces($0.url)) }
        let newPieces = new.map { (method: $0.method, pieces: URLPieces($0.url)) }
        for key in [{ "\($0) \($1.key)" }, { "\($0) \($1.base)" }] as [(String, URLPieces) -> String] {
            var waiting: [String: (indexes: [Int], next: Int)] = [:]
            for (index, request) in oldPieces.enumerated() where !isPaired[index] {
                waiting[key(request.method, request.pieces), default: ([], 0)].indexes.append(index)
            }
            for (index, request) in newPieces.enumerated() where partners[index] == nil {
                let name = key(request.method, request.pieces)
                guard let group = waiting[name], group.next < group.indexes.count else { continue }
                waiting[name]?.next += 1
                partners[index] = group.indexes[group.next]
                isPaired[group.indexes[group.next]] = true
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
}
