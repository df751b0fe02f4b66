import Foundation
import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Requests per second that are replayed from a cassette of 1,000 exchanges with answers of 1 KiB, through the facade and through a
/// URLSession. A bare URLProtocol that only answers shows the share of URLSession itself. The subjects alternate, since the machine has
/// other work; the best round of each counts.
struct Bench {
    private static let exchanges = 1000
    private static let body = Data(repeating: 120, count: 1024)
    private static let fields = ["Content-Type": "application/octet-stream", "Content-Length": "1024"]

    private let count: Int
    private let rounds: Int
    /// The name of the only subject to measure; nil for all.
    private let subject: String?
    private let urls = (0..<Self.exchanges).map { URL(string: "http://bench.invalid/path?query=\($0)") ?? URL(fileURLWithPath: "/") }

    init(_ arguments: inout Arguments) throws {
        self.count = try arguments.number("--requests") ?? 20_000
        self.rounds = try arguments.number("--rounds") ?? 5
        self.subject = arguments.text("--only")
        try arguments.end()
    }

    func run() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("wiretape-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("bench.json").path
        try await self.record(path)
        try await self.opening(path)

        let bare = RawProtocol.configuration { load in
            load.respond(200, Self.fields)
            load.client?.urlProtocol(load, didLoad: Self.body)
            load.finish()
        }
        let cassette = try self.open(path)
        let scripted = Self.transport
        let all: [(String, () async -> Speed)] = [
            ("bare URLProtocol", { self.speed(bare) }),
            ("adapter, cassette", { self.speed(.replaying(cassette)) }),
            ("adapter, stub", { self.speed(.answered(by: scripted, inPlace: true)) }),
            ("facade, cassette", { self.speed(HTTPSession(cassette: cassette)) }),
            ("facade, cassette, awaited", { await self.awaited(HTTPSession(cassette: cassette)) }),
            ("facade, stub", { self.speed(HTTPSession(transport: scripted)) }),
        ]
        let subjects = all.filter { self.subject == nil || $0.0 == self.subject }
        guard !subjects.isEmpty else { throw ProbeError("\"--only\" needs one of: \(all.map(\.0).joined(separator: "; "))") }
        var best = [Speed?](repeating: nil, count: subjects.count)
        for _ in 0..<self.rounds {
            for (index, (_, measure)) in subjects.enumerated() {
                let speed = await measure()
                best[index] = best[index].map { $0.better(speed) } ?? speed
            }
        }
        for case (let (name, _), let best?) in zip(subjects, best) { print("\(name): \(best)") }
    }

    private static var transport: ScriptedTransport {
        let headers = HTTPSession.Headers(self.fields.map { HTTPSession.Header(name: $0.key, value: $0.value) })
        return ScriptedTransport { request in
            [.head(HTTPSession.Response(url: request.url, status: 200, headers: headers, source: .stub)), .chunk(self.body), .end]
        }
    }

    // MARK: Cassette

    private func record(_ path: String) async throws {
        let cassette = try Cassette(path, mode: .all)
        let session = HTTPSession(transport: RecordingTransport(cassette, around: Self.transport))
        for url in self.urls { _ = try await session.request(url).serializingData().value }
        let outcome = try cassette.close()
        guard outcome.recorded == Self.exchanges else { throw ProbeError("\(outcome.recorded) exchanges were recorded") }
    }

    private func open(_ path: String) throws -> Cassette {
        var settings = Cassette.Settings()
        settings.repetition = .cycle
        return try Cassette(path, settings: settings)
    }

    /// Measures the time to open the cassette, and the time to the answer of its last exchange: no work is deferred.
    private func opening(_ path: String) async throws {
        var (openings, answers): ([Duration], [Duration]) = ([], [])
        for _ in 0..<9 {
            let start = ContinuousClock.now
            let cassette = try self.open(path)
            openings.append(start.duration(to: .now))
            _ = try await HTTPSession(cassette: cassette).request(self.urls[Self.exchanges - 1]).serializingData().value
            answers.append(start.duration(to: .now))
        }
        for (name, times) in [("opening", openings.sorted()), ("opening, and the first answer", answers.sorted())] {
            print("\(name), \(Self.exchanges) exchanges: \(times[4]), between \(times[0]) and \(times[8])")
        }
    }

    // MARK: Requests

    private func speed(_ configuration: URLSessionConfiguration) -> Speed {
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        return self.speed { url, ended in
            session.dataTask(with: url) { data, _, _ in
                precondition(data?.count == 1024)
                ended()
            }.resume()
        }
    }

    private func speed(_ session: HTTPSession) -> Speed {
        let queue = DispatchQueue(label: "probe.bench")
        return self.speed { url, ended in
            session.request(url).responseData(queue: queue) { response in
                precondition(response.data?.count == 1024)
                ended()
            }
        }
    }

    /// Keeps 64 requests in flight.
    private func speed(_ send: (_ url: URL, _ ended: @escaping @Sendable () -> Void) -> Void) -> Speed {
        let window = DispatchSemaphore(value: 64)
        let ended = DispatchGroup()
        let start = Speed.Start()
        for index in 0..<self.count {
            window.wait()
            ended.enter()
            send(self.urls[index % self.urls.count]) {
                window.signal()
                ended.leave()
            }
        }
        ended.wait()
        return start.speed(of: self.count)
    }

    /// Sends one request after another.
    private func awaited(_ session: HTTPSession) async -> Speed {
        let start = Speed.Start()
        for index in 0..<self.count {
            let data = await session.request(self.urls[index % self.urls.count]).serializingData().response.data
            precondition(data?.count == 1024)
        }
        return start.speed(of: self.count)
    }
}
