internal import CassetteModel
internal import CassettePlayback
internal import CassetteTools
internal import Dispatch
internal import TapeBytes
internal import TapeProxy

/// Prints a line for each exchange of a run as it ends, and knows which have not ended.
///
/// Recorded exchanges are read from the file, after they were redacted. Any thread may report; lines are printed by one queue.
final class TrafficLines: Sendable {
    private struct State: Sendable {
        var open: [Int: String] = [:]
        /// How many exchanges of the file have a line, or were there before.
        var shown = 0
    }

    /// Milliseconds between two looks at the file.
    private static let pause = 100

    private let screen: RunScreen
    /// The file that is recorded; nil if none is.
    private let path: String?
    private let cassette: RecordedCassette?
    private let queue = DispatchQueue(label: "wiretape.lines")
    private let stopping = DispatchSemaphore(value: 0)
    private let stopped = DispatchSemaphore(value: 0)
    private let state = Guarded(State())
    private let line: Guarded<ExchangeLine>

    init(screen: RunScreen, path: String?, cassette: RecordedCassette?) {
        self.screen = screen
        self.path = path
        self.cassette = cassette
        let terminal = Terminal.error
        self.line = Guarded(ExchangeLine(paint: Paint(isOn: terminal.usesColor), width: terminal.isTerminal ? terminal.width : nil))
    }

    func take(_ exchange: WatchedExchange) {
        switch exchange {
        case .began(let id, _, let method, let url): self.state.withLock { $0.open[id] = "\(method) \(url)" }
        case .discarded(let id): self.state.withLock { _ = $0.open.removeValue(forKey: id) }
        case .replayed(let index, let method, let url):
            self.queue.async { [self] in
                guard let interaction = try? self.cassette?.interaction(at: index) else { return }
                var row = ExchangeRow(number: index + 1, interaction)
                // The request as it came, which rules may have made equal to the recorded one.
                (row.method, row.url) = (method, url)
                self.screen.line(self.line.withLock { $0.recorded(row) })
            }
        case .missed(let method, let url):
            self.queue.async { [self] in self.screen.line(self.line.withLock { $0.missed(method, url) }) }
        }
    }

    /// Prints recorded exchanges until `stop`.
    func start() {
        guard let path else { return }
        // A recording that is appended to has exchanges of earlier runs.
        let first = try? ExchangeFollower(path: path, last: 0)
        DispatchQueue(label: "wiretape.follow").async { [self] in
            var follower = first
            repeat {
                if follower == nil { follower = try? ExchangeFollower(path: path) }
                self.look(&follower)
            } while self.stopping.wait(timeout: .now() + .milliseconds(Self.pause)) == .timedOut
            let shown = follower?.shown ?? 0
            self.state.withLock { $0.shown = shown }
            self.stopped.signal()
        }
    }

    private func look(_ follower: inout ExchangeFollower?) {
        // What cannot be read is reported when the recording is closed.
        for one in (try? follower?.news()) ?? [] {
            guard case .exchange(let row, _, let lint) = one else { continue }
            self.state.withLock { _ = $0.open.removeValue(forKey: row.id) }
            self.screen.line(self.line.withLock { $0.recorded(row, lint: lint) })
        }
    }

    /// Stops looking at the file; call it before the recording is closed.
    func stop() {
        self.queue.sync {}
        guard self.path != nil else { return }
        self.stopping.signal()
        self.stopped.wait()
    }

    /// Prints what the recorder wrote when it was closed.
    ///
    /// - Parameter path: where the recording is now.
    func finish(_ path: String) {
        guard self.path != nil else { return }
        var follower = try? ExchangeFollower(path: path, from: self.state.withLock { $0.shown })
        self.look(&follower)
    }

    /// The requests that have no whole answer yet, in the order of their arrival.
    var open: [String] { self.state.withLock { state in state.open.sorted { $0.key < $1.key }.map(\.value) } }
}
