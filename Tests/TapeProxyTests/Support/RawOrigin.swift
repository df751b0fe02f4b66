import TapeBytes
import Foundation
import Platform
import Testing

/// A server on the loopback address that plays one script for each connection, in the order of acceptance, each on its own thread.
final class RawOrigin: Sendable {
    typealias Script = @Sendable (RawConnection) throws -> Void

    private struct State {
        var accepted = 0
        var ended = 0
        var problems: [String] = []
        var isStopped = false
    }

    let port: Int
    let host: String
    private let descriptor: Int32
    private let scripts: [Script]
    private let state = Guarded(State())
    private let progress = DispatchSemaphore(value: 0)

    /// Too many scripts are not an error until `finish`; too many connections are.
    convenience init(host: String = "127.0.0.1", _ scripts: Script...) throws {
        try self.init(host: host, scripts: scripts)
    }

    init(host: String = "127.0.0.1", scripts: [Script]) throws {
        self.host = host
        self.scripts = scripts
        (self.descriptor, self.port) = try RawSocket.bound(host)
        let accepting = Thread { [weak self, descriptor = self.descriptor] in
            while true {
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0, let self, !self.state.withLock({ $0.isStopped }) else {
                    if connection >= 0 { close(connection) }
                    close(descriptor)
                    return
                }
                self.serve(connection)
            }
        }
        accepting.start()
    }

    deinit { self.stop() }

    /// The authority in requests.
    var authority: String { self.host.contains(":") ? "[\(self.host)]:\(self.port)" : "\(self.host):\(self.port)" }

    /// A request for this origin, as a client sends it to a proxy.
    func request(_ method: String = "GET", _ path: String = "/", _ fields: String..., version: String = "1.1", body: String = "") -> String
    {
        (["\(method) http://\(self.authority)\(path) HTTP/\(version)", "Host: \(self.authority)"] + fields).joined(separator: "\r\n")
            + "\r\n\r\n" + body
    }

    /// The number of connections so far.
    var accepted: Int { self.state.withLock { $0.accepted } }

    private func serve(_ descriptor: Int32) {
        let number = self.state.withLock { state in
            state.accepted += 1
            return state.accepted
        }
        guard number <= self.scripts.count else {
            close(descriptor)
            return self.ended("connection \(number) has no script")
        }
        let script = self.scripts[number - 1]
        Thread { [self] in
            let connection = RawConnection(descriptor: descriptor)
            do {
                try script(connection)
                connection.close()
                self.ended(nil)
            } catch {
                connection.close()
                self.ended("connection \(number) of the origin: \(error)")
            }
        }.start()
    }

    private func ended(_ problem: String?) {
        self.state.withLock { state in
            state.ended += 1
            if let problem { state.problems.append(problem) }
        }
        self.progress.signal()
    }

    /// Waits until every script has been played, and fails the test if one could not be played.
    func finish(sourceLocation: SourceLocation = #_sourceLocation) {
        while self.state.withLock({ $0.ended < self.scripts.count }) {
            guard self.progress.wait(timeout: .now() + .seconds(RawConnection.patience)) == .success else {
                Issue.record(
                    "the origin played \(self.state.withLock { $0.ended }) of \(self.scripts.count) scripts",
                    sourceLocation: sourceLocation)
                break
            }
        }
        for problem in self.state.withLock({ $0.problems }) { Issue.record("\(problem)", sourceLocation: sourceLocation) }
        self.state.withLock { $0.problems = [] }
    }

    /// Refuses connections from now on.
    func stop() {
        let wasStopped = self.state.withLock { state in
            defer { state.isStopped = true }
            return state.isStopped
        }
        guard !wasStopped else { return }
        // Wakes the accepting thread, which closes the descriptor.
        shutdown(self.descriptor, Int32(SHUT_RDWR))
        #if !canImport(Glibc)
        _ = try? RawConnection(to: self.host, port: self.port)
        #endif
    }
}
