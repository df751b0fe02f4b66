internal import CassetteFormat
internal import CassetteModel
internal import CassettePlayback
internal import CassetteRedaction
internal import CassetteStore
internal import TapeBytes

/// Finding the recorded exchange of a request among 100,000, beside finding it among 1,000: opened from a file, asked in random order.
enum LookupSpeed {
    private static let requests = 200_000

    /// - Parameter cassettes: paths of cassettes as large_cassette.py writes them, of 1,000 and of 100,000 exchanges.
    static func marks(cassettes: (small: String, large: String), rounds: Int) -> [Mark] {
        let (small, large) = (self.session(cassettes.small), self.session(cassettes.large))
        let (few, many) = (self.urls(among: 950), self.urls(among: 95_000))
        var ratios: [Double] = []
        var times: [Double] = []
        for _ in 0..<rounds {
            let short = Stopwatch.seconds { self.ask(small, few) }
            let long = Stopwatch.seconds { self.ask(large, many) }
            times.append(long * 1e6 / Double(self.requests))
            ratios.append(long / short)
        }
        return [
            Mark(name: "lookup among 100,000 exchanges, µs", figure: Stopwatch.median(times), wanted: .atMost(10)),
            Mark(name: "the same, times a lookup among 1,000", figure: Stopwatch.median(ratios), wanted: .atLeast(0)),
        ]
    }

    private static func session(_ path: String) -> CassetteSession {
        do {
            return try CassetteSession(mode: .none, cassette: RecordedCassette(path: path), repetition: .cycle)
        } catch {
            fatalError("there is nothing to measure: \(error.message)")  // A tool of ours, and the file was made for it.
        }
    }

    private static func urls(among count: UInt64) -> [String] {
        var noise = Noise(seed: 7)
        return (0..<self.requests).map { _ in "http://api.example.test/v1/accounts/17/items/\(noise.next() % count)?page=1&size=20" }
    }

    private static func ask(_ session: CassetteSession, _ urls: [String]) {
        for url in urls {
            guard case .decided(.replay) = session.begin(method: "GET", url: url) else { fatalError("\(url) was not found") }
        }
    }
}
