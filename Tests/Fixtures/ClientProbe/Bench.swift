import Foundation
import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Requests per second through a session that Wiretape answers, beside a bare URLProtocol that does nothing but answer: what URLSession
/// itself leaves of a second. In turns, since the machine has other work.
struct Bench {
    private let count: Int
    private let rounds: Int

    init(_ arguments: inout Arguments) throws {
        self.count = try arguments.number("--requests") ?? 20_000
        self.rounds = try arguments.number("--rounds") ?? 5
        try arguments.end()
    }

    func run() throws {
        let body = Data(repeating: 120, count: 1024)
        let fields = ["Content-Type": "application/octet-stream", "Content-Length": "1024"]
        let bare = RawProtocol.configuration { load in
            load.respond(200, fields)
            load.client?.urlProtocol(load, didLoad: body)
            load.finish()
        }
        let headers = HTTPHeaders(fields.map { HTTPHeader(name: $0.key, value: $0.value) })
        let events: @Sendable (TransportRequest) -> [TransportEvent] = { request in
            [.head(HTTPResponse(url: request.url, status: 200, headers: headers, source: .stub)), .chunk(body), .end]
        }
        let transport = ScriptedTransport(events: events)
        let subjects: [(String, () -> Double)] = [
            ("bare URLProtocol", { self.rate(bare) }),
            ("adapter, in place", { self.rate(.answered(by: transport, inPlace: true)) }),
            ("adapter, elsewhere", { self.rate(.answered(by: transport)) }),
            ("facade", { self.rate(Session(transport: transport)) }),
        ]
        var best = [Double](repeating: 0, count: subjects.count)
        for _ in 0..<self.rounds {
            for (index, (_, rate)) in subjects.enumerated() { best[index] = max(best[index], rate()) }
        }
        for (subject, best) in zip(subjects, best) { print("\(subject.0): \(Int(best)) requests/s") }
    }

    private func rate(_ configuration: URLSessionConfiguration) -> Double {
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        return self.rate { url, ended in
            session.dataTask(with: url) { data, _, _ in
                precondition(data?.count == 1024)
                ended()
            }.resume()
        }
    }

    private func rate(_ session: Session) -> Double {
        let queue = DispatchQueue(label: "probe.bench")
        return self.rate { url, ended in
            session.request(url).responseData(queue: queue) { response in
                precondition(response.data?.count == 1024)
                ended()
            }
        }
    }

    /// Requests per second, with 64 on their way at any moment.
    private func rate(_ send: (_ url: URL, _ ended: @escaping @Sendable () -> Void) -> Void) -> Double {
        guard let url = URL(string: "http://bench.invalid/path?query=1") else { return 0 }
        let window = DispatchSemaphore(value: 64)
        let ended = DispatchGroup()
        let start = ContinuousClock.now
        for _ in 0..<self.count {
            window.wait()
            ended.enter()
            send(url) {
                window.signal()
                ended.leave()
            }
        }
        ended.wait()
        let (seconds, attoseconds) = start.duration(to: .now).components
        return Double(self.count) / (Double(seconds) + Double(attoseconds) * 1e-18)
    }
}
