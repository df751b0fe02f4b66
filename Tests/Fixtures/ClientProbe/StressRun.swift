import Foundation
import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Many requests at once from many threads, some of them cancelled at seeded moments, each answer compared with its request.
///
/// Exits with 0 when every request has ended as it had to; a race that kills the process is what it looks for.
struct StressRun {
    private enum Style {
        case adapter, unsafe
    }

    private let style: Style
    private let count: Int
    private let seed: UInt64?

    init(_ arguments: inout Arguments) throws {
        let isUnsafe = arguments.flag("--unsafe")
        guard arguments.flag("--adapter") || isUnsafe else { throw ProbeError("stress needs --adapter or --unsafe") }
        self.style = isUnsafe ? .unsafe : .adapter
        self.count = try arguments.number("--requests") ?? 1000
        self.seed = try arguments.number("--cancels").map { UInt64(clamping: $0) }
        try arguments.end()
    }

    func run() throws {
        let sessions = self.configurations.map { URLSession(configuration: $0) }
        let tally = Tally()
        let ended = DispatchGroup()
        let cancelled = self.cancelled
        DispatchQueue.concurrentPerform(iterations: self.count) { index in
            guard let url = URL(string: "http://stress.invalid/\(index)") else { return }
            ended.enter()
            let task = sessions[index % sessions.count].dataTask(with: url) { data, response, error in
                tally.ended(url, data, response, error, mayBeCancelled: cancelled[index] != nil)
                ended.leave()
            }
            task.resume()
            guard let delay = cancelled[index] else { return }
            DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(delay)) { task.cancel() }
        }
        guard ended.wait(timeout: .now() + 60) == .success else { throw ProbeError("hangs: \(tally.text) of \(self.count)") }
        print("\(tally.text) of \(self.count)")
        guard tally.isRight else { throw ProbeError("wrong: \(tally.text)") }
    }

    /// Microseconds after its start, for a third of all requests.
    private var cancelled: [Int: Int] {
        guard let seed else { return [:] }
        var state = seed
        func next() -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33)
        }
        var result: [Int: Int] = [:]
        for index in 0..<self.count where next() % 3 == 0 { result[index] = next() % 3000 }
        return result
    }

    /// Answered at once, and later from other threads; two sessions of each.
    private var configurations: [URLSessionConfiguration] {
        switch self.style {
        case .adapter:
            [false, true, false, true].map { isLater in
                .answered(
                    by: ScriptedTransport(isLater: isLater) { request in
                        ScriptedTransport.answer(request, headers: [("Content-Type", "text/plain")], body: request.url.path)
                    },
                    inPlace: !isLater)
            }
        case .unsafe:
            [
                RawProtocol.configuration { load in
                    nonisolated(unsafe) let load = load
                    DispatchQueue.global().async {
                        load.respond()
                        load.load(load.request.url?.path ?? "")
                        load.finish()
                    }
                }
            ]
        }
    }
}
