/// A figure and what it has to reach.
struct Mark {
    enum Wanted { case atLeast(Double), atMost(Double) }

    var name: String
    var figure: Double
    var wanted: Wanted

    var isHit: Bool {
        switch self.wanted {
        case .atLeast(let limit): self.figure >= limit
        case .atMost(let limit): self.figure <= limit
        }
    }

    var line: String {
        let wanted =
            switch self.wanted {
            case .atLeast(let limit): ">= \(limit)"
            case .atMost(let limit): "<= \(limit)"
            }
        return "\(self.name): \((self.figure * 1000).rounded() / 1000) (\(wanted)) \(self.isHit ? "hit" : "MISS")"
    }
}
