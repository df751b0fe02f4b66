import Foundation
import TapeCore

@testable import Wiretape

/// A way for a request to get its answer. Others plug in theirs: a type that conforms, and a case in `Expectations`.
protocol Way: Sendable {
    var kind: WayKind { get }

    /// What came, as lines, of a behaviour whose origin listens at a URL.
    func lines(of behaviour: Behaviour, at origin: String) async throws -> [String]
}

enum WayKind: String, Sendable, CaseIterable {
    case live, recording, replay, adapter
}

/// Straight to a transport.
struct TransportWay: Way {
    let kind: WayKind
    let transport: any Transport

    func lines(of behaviour: Behaviour, at origin: String) async -> [String] {
        let log = EventLog()
        let task = self.transport.start(behaviour.request(to: origin)) { log.receive($0) }
        if let count = behaviour.cancelsAfter {
            await log.wait(for: count)
            task.cancel()
        }
        await log.wait()
        withExtendedLifetime(task) {}
        return log.behaviour(looksAt: behaviour.looksAt)
    }
}

extension EventLog {
    /// What all ways have in common: the pieces of the body joined, progress left out.
    func behaviour(looksAt names: [String]) -> [String] {
        var lines: [String] = []
        var body = Data()
        func endBody() {
            if !body.isEmpty { lines.append(body.count > 1000 ? "\(body.count) octets" : String(decoding: body, as: UTF8.self)) }
            body = Data()
        }
        for event in self.events {
            switch event {
            case .sent, .metrics: break
            case .interim(let status, _): lines.append("interim \(status)")
            case .head(let head):
                lines.append("status \(head.status)")
                for name in names { lines += head.headers.values(for: name).map { "\(name): \($0)" } }
            case .chunk(let data): body += data
            case .trailers(let fields):
                endBody()
                lines += fields.map { "trailer \($0.name): \($0.value)" }
            case .end:
                endBody()
                lines.append("end")
            case .failed(let failure):
                endBody()
                if case .network(let kind) = failure.kind {
                    lines.append("failed \(kind.rawValue)")
                } else {
                    lines.append("failed \(failure.message)")
                }
            }
        }
        return lines
    }
}
