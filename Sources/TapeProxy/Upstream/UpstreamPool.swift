internal import NIOCore
internal import TapeExchange

/// Keeps upstream connections between exchanges, newest first, since the newest is the least likely to be closed already.
///
/// Dials nothing. Not Sendable: lives on its event loop.
final class UpstreamPool {
    private struct Idle {
        var upstream: UpstreamHandler
        var until: NIODeadline
    }

    private let limits: ProxyLimits
    private var idle: [Origin: [Idle]] = [:]
    private(set) var count = 0

    init(limits: ProxyLimits) {
        self.limits = limits
    }

    func take(_ origin: Origin) -> UpstreamHandler? {
        while let last = self.idle[origin]?.popLast() {
            self.count -= 1
            if self.idle[origin]?.isEmpty == true { self.idle[origin] = nil }
            if last.upstream.isOpen { return last.upstream }
        }
        return nil
    }

    func put(_ upstream: UpstreamHandler) {
        guard upstream.isOpen, self.count < self.limits.idleInAll,
            self.idle[upstream.origin, default: []].count < self.limits.idlePerOrigin
        else {
            return upstream.close()
        }
        upstream.owner = nil
        upstream.whenIdleEnds = { [weak self] in self?.drop($0) }
        // Reading goes on, so that an origin's close is seen.
        upstream.setReading(true)
        let until = NIODeadline.now() + .seconds(Int64(self.limits.upstreamIdle))
        self.idle[upstream.origin, default: []].append(Idle(upstream: upstream, until: until))
        self.count += 1
    }

    /// Closes what nobody has used in time.
    func sweep(now: NIODeadline) {
        for (origin, list) in self.idle {
            let late = list.prefix { $0.until <= now }
            guard !late.isEmpty else { continue }
            self.count -= late.count
            let rest = Array(list.dropFirst(late.count))
            self.idle[origin] = rest.isEmpty ? nil : rest
            for entry in late { entry.upstream.close() }
        }
    }

    func closeAll() {
        let all = self.idle
        self.idle = [:]
        self.count = 0
        for list in all.values { for entry in list { entry.upstream.close() } }
    }

    private func drop(_ upstream: UpstreamHandler) {
        guard var list = self.idle[upstream.origin], let index = list.firstIndex(where: { $0.upstream === upstream }) else { return }
        list.remove(at: index)
        self.count -= 1
        self.idle[upstream.origin] = list.isEmpty ? nil : list
    }
}
