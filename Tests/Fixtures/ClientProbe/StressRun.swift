import Foundation
import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Many concurrent requests from many threads, with some cancelled at seeded moments; each answer is compared with its request.
///
/// Exits with 0 if every request has ended as expected; it looks for races that kill the process.
struct StressRun {
    private enum Style {
        case adapter, facade, unsafe
    }

    private let style: Style
    private let count: Int
    private let seed: UInt64?

    init(_ arguments: inout Arguments) throws {
        let styles: [(String, Style)] = [("--adapter", .adapter), ("--facade", .facade), ("--unsafe", .unsafe)]
        let chosen = styles.filter { arguments.flag($0.0) }
        guard chosen.count == 1 else { throw ProbeError("stress needs one of --adapter, --facade and --unsafe") }
        self.style = chosen[0].1
        self.count = try arguments.number("--requests") ?? 1000
        self.seed = try arguments.number("--cancels").map { UInt64(clamping: $0) }
        try arguments.end()
    }

    func run() throws {
        let starts = self.starts
        let tally = Tally()
        let ended = DispatchGroup()
        let cancelled = self.cancelled
        // One thread starts them as fast as it can, so that answers from other threads arrive while the session grows.
        for index in 0..<self.count {
            let url = URL(string: "http://stress.invalid/\(index)") ?? URL(fileURLWithPath: "/")
            ended.enter()
            let cancel = starts[index % starts.count](url) { data, error in
                tally.ended(url.path, body: data, error: error, mayBeCancelled: cancelled[index] != nil)
                ended.leave()
            }
            guard let delay = cancelled[index] else { continue }
            // A queue would delay the cancellation until after the answer.
            if delay == 0 { cancel() }
            if delay > 0 { DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(delay)) { cancel() } }
        }
        guard ended.wait(timeout: .now() + 60) == .success else { throw ProbeError("hangs: \(tally.text) of \(self.count)") }
        print("\(tally.text) of \(self.count)")
        guard tally.isRight else { throw ProbeError("wrong: \(tally.text)") }
    }

    /// The delay in microseconds for a third of all requests: some are cancelled immediately, others while they are answered.
    private var cancelled: [Int: Int] {
        guard let seed else { return [:] }
        var state = seed
        func next() -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33)
        }
        var result: [Int: Int] = [:]
        for index in 0..<self.count where next() % 3 == 0 { result[index] = next() % [1, 1, 100, 1000][next() % 4] }
        return result
    }

    /// Sends a request, and returns a function that cancels it.
    private typealias Start = (_ url: URL, _ ended: @escaping @Sendable (Data?, (any Error)?) -> Void) -> @Sendable () -> Void

    /// One answers immediately, the other later from other threads.
    private var starts: [Start] {
        let transports = [false, true].map { isLater in
            ScriptedTransport(isLater: isLater) { request in
                ScriptedTransport.answer(request, headers: [("Content-Type", "text/plain")], body: request.url.path)
            }
        }
        switch self.style {
        case .adapter: return transports.map { Self.start(.answered(by: $0, inPlace: !$0.isLater)) }
        case .facade: return transports.map { Self.start(HTTPSession(transport: $0)) }
        case .unsafe:
            let configuration = RawProtocol.configuration { load in
                // SAFETY: none; this common pattern is the one that kills the process.
                nonisolated(unsafe) let load = load
                DispatchQueue.global().async {
                    load.respond()
                    load.load(load.request.url?.path ?? "")
                    load.finish()
                }
            }
            return [Self.start(configuration)]
        }
    }

    private static func start(_ configuration: URLSessionConfiguration) -> Start {
        let session = URLSession(configuration: configuration)
        return { url, ended in
            let task = session.dataTask(with: url) { data, _, error in ended(data, error) }
            task.resume()
            return { task.cancel() }
        }
    }

    private static func start(_ session: HTTPSession) -> Start {
        let queue = DispatchQueue(label: "probe.stress")
        return { url, ended in
            let request = session.request(url)
            request.responseData(queue: queue) { response in
                switch response.result {
                case .success(let data): ended(data, nil)
                case .failure(let error): ended(nil, error)
                }
            }
            return { request.cancel() }
        }
    }
}
