internal import CassetteFormat
internal import CassetteModel
internal import CassetteRedaction
internal import TapeBytes
internal import TapeExchange

/// The recorder's thread: takes batches from the queue, decodes, encodes, writes, and syncs at least every second.
///
/// A write that fails is said once and tried again, after a pause, while its exchanges fit into memory. An exchange that somebody waits for
/// is written and synced at once, or its caller is told why not. Not Sendable: lives on its thread.
final class RecorderWorker {
    /// Encoded bytes kept while nothing can be written.
    static let heldLimit = 16 << 20
    /// Encoded bytes written at once: a larger batch is cut, so that the file is never far from what came.
    static let writeSize = 1 << 20
    /// Nanoseconds after which what is encoded is written, though the batch has not come to its end.
    static let writeInterval: UInt64 = 20_000_000
    /// Bytes of bodies whose codings are taken off while traffic may come: a search for parameters in more takes longer than an
    /// acknowledged exchange may wait for its place in the file.
    static let decodedAtOnce = 64 << 10
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

    /// What a run may ask for.
    struct Options {
        /// The caller refuses exchanges that cannot be recorded: one that somebody waits for is on the disk, or never in the file.
        var refusesUnrecorded = false
        /// Encoded bytes kept while nothing can be written.
        var heldLimit = RecorderWorker.heldLimit
        /// Runs a search on another thread; no where there is none left.
        var startSearch: @Sendable (@escaping @Sendable () -> Void) -> Bool = { OwnThread.start($0) }
        /// Nanoseconds of a clock that never goes back.
        var clock: @Sendable () -> UInt64 = { MonotonicClock.now }
    }

    /// An exchange that is encoded and not in the file.
    private struct Encoded {
        /// Where it ends in `pending`.
        var end: Int
        /// What the vault knew when it was redacted.
        var generation: Int
        var stored: RecorderItem.Stored?
    }

    private let file: RecordingFile
    private let queue: RecorderQueue
    private let status: Guarded<RecorderStatus>
    private let drained: Guarded<(@Sendable () -> Void)?>
    private let notify: @Sendable (String) -> Void
    private let options: Options
    /// Of what takes long, and of what may; nil if nothing is searched for.
    private let search: PostponedSearch?
    private let attempts: PostponedSearch?
    /// For searches on this thread of bodies that are dense, to their end or not.
    private var attemptBudget: DecodingBudget
    private var maker: InteractionMaker
    private var budget: DecodingBudget
    private var writer = JSONWriter(reserving: 64 << 10)
    private var pending: [UInt8] = []
    private var encoded: [Encoded] = []
    /// When the oldest of what is pending was encoded.
    private var pendingSince: UInt64 = 0
    private var lastSync: UInt64
    private var syncing: BackgroundSync?
    private var lastWork: UInt64
    /// Nothing comes any more but what is searched.
    private var isClosing = false
    /// What keeps it from writing, until exchanges are let in again.
    private var obstacle: RecorderProblem?
    private var retry = RetryPause()
    /// The same for files of bodies: where a body finds no room, the cassette may.
    private var bodyRetry = RetryPause()
    private var bodyObstacle: RecorderProblem?
    private var isFailing = false
    private var lastFailure: UInt64 = 0
    /// Something was written since the last failure.
    private var hasWritten = false
    /// When a message on the disk and one on an exchange came last.
    private var lastNotice: (disk: UInt64?, exchange: UInt64?)
    /// The message of the failure is out, that of its end is not.
    private var owesEnd = false

    init(
        file: RecordingFile, queue: RecorderQueue, status: Guarded<RecorderStatus>,
        drained: Guarded<(@Sendable () -> Void)?>, options: Options = Options(), notify: @escaping @Sendable (String) -> Void
    ) {
        self.file = file
        self.queue = queue
        self.status = status
        self.drained = drained
        self.options = options
        self.notify = notify
        self.maker = InteractionMaker(store: file.store, redactor: file.redactor, digest: file.digest)
        let redaction = self.maker.redaction
        func search(_ kind: PostponedSearch.Kind) -> PostponedSearch? {
            redaction.map { PostponedSearch(kind, $0.forAnotherThread(), start: options.startSearch) { queue.nudge() } }
        }
        self.search = search(.whole)
        self.attempts = search(.attempt)
        let now = options.clock()
        self.budget = DecodingBudget(now: now)
        self.attemptBudget = DecodingBudget(now: now)
        self.lastSync = now
        self.lastWork = now
    }

    private var now: UInt64 { self.options.clock() }

    func run() {
        while self.turn() {
            if self.isClosing {
                self.searches.first { !$0.isIdle }?.wait()
            } else {
                self.queue.rest(milliseconds: self.restTime)
            }
        }
        self.end()
    }

    /// Those that other threads do.
    var searches: [PostponedSearch] { [self.attempts, self.search].compactMap { $0 } }

    /// Does what there is to do now.
    ///
    /// - Returns: whether more may come.
    func turn() -> Bool {
        self.takeSearched()
        let batch = self.queue.take()
        for (index, item) in batch.items.enumerated() { self.take(item, isLast: index == batch.items.count - 1) }
        self.write()
        self.sync()
        self.noteCalm()
        self.holdQueue()
        if self.queue.done(batch.weight, now: self.now), let drained = self.drained.withLock({ $0 }) { drained() }
        self.isClosing = batch.items.isEmpty && batch.isClosed
        if self.isClosing, self.searches.allSatisfy(\.isIdle) { return false }
        if !batch.items.isEmpty { self.lastWork = self.now }
        return true
    }

    /// The last attempt to write what is pending, and what is to be said of the whole run.
    func end() {
        self.endSync(waits: true)
        self.retry.succeeded()
        self.write()
        self.status.withLock {
            $0.lost += self.encoded.count
            $0.held = 0
        }
        self.tellUnsearched()
    }

    /// Secrets that there was no room for may stand anywhere else.
    private func tellUnsearched() {
        guard let count = self.file.redactor?.vault.unsearched, count > 0 else { return }
        self.status.withLock { $0.unsearched = count }
        let times = count == 1 ? "once" : "\(count) times"
        let limit = "\(SecretVault.limit), or \(SecretVault.octetLimit >> 20) MiB"
        self.notify(
            "\"\(self.file.plan.path)\" may hold secrets: more came than are looked for everywhere (\(limit)); \(times) there was no room for one, "
                + "and such are taken out at their own places only: look through it, or record less at a time.")
    }

    private var restTime: Int? {
        if self.now - self.lastWork < Self.restAfter { return Self.nap }
        return self.file.needsSync || self.syncing != nil || self.isFailing ? 500 : nil
    }

    // MARK: Exchanges

    private func take(_ item: RecorderItem, isLast: Bool) {
        switch item {
        case .block(let exchange, let side, let bytes):
            do {
                try self.withBodies { maker in try maker.block(exchange: exchange, side: side, bytes: bytes) }
            } catch {
                self.failed(RecorderProblem(error, ofExchange: exchange))
            }
        case .exchange(let exchange, let stored): self.take(exchange, stored: stored, isLast: isLast)
        }
    }

    /// - Parameter isLast: nothing waits after it, so that there is time to take codings off.
    private func take(_ exchange: TapedExchange, stored: RecorderItem.Stored?, isLast: Bool) {
        // It would be thrown away: nothing of it is looked at.
        if let obstacle, stored != nil, self.options.refusesUnrecorded, !self.retry.mayTry(at: self.now) {
            self.maker.drop(exchange.interaction.id)
            return self.lose(stored, obstacle)
        }
        let isCoded = exchange.isCoded
        let started = isCoded ? self.now : 0
        let mayDecode =
            !isCoded || (isLast && exchange.weight <= Self.decodedAtOnce && self.budget.mayDecode(now: started))
        // What is ready does not wait for a search.
        if isCoded, mayDecode { self.write() }
        let generation = self.file.redactor?.vault.generation ?? 0
        do {
            var loose = try self.withBodies { maker in try maker.loose(exchange) }
            guard try self.isRedacted(&loose, exchange, stored) else { return }
            self.encode(try self.interaction(of: loose, mayDecode: mayDecode), generation, stored)
        } catch {
            self.lose(exchange.interaction.id, error, stored)
        }
        if isCoded, mayDecode {
            let now = self.now
            self.budget.spent(now - started, now: now)
        }
        self.writeIfDue()
    }

    private func interaction(of exchange: LooseExchange, mayDecode: Bool) throws -> Interaction {
        try self.withBodies { maker in try maker.interaction(of: exchange, mayDecode: mayDecode) }
    }

    /// Lets files of bodies be begun unless one has just failed: then a pause comes first, as for the cassette. What fails in a pause was
    /// begun before, and makes it no longer.
    private func withBodies<Result>(_ body: (inout InteractionMaker) throws -> Result) throws -> Result {
        let isPausing = !self.bodyRetry.mayTry(at: self.now)
        self.maker.obstacle = isPausing ? self.bodyObstacle : nil
        let begun = self.maker.begun
        do {
            let result = try body(&self.maker)
            if self.maker.begun > begun { self.bodyRetry.succeeded() }
            return result
        } catch {
            if !isPausing, let cause = error as? CassetteError, RecorderProblem(error, ofExchange: 0).stopsWriting {
                self.bodyObstacle = RecorderProblem(cause)
                self.bodyRetry.failed(at: self.now)
            }
            throw error
        }
    }

    // MARK: Searches that take long

    /// Whether it could be redacted here and now; else another thread has it. The others go on, and this one comes when it is redacted,
    /// wherever that is in the file: the close puts it in order.
    private func isRedacted(_ loose: inout LooseExchange, _ exchange: TapedExchange, _ stored: RecorderItem.Stored?) throws -> Bool {
        guard let redaction = self.maker.redaction else { return true }
        defer { self.holdQueue() }
        let started = exchange.isCoded ? self.now : 0
        // Many searches in a row of what is dense would take as long as one that does: then another thread begins them too.
        if exchange.isCoded, !self.attemptBudget.mayDecode(now: started),
            self.attempts?.put(PostponedSearch.Job(loose, weight: exchange.weight, stored: stored)) == true
        {
            return false
        }
        let attempt = try redaction.redactAtOnce(&loose)
        if exchange.isCoded, attempt != .redacted(isDense: false) {
            let now = self.now
            self.attemptBudget.spent(now - started, now: now)
        }
        if attempt != .tooLong { return true }
        if self.search?.put(PostponedSearch.Job(loose, weight: exchange.weight, stored: stored)) == true { return false }
        // Without another thread they wait after all.
        _ = try redaction.redact(&loose.interaction, request: &loose.request, response: &loose.response)
        return true
    }

    /// What is tried may have to be searched: both count.
    private func holdQueue() {
        let count = self.searches.reduce(0) { $0 + $1.count }
        self.queue.hold(count >= PostponedSearch.Kind.whole.limit || self.searches.contains(where: \.isFull))
    }

    private func takeSearched() {
        for job in self.searches.flatMap({ $0.take() }) {
            do {
                if let error = job.error { throw error }
                if job.isUnsearched {
                    let next = PostponedSearch.Job(job.exchange, weight: job.weight, stored: job.stored)
                    if self.search?.put(next) == true { continue }
                    var exchange = job.exchange
                    _ = try self.maker.redaction?.redact(&exchange.interaction, request: &exchange.request, response: &exchange.response)
                    job.exchange = exchange
                }
                // There was no time for a search, and so there is none for what takes longer.
                self.encode(try self.interaction(of: job.exchange, mayDecode: false), job.generation, job.stored)
            } catch is SearchBudget.Spent {
                self.lose(job.stored, RecorderProblem(.ended, "the recording was given up while the exchange was searched for secrets."))
            } catch {
                self.lose(job.exchange.interaction.id, error, job.stored)
            }
            self.writeIfDue()
        }
    }

    // MARK: Encoding

    private func writeIfDue() {
        if self.pending.count >= Self.writeSize || self.now - self.pendingSince >= Self.writeInterval { self.write() }
    }

    private func encode(_ interaction: Interaction, _ generation: Int, _ stored: RecorderItem.Stored?) {
        self.writer.removeAll(baseDepth: 2)
        InteractionEncoder.encode(interaction, into: &self.writer)
        let isFull = self.writer.withUnsafeBytes { self.pending.count + $0.count > self.options.heldLimit }
        // While nothing can be written, the newest exchanges are lost first: what came before the gap stays whole.
        if isFull, let obstacle, !self.retry.mayTry(at: self.now) { return self.lose(stored, obstacle) }
        if self.encoded.isEmpty { self.pendingSince = self.now }
        self.writer.withUnsafeBytes { self.pending.append(contentsOf: $0) }
        self.encoded.append(Encoded(end: self.pending.count, generation: generation, stored: stored))
        self.file.noteStart(interaction.started)
        if interaction.isUndecoded { self.status.withLock { $0.undeveloped += 1 } }
    }

    private func lose(_ id: Int, _ error: any Error, _ stored: RecorderItem.Stored?) {
        if let error = error as? InteractionMaker.NotTried { return self.lose(stored, error.problem) }
        let problem = RecorderProblem(error, ofExchange: id)
        self.failed(problem)
        self.lose(stored, problem)
    }

    private func lose(_ stored: RecorderItem.Stored?, _ problem: RecorderProblem) {
        self.status.withLock { $0.lost += 1 }
        self.file.hasOrphans = true
        stored?(.failure(problem))
    }

    // MARK: The file

    /// Writes what is pending, and syncs it where somebody waits for it. After a failure nothing is touched until the pause is over.
    private func write() {
        guard !self.encoded.isEmpty else { return }
        if let obstacle, !self.retry.mayTry(at: self.now) { return self.hold(obstacle) }
        let isWaitedFor = self.encoded.contains { $0.stored != nil }
        let mark = self.file.mark
        var isAppended = false
        do throws(CassetteError) {
            try self.file.append(self.pending, ends: self.encoded.map(\.end), generations: self.encoded.map(\.generation))
            isAppended = true
            if isWaitedFor { try self.syncNow() }
            self.written(.success(()))
        } catch {
            let problem = RecorderProblem(error)
            self.failed(problem)
            self.retry.failed(at: self.now)
            // What is in the file and not synced counts as recorded; not so where its caller is to refuse it.
            guard !isAppended || isWaitedFor && self.options.refusesUnrecorded else { return self.written(.failure(problem)) }
            // Where this fails, it is the first thing that the next write or the close does.
            if isAppended { try? self.file.takeBack(to: mark) }
            self.hold(problem)
        }
    }

    private func written(_ result: Result<Void, RecorderProblem>) {
        let written = self.encoded
        self.pending.removeAll(keepingCapacity: true)
        self.encoded.removeAll(keepingCapacity: true)
        self.status.withLock {
            $0.recorded += written.count
            $0.held = 0
        }
        if case .success = result {
            self.hasWritten = true
            self.retry.succeeded()
        }
        for exchange in written { exchange.stored?(result) }
    }

    /// Keeps what could not be written for the next attempt, as far as it may be kept, and tells those who wait.
    private func hold(_ problem: RecorderProblem) {
        let waited = self.encoded.compactMap(\.stored)
        var lost = 0
        if self.options.refusesUnrecorded, !waited.isEmpty { lost += self.drop { $0.stored != nil } }
        if self.pending.count > self.options.heldLimit { lost += self.drop { $0.end > self.options.heldLimit } }
        for index in self.encoded.indices { self.encoded[index].stored = nil }
        self.status.withLock {
            $0.lost += lost
            $0.held = self.encoded.count
        }
        if lost > 0 { self.file.hasOrphans = true }
        for stored in waited { stored(.failure(problem)) }
    }

    /// - Returns: how many exchanges went.
    private func drop(where isDropped: (Encoded) -> Bool) -> Int {
        var kept: [Encoded] = []
        var bytes: [UInt8] = []
        var start = 0
        for var exchange in self.encoded {
            let range = start..<exchange.end
            start = exchange.end
            if isDropped(exchange) { continue }
            bytes += self.pending[range]
            exchange.end = bytes.count
            kept.append(exchange)
        }
        let count = self.encoded.count - kept.count
        self.pending = bytes
        self.encoded = kept
        return count
    }

    /// Here and now, since somebody waits for it.
    private func syncNow() throws(CassetteError) {
        self.endSync(waits: true)
        try self.file.sync()
        self.lastSync = self.now
    }

    /// On a thread of its own, since a disk may take its time and the traffic goes on.
    private func sync() {
        self.endSync(waits: false)
        guard self.syncing == nil, self.file.needsSync, self.now - self.lastSync >= Self.syncInterval else { return }
        self.lastSync = self.now
        do throws(CassetteError) {
            guard let syncs = try self.file.beginSync() else { return }
            self.syncing = BackgroundSync(syncs)
        } catch {
            self.failed(RecorderProblem(error))
        }
    }

    private func endSync(waits: Bool) {
        guard let syncing, let result = syncing.result(waits: waits) else { return }
        self.syncing = nil
        if case .failure(let error) = result {
            self.file.syncFailed(syncing.syncs)
            self.failed(RecorderProblem(error))
        }
    }

    // MARK: Problems

    private func failed(_ problem: RecorderProblem) {
        self.status.withLock { status in
            if status.firstProblem == nil { status.firstProblem = problem }
            if problem.stopsWriting { status.obstacle = problem }
        }
        if problem.stopsWriting { self.stopped(by: problem) } else { self.lost(by: problem) }
    }

    /// Says it once, until it has got better; once a minute where it gets better and worse, as when large bodies find no room and
    /// small ones do.
    private func stopped(by problem: RecorderProblem) {
        let now = self.now
        let isNew = !self.isFailing && self.isTime(self.lastNotice.disk, now)
        self.obstacle = problem
        self.isFailing = true
        self.hasWritten = false
        self.lastFailure = now
        guard isNew else { return }
        self.lastNotice.disk = now
        self.owesEnd = true
        let traffic = self.options.refusesUnrecorded ? "what would have to be recorded is refused until it can be" : "traffic goes on"
        self.notify("\(problem.message); \(traffic), recording resumes when it can.")
    }

    /// One exchange is lost, and nothing else is concerned; said once a minute.
    private func lost(by problem: RecorderProblem) {
        let now = self.now
        guard self.isTime(self.lastNotice.exchange, now) else { return }
        self.lastNotice.exchange = now
        self.notify("\(problem.message).")
    }

    private func isTime(_ last: UInt64?, _ now: UInt64) -> Bool { last.map { now - $0 >= Self.noticeInterval } ?? true }

    /// A while after the last failure, exchanges are let in again; that it got better is said once one was written.
    private func noteCalm() {
        let now = self.now
        guard self.isFailing, self.encoded.isEmpty, now - self.lastFailure >= Self.calm else { return }
        guard self.retry.mayTry(at: now), self.bodyRetry.mayTry(at: now) else { return }
        self.obstacle = nil
        self.status.withLock { $0.obstacle = nil }
        guard self.hasWritten else { return }
        self.isFailing = false
        guard self.owesEnd else { return }
        self.owesEnd = false
        self.notify("recording again.")
    }
}
