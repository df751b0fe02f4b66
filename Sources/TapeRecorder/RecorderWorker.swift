internal import TapeCore
internal import TapeExchange

/// The recorder's thread: takes batches from the queue, develops, encodes, writes, and syncs at least every second.
///
/// A write that fails is said once and tried again while its exchanges fit into memory. Not Sendable: lives on its thread.
final class RecorderWorker {
    /// Encoded octets kept while the disk is full.
    static let heldLimit = 16 << 20
    /// Encoded octets written at once: a larger batch is cut, so that the file never lags far behind.
    static let writeSize = 1 << 20
    /// Nanoseconds after which what is encoded is written, though the batch has not come to its end.
    static let writeInterval: UInt64 = 20_000_000
    /// Octets of bodies whose codings are taken off while traffic may come: a search for parameters in more takes longer than an
    /// acknowledged exchange may wait for its place in the file.
    static let developedAtOnce = 64 << 10
    /// Milliseconds of a nap between batches; an exchange is on its way to the file within this time.
    static let nap = 10
    /// Between two syncs, in nanoseconds.
    static let syncInterval: UInt64 = 1_000_000_000
    /// Without a failure for so long, the disk is taken to have room again.
    static let calm: UInt64 = 400_000_000
    /// Between two messages on a disk that is full for some exchanges and not for others.
    static let noticeInterval: UInt64 = 60_000_000_000
    /// Without work for so long, the thread sleeps until it is woken.
    static let restAfter: UInt64 = 500_000_000

    private let file: RecordingFile
    private let queue: RecorderQueue
    private let status: Guarded<RecorderStatus>
    private let drained: Guarded<(@Sendable () -> Void)?>
    private let notify: @Sendable (String) -> Void
    private var maker: InteractionMaker
    private var budget: DevelopmentBudget
    private var writer = JSONWriter(reserving: 64 << 10)
    /// Encoded and not in the file.
    private var pending: [UInt8] = []
    private var pendingEnds: [Int] = []
    /// For each what the vault knew when it was redacted.
    private var pendingGenerations: [Int] = []
    /// When the oldest of what is pending was encoded.
    private var pendingSince: UInt64 = 0
    private var waiting: [@Sendable () -> Void] = []
    private var lastSync: UInt64
    private var syncing: BackgroundSync?
    private var lastWork: UInt64
    private var isFailing = false
    private var lastFailure: UInt64 = 0
    /// Something was written since the last failure.
    private var hasWritten = false
    private var lastNotice: UInt64?
    /// The message of the failure is out, that of its end is not.
    private var owesEnd = false

    init(
        file: RecordingFile, queue: RecorderQueue, status: Guarded<RecorderStatus>,
        drained: Guarded<(@Sendable () -> Void)?>, notify: @escaping @Sendable (String) -> Void
    ) {
        self.file = file
        self.queue = queue
        self.status = status
        self.drained = drained
        self.notify = notify
        self.maker = InteractionMaker(store: file.store, redactor: file.redactor, digest: file.digest)
        let now = Self.now
        self.budget = DevelopmentBudget(now: now)
        self.lastSync = now
        self.lastWork = now
    }

    private static var now: UInt64 { MonotonicClock.now }

    func run() {
        while true {
            let batch = self.queue.take()
            for (index, item) in batch.items.enumerated() { self.take(item, isLast: index == batch.items.count - 1) }
            self.write()
            self.sync()
            self.noteCalm()
            for call in self.waiting { call() }
            self.waiting = []
            if self.queue.done(batch.weight, now: Self.now), let drained = self.drained.withLock({ $0 }) { drained() }
            if batch.items.isEmpty, batch.isClosed { break }
            if !batch.items.isEmpty { self.lastWork = Self.now }
            self.queue.rest(milliseconds: self.restTime)
        }
        self.endSync(waits: true)
        self.write()
        self.status.withLock {
            $0.lost += self.pendingEnds.count
            $0.held = 0
        }
    }

    private var restTime: Int? {
        if Self.now - self.lastWork < Self.restAfter { return Self.nap }
        return self.file.needsSync || self.syncing != nil || self.isFailing ? 500 : nil
    }

    // MARK: Exchanges

    private func take(_ item: RecorderItem, isLast: Bool) {
        switch item {
        case .block(let exchange, let side, let bytes):
            do {
                try self.maker.block(exchange: exchange, side: side, bytes: bytes)
            } catch {
                self.failed(error.message)
            }
        case .exchange(let exchange, let stored):
            self.take(exchange, isLast: isLast)
            if let stored { self.waiting.append(stored) }
        }
    }

    /// - Parameter isLast: nothing waits behind it, so that there is time to take codings off.
    private func take(_ exchange: TapedExchange, isLast: Bool) {
        let isCoded = exchange.isCoded
        let started = isCoded ? Self.now : 0
        let mayDevelop =
            !isCoded || (isLast && exchange.weight <= Self.developedAtOnce && self.budget.mayDevelop(now: started))
        // What is ready does not wait for a search.
        if isCoded, mayDevelop { self.write() }
        let generation = self.file.redactor?.vault.generation ?? 0
        do {
            guard let interaction = try self.maker.interaction(of: exchange, mayDevelop: mayDevelop) else { return self.lose() }
            self.writer.removeAll(baseDepth: 2)
            InteractionEncoder.encode(interaction, into: &self.writer)
            if self.pendingEnds.isEmpty { self.pendingSince = Self.now }
            self.writer.withUnsafeBytes { self.pending.append(contentsOf: $0) }
            self.pendingEnds.append(self.pending.count)
            self.pendingGenerations.append(generation)
            self.file.noteStart(interaction.started)
            if interaction.isUndeveloped { self.status.withLock { $0.undeveloped += 1 } }
        } catch let error as CassetteError {
            self.lose()
            self.failed(error.message)
        } catch {
            self.lose()
            self.failed("\(error)")
        }
        if isCoded, mayDevelop {
            let now = Self.now
            self.budget.spent(now - started, now: now)
        }
        if self.pending.count >= Self.writeSize || Self.now - self.pendingSince >= Self.writeInterval { self.write() }
    }

    private func lose() {
        self.status.withLock { $0.lost += 1 }
    }

    // MARK: The file

    private func write() {
        guard !self.pendingEnds.isEmpty else { return }
        let count = self.pendingEnds.count
        do throws(CassetteError) {
            try self.file.append(self.pending, ends: self.pendingEnds, generations: self.pendingGenerations)
            self.pending.removeAll(keepingCapacity: true)
            self.pendingEnds.removeAll(keepingCapacity: true)
            self.pendingGenerations.removeAll(keepingCapacity: true)
            self.status.withLock {
                $0.recorded += count
                $0.held = 0
            }
            self.hasWritten = true
        } catch {
            self.dropBeyondLimit()
            self.status.withLock { $0.held = self.pendingEnds.count }
            self.failed(error.message)
        }
    }

    /// While nothing can be written, the newest exchanges are lost first: what came before the gap stays whole.
    private func dropBeyondLimit() {
        guard self.pending.count > Self.heldLimit else { return }
        let kept = self.pendingEnds.prefix { $0 <= Self.heldLimit }
        let lost = self.pendingEnds.count - kept.count
        self.pendingEnds = Array(kept)
        self.pendingGenerations.removeLast(lost)
        self.pending.removeSubrange((kept.last ?? 0)...)
        self.status.withLock { $0.lost += lost }
    }

    /// Where somebody waits for it, here and now; else on a thread of its own, since a disk may take its time and the traffic goes on.
    private func sync() {
        if !self.waiting.isEmpty {
            self.endSync(waits: true)
            do throws(CassetteError) {
                try self.file.sync()
            } catch {
                self.failed(error.message)
            }
            self.lastSync = Self.now
            return
        }
        self.endSync(waits: false)
        guard self.syncing == nil, self.file.needsSync, Self.now - self.lastSync >= Self.syncInterval else { return }
        self.lastSync = Self.now
        do throws(CassetteError) {
            guard let syncs = try self.file.beginSync() else { return }
            self.syncing = BackgroundSync(syncs)
        } catch {
            self.failed(error.message)
        }
    }

    private func endSync(waits: Bool) {
        guard let syncing, let result = syncing.result(waits: waits) else { return }
        self.syncing = nil
        if case .failure(let error) = result {
            self.file.syncFailed(syncing.syncs)
            self.failed(error.message)
        }
    }

    /// Says it once, until it has got better; once a minute where it gets better and worse, as when large bodies find no room and
    /// small ones do.
    private func failed(_ message: String) {
        let now = Self.now
        let isNew = !self.isFailing && (self.lastNotice.map { now - $0 >= Self.noticeInterval } ?? true)
        self.isFailing = true
        self.hasWritten = false
        self.lastFailure = now
        self.status.withLock { status in
            status.isDiskFull = true
            if status.firstProblem == nil { status.firstProblem = message }
        }
        guard isNew else { return }
        self.lastNotice = now
        self.owesEnd = true
        self.notify("\(message); traffic goes on, recording resumes when it can.")
    }

    /// A while behind the last failure, exchanges are let in again; that it got better is said once one was written.
    private func noteCalm() {
        guard self.isFailing, self.pendingEnds.isEmpty, Self.now - self.lastFailure >= Self.calm else { return }
        self.status.withLock { $0.isDiskFull = false }
        guard self.hasWritten else { return }
        self.isFailing = false
        guard self.owesEnd else { return }
        self.owesEnd = false
        self.notify("recording again.")
    }
}
