internal import CassetteFormat
internal import CassetteModel
internal import CassetteRedaction
internal import CassetteStore
internal import TapeBytes
internal import TapeExchange

/// The recorder's thread: takes batches from the queue, decodes, encodes, writes, and syncs at least every second.
///
/// A failed write is reported once and retried after a pause, as long as its exchanges fit into memory. An exchange with a waiting
/// caller is written and synced at once, or the caller is told why it was not. Not Sendable: lives on its thread.
final class RecorderWorker {
    /// The most encoded bytes kept while nothing can be written.
    static let heldLimit = 16 << 20
    /// The most encoded bytes written at once. A larger batch is split, so that the file is never far behind the traffic.
    static let writeSize = 1 << 20
    /// Bytes of a batch after which progress is reported to the queue: a few exchanges with bodies, or tens without.
    static let portionSize = 64 << 10
    /// Nanoseconds after which encoded exchanges are written, even before the end of the batch.
    static let writeInterval: UInt64 = 20_000_000
    /// The most bytes of a body that is decoded while traffic may arrive. Finding the compression parameters of a longer body takes longer
    /// than an exchange may take to reach the file.
    static let decodedAtOnce = 64 << 10
    /// Milliseconds of a nap between batches, and of a nap once nothing has arrived for a while, which is the longest wait in an idle
    /// recorder.
    static let nap = 3
    static let longNap = 10
    /// Nanoseconds without work after which naps are long.
    static let napsLongAfter: UInt64 = 30_000_000
    /// Nanoseconds between two syncs.
    static let syncInterval: UInt64 = 1_000_000_000
    /// Nanoseconds without a failure after which the disk is assumed to have space again.
    static let retryInterval: UInt64 = 400_000_000
    /// Nanoseconds between two messages, for a disk that is full for some exchanges but not for others.
    static let noticeInterval: UInt64 = 60_000_000_000
    /// Nanoseconds without work after which the thread sleeps until it is woken.
    static let restAfter: UInt64 = 500_000_000
    /// After this many bytes of exchanges and messages, and this many nanoseconds without work, freed memory is returned to the system.
    /// Allocators keep it for the next burst, and its fragments grow with each burst.
    static let memoryGivenBackAfter = (bytes: 16 << 20, nanoseconds: 100_000_000 as UInt64)

    struct Options {
        /// The caller refuses exchanges that cannot be recorded. An exchange with a waiting caller is on disk at once or never in the file.
        var refusesUnrecorded = false
        /// The most encoded bytes kept while nothing can be written.
        var heldLimit = RecorderWorker.heldLimit
        /// Runs a search on another thread. Returns false if none can be started.
        var startSearch: @Sendable (@escaping @Sendable () -> Void) -> Bool = { DedicatedThread.start($0) }
        /// Processors that the process may use.
        var processors = ProcessorCount.usable
        /// Returns freed memory to the system.
        var giveBackMemory: @Sendable () -> Void = { FreeMemory.giveBackSoon() }
        /// Nanoseconds of a monotonic clock.
        var clock: @Sendable () -> UInt64 = { MonotonicClock.now }
    }

    /// An exchange that is encoded but not in the file yet.
    private struct Encoded {
        /// Its end in `pending`.
        var end: Int
        /// The redactor's generation when it was redacted.
        var generation: Int
        var stored: RecorderItem.Stored?
        /// A conversation's journal, to be removed when the exchange is on disk.
        var journal: ConversationJournal?
    }

    /// The later events of a conversation while one of its messages is being searched.
    private struct Waiting {
        var messages: [(message: any ConversationMessage, place: MessagePlace)] = []
        var end: (interaction: Interaction, stored: RecorderItem.Stored?)?
    }

    private let file: RecordingFile
    private let queue: RecorderQueue
    private let status: Guarded<RecorderStatus>
    private let drained: Guarded<(@Sendable () -> Void)?>
    private let notify: @Sendable (String) -> Void
    private let options: Options
    /// Searches that take long, and attempts that may take long; nil if secrets are kept.
    private let search: PostponedSearch?
    private let attempts: PostponedSearch?
    /// The searches on other threads.
    let searches: [PostponedSearch]
    /// nil if secrets are kept or there is only one processor.
    private let ahead: SearchAhead?
    /// Limits the time that this thread spends on searching dense bodies.
    private var attemptBudget: DecodingBudget
    private var maker: InteractionMaker
    private var budget: DecodingBudget
    private var proving: ProvingAhead
    private var writer = JSONWriter(reserving: 64 << 10)
    private var conversations: RunningConversations
    /// Ended conversations whose messages have not been put together yet, for example because the disk is full.
    private var ended: [(interaction: Interaction, stored: RecorderItem.Stored?)] = []
    /// Conversations in which a long message is being searched, with the following events in order.
    private var waiting: [Int: Waiting] = [:]
    /// Bytes of the messages in `waiting`.
    private var waitingWeight = 0
    private var conversationRetry = RetryPause()
    private var journals = FinishedJournals()
    private var pending: [UInt8] = []
    private var encoded: [Encoded] = []
    /// Exchanges with parts that could not be searched for secrets.
    private var unsearched = UnsearchedExchanges()
    /// When the oldest pending exchange was encoded.
    private var pendingSince: UInt64 = 0
    private var lastSync: UInt64
    private var syncing: BackgroundSync?
    private var lastWork: UInt64
    /// Bytes received since memory was last returned to the system.
    private var receivedSize = 0
    /// The queue is closed and empty. Only searches remain.
    private var isClosing = false
    /// Why it cannot write, until exchanges are accepted again.
    private var obstacle: RecorderProblem?
    private var retry = RetryPause()
    /// The same for body files: if there is no space for a body, there may still be space for the cassette.
    private var bodyRetry = RetryPause()
    private var bodyObstacle: RecorderProblem?
    private var isFailing = false
    private var lastFailure: UInt64 = 0
    /// Something was written after the last failure.
    private var hasWritten = false
    /// When the last messages about the disk and about a lost exchange were sent.
    private var lastNotice: (disk: UInt64?, exchange: UInt64?)
    /// The failure was reported, but its end has not been yet.
    private var recoveryNoticeDue = false

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
        self.conversations = RunningConversations(file: file, heldLimit: options.heldLimit)
        self.maker = InteractionMaker(store: file.store, redactor: file.redactor, schema: file.plan.schema, digest: file.digest)
        let redaction = self.maker.redaction
        func search(_ kind: PostponedSearch.Kind) -> PostponedSearch? {
            redaction.map { PostponedSearch(kind, $0.forAnotherThread(), start: options.startSearch) { queue.nudge() } }
        }
        self.search = search(.whole)
        self.attempts = search(.attempt)
        self.searches = [self.attempts, self.search].compactMap { $0 }
        self.proving = ProvingAhead(cassettePath: file.plan.path, digest: file.digest)
        self.ahead = redaction.flatMap { SearchAhead($0.redactor, processors: options.processors) }
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

    /// One pass: takes a batch, writes it, and syncs if it is time.
    ///
    /// - Returns: whether there may be more to do.
    func turn() -> Bool {
        self.takeSearched()
        var batch = self.queue.take()
        let rest = batch.weight - self.take(&batch)
        self.writeConversations()
        self.write()
        self.sync()
        self.noteRecovery()
        self.holdQueue()
        _ = self.done(rest)
        self.isClosing = batch.entries.isEmpty && batch.isClosed
        if self.isClosing, self.searches.allSatisfy(\.isIdle) { return false }
        if !batch.entries.isEmpty { self.lastWork = self.now }
        self.receivedSize += batch.weight
        self.prove()
        self.giveBackMemory()
        return true
    }

    /// Takes the items of a batch and reports progress to the queue after each portion, so that connections wait for a portion instead of
    /// the whole batch.
    ///
    /// - Returns: the bytes that have been reported.
    private func take(_ batch: inout RecorderQueue.Batch) -> Int {
        self.ahead?.begin(batch)
        defer { self.ahead?.forget() }
        var (told, portion) = (0, 0)
        var began = self.now
        for index in batch.entries.indices {
            // Moved out, so that finished items do not stay in memory until the end of the batch.
            var item = RecorderItem.nothing
            swap(&item, &batch.entries[index].item)
            portion += item.weight
            self.take(consume item, isLast: index == batch.entries.count - 1)
            guard portion >= Self.portionSize, index + 1 < batch.entries.count else { continue }
            began = self.done(portion, since: began, oldest: batch.oldestExchange(from: index + 1))
            told += portion
            portion = 0
        }
        return told
    }

    /// - Parameter since: when work on these bytes began; nil if there was other work as well.
    /// - Returns: the time.
    private func done(_ weight: Int, since began: UInt64? = nil, oldest: UInt64? = nil) -> UInt64 {
        let now = self.now
        if self.queue.done(weight, took: began.map { now - $0 }, oldest: oldest, now: now), let drained = self.drained.withLock({ $0 }) {
            drained()
        }
        return now
    }

    /// Does work for the close while there is nothing else to do.
    private func prove() {
        guard !self.isClosing, self.proving.hasWork, self.now - self.lastWork >= ProvingAhead.begin else { return }
        let began = self.now
        self.proving.work(into: &self.file.proofs) { self.now - began >= ProvingAhead.turnTime || !self.queue.isEmpty }
    }

    private func giveBackMemory() {
        let (size, time) = Self.memoryGivenBackAfter
        guard self.receivedSize >= size, self.now - self.lastWork >= time, !self.proving.hasWork else { return }
        self.receivedSize = 0
        self.options.giveBackMemory()
    }

    /// Makes the last attempt to write pending exchanges, and reports on the whole run.
    func end() {
        self.endSync(waits: true)
        self.retry.succeeded()
        self.endConversations()
        self.write()
        self.status.withLock {
            $0.lost += self.encoded.count
            $0.held = 0
        }
        self.removeJournals()
        self.reportUnsearched()
    }

    /// Reports secrets beyond the limit, which may remain anywhere else in the recording.
    private func reportUnsearched() {
        if let words = self.unsearched.words {
            self.status.withLock { $0.unsearchedExchanges = self.unsearched }
            let next =
                self.searches.contains(where: \.isGivenUp)
                ? "\"wiretape redact \(self.file.path)\" searches them to the end"
                : "check these bodies, or have the server send them in a coding that Wiretape supports"
            self.notify("\"\(self.file.plan.path)\": \(words): \(next); --fail-on unsearched makes such a recording fail.")
        }
        guard let count = self.file.redactor?.vault.unsearched, count > 0 else { return }
        self.status.withLock { $0.unsearched = count }
        let times = count == 1 ? "once" : "\(count) times"
        let limit = "\(SecretVault.limit), or \(SecretVault.byteLimit >> 20) MiB"
        self.notify(
            "\"\(self.file.plan.path)\" may hold secrets: it contains more distinct secrets than can be searched for everywhere (\(limit)). A "
                + "secret was redacted only where it was found (\(times)), so copies of it may remain: check the recording, or record less at a time."
        )
    }

    /// Milliseconds until the next turn, unless something urgent is put; nil if there is nothing to do until something is put.
    var restTime: Int? {
        if self.proving.hasWork, self.now - self.lastWork >= ProvingAhead.begin { return 0 }
        let idle = self.now - self.lastWork
        if idle < Self.restAfter || self.conversations.hasPending { return idle < Self.napsLongAfter ? Self.nap : Self.longNap }
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
        case .dropped(let exchange): self.maker.drop(exchange)
        case .exchange(let exchange, let stored): self.take(exchange, stored: stored, isLast: isLast)
        case .opened(let interaction, let form): self.open(interaction, form)
        case .message(let exchange, let message): self.take(message, of: exchange)
        case .closed(let interaction, let stored):
            guard self.waiting[interaction.id] == nil else {
                self.waiting[interaction.id]?.end = (interaction, stored)
                return
            }
            self.closed(interaction, stored)
        }
    }

    /// - Parameter isLast: nothing waits after it, so there is time to decode it.
    private func take(_ exchange: TapedExchange, stored: RecorderItem.Stored?, isLast: Bool) {
        // It would be discarded, so nothing is done for it.
        if let obstacle, stored != nil, self.options.refusesUnrecorded, !self.retry.mayTry(at: self.now) {
            self.maker.drop(exchange.interaction.id)
            self.forgetRefused(exchange.interaction.id, stored)
            return self.lose(stored, obstacle)
        }
        let isCoded = exchange.isCoded
        let started = isCoded ? self.now : 0
        let mayDecode =
            !isCoded || (isLast && exchange.weight <= Self.decodedAtOnce && self.budget.mayDecode(now: started))
        // Write encoded exchanges first, so that they do not wait while this one is decoded.
        if isCoded, mayDecode { self.write() }
        let generation = self.file.redactor?.generation ?? 0
        if isCoded, let clean = self.ahead?.clean(exchange.interaction.id) { self.maker.redaction?.trust(clean) }
        do {
            var captured = try self.withBodies { maker in try maker.captured(exchange) }
            guard try self.isRedacted(&captured, exchange, stored) else { return }
            try self.makeReadable(&captured, mayDecode: mayDecode)
            self.encode(captured.interaction, generation, stored)
        } catch {
            self.lose(exchange.interaction.id, error, stored)
        }
        if isCoded, mayDecode {
            let now = self.now
            self.budget.spent(now - started, now: now)
        }
        self.writeIfDue()
    }

    private func makeReadable(_ exchange: inout CapturedExchange, mayDecode: Bool) throws {
        try self.withBodies { maker in try maker.makeReadable(&exchange, mayDecode: mayDecode) }
    }

    /// Allows new body files unless one has just failed, in which case there is a pause first, as for the cassette. A failure during a
    /// pause belongs to an earlier file and does not extend the pause.
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

    // MARK: Conversations

    private func open(_ interaction: Interaction, _ form: ConversationForm) {
        let generation = self.file.redactor?.generation ?? 0
        do {
            let head = try self.redacted(interaction)
            self.writer.removeAll(baseDepth: InteractionEncoder.depth)
            InteractionEncoder.encode(head, into: &self.writer)
            self.conversations.begin(
                interaction.id,
                RunningConversations.Conversation(form: form, head: self.writer.bytes, opened: self.now, generation: generation))
        } catch {
            // Its end will not be recorded either.
            self.failed(RecorderProblem(error, ofExchange: interaction.id))
        }
    }

    private func redacted(_ interaction: Interaction) throws -> Interaction {
        guard let redaction = self.maker.redaction else { return interaction }
        var interaction = interaction
        var (request, response): (CapturedBody?, CapturedBody?)
        _ = try redaction.redact(&interaction, request: &request, response: &response)
        return interaction
    }

    private func take(_ message: any ConversationMessage, of id: Int) {
        do {
            let place = try self.maker.place(of: message, in: id)
            guard self.waiting[id] == nil else {
                self.waitingWeight += message.weight
                self.waiting[id]?.messages.append((message, place))
                return self.holdQueue()
            }
            self.take(message, of: id, place)
        } catch {
            self.leaveOut(of: id)
        }
    }

    /// A message whose search would take long is written later, and so are all following events of its conversation.
    private func take(_ message: any ConversationMessage, of id: Int, _ place: MessagePlace) {
        // The message is no longer needed.
        guard self.conversations.contains(id), !self.conversations.hasGap(id) else { return self.leaveOut(of: id) }
        guard message.mayTakeLong, let redactor = place.redactor else { return self.write(message, of: id, place) }
        var (searched, attempt) = (message, place)
        let budget = ExchangeRedaction.budgetAtOnce()
        attempt.redactor = redactor.within(budget)
        // Content in a file is searched in many pieces, so there is no quick attempt.
        if attempt.spool == nil, (try? searched.search(&attempt)) != nil, !budget.isSpent { return self.write(searched, of: id, place) }
        guard self.search?.put(PostponedSearch.Job(.message(of: id, message, place), weight: message.weight)) == true else {
            return self.write(message, of: id, place)
        }
        self.waiting[id] = self.waiting[id] ?? Waiting()
        self.holdQueue()
    }

    private func write(_ message: any ConversationMessage, of id: Int, _ place: MessagePlace) {
        do {
            self.writer.removeAll()
            var count = 0
            try message.writeLines(place, into: &self.writer) { writer in
                writer.byte(0x0a)
                let added = writer.withUnsafeBytes { self.conversations.add($0, to: id, now: self.now) }
                writer.removeAll()
                guard added == .kept else { throw NotKept(isFirst: added == .firstMissing) }
                count += 1
                // A message of many lines must not fill the memory. If it cannot be written now, the next attempt says so.
                if count > 1, self.conversations.isFull, (try? self.conversations.write(now: self.now)) == true { self.hasWritten = true }
            }
        } catch let error as NotKept {
            // Its payload may already be in a file.
            self.file.hasOrphans = true
            if error.isFirst { self.reportGap(in: id) }
        } catch {
            self.file.hasOrphans = true
            self.leaveOut(of: id)
        }
    }

    /// A line of a message was not kept.
    private struct NotKept: Error {
        /// Whether it is the first one of its conversation.
        var isFirst: Bool
    }

    /// A long message has been searched. Writes it and the messages that waited for it, up to the next long one.
    private func searched(_ id: Int, _ result: Result<(any ConversationMessage, MessagePlace), any Error>) {
        guard var waiting = self.waiting.removeValue(forKey: id) else { return }
        switch result {
        case .success(let (message, place)) where !self.conversations.hasGap(id): self.write(message, of: id, place)
        case .success, .failure: self.leaveOut(of: id)
        }
        var count = 0
        while count < waiting.messages.count, self.waiting[id] == nil {
            let (message, place) = waiting.messages[count]
            self.waitingWeight -= message.weight
            self.take(message, of: id, place)
            count += 1
        }
        waiting.messages.removeFirst(count)
        guard self.waiting[id] == nil else {
            self.waiting[id] = waiting
            return
        }
        if let (interaction, stored) = waiting.end { self.closed(interaction, stored) }
    }

    private func closed(_ interaction: Interaction, _ stored: RecorderItem.Stored?) {
        self.ended.append((interaction, stored))
        self.writeConversations()
        self.writeIfDue()
    }

    private func leaveOut(of id: Int) {
        if self.conversations.leaveOut(id) == .firstMissing { self.reportGap(in: id) }
    }

    private func reportGap(in id: Int) {
        // A body is recorded again as a whole when it has ended.
        guard !self.conversations.isBody(id) else { return }
        // Its beginning is recorded, but that is not the whole conversation.
        self.status.withLock { $0.lost += 1 }
        self.failed(
            RecorderProblem(
                .exchange,
                "exchange \(id) is recorded only up to message \(self.conversations.count(of: id)): the next one cannot be redacted, is too long, or "
                    + "did not fit: the other exchanges are recorded"))
    }

    /// Writes due messages, and puts together conversations that have ended. After a failure it does nothing until the pause is over.
    /// Messages are kept meanwhile, within their limit.
    private func writeConversations() {
        guard self.conversations.hasPending || !self.ended.isEmpty, self.conversationRetry.mayTry(at: self.now) else { return }
        do throws(CassetteError) {
            if try self.conversations.write(now: self.now) { self.hasWritten = true }
            while let (interaction, stored) = self.ended.first {
                do throws(CassetteError) {
                    try self.end(interaction, stored)
                } catch {
                    guard error.code == .notFound || !RecorderProblem(error, ofExchange: interaction.id).stopsWriting else { throw error }
                    // Its files were removed or cannot be read. Other conversations are not affected.
                    self.conversations.remove(interaction.id)
                    self.lose(interaction.id, error, stored)
                }
                self.ended.removeFirst()
            }
            self.conversationRetry.succeeded()
        } catch {
            self.failed(RecorderProblem(error))
            self.conversationRetry.failed(at: self.now)
        }
    }

    private func end(_ interaction: Interaction, _ stored: RecorderItem.Stored?) throws(CassetteError) {
        guard let (conversation, messages) = try self.conversations.end(interaction.id) else {
            return self.lose(stored, RecorderProblem(.exchange, "exchange \(interaction.id) is not recorded: its beginning was not."))
        }
        do {
            var interaction = try self.redacted(interaction)
            if conversation.missing > 0, case .complete = interaction.outcome {
                let messages = conversation.missing == 1 ? "1 message" : "\(conversation.missing) messages"
                interaction.outcome = .cut(Cut(by: .recorder, reason: "\(messages) could not be recorded"))
            }
            interaction.webSocket = try messages.webSocket()
            self.encode(interaction, conversation.generation, stored, journal: conversation.journal)
        } catch {
            try? conversation.journal?.remove()
            self.lose(interaction.id, error, stored)
        }
    }

    /// Ends conversations that are still open, because the recorder ends first. Anything that cannot be written now stays in its journal
    /// for the next recorder.
    private func endConversations() {
        self.conversationRetry.succeeded()
        let ids = Set(self.ended.map(\.interaction.id))
        for id in self.conversations.ids where !ids.contains(id) {
            guard !self.conversations.isBody(id) else {
                self.keepJournal(id)
                continue
            }
            guard var interaction = self.conversations.interaction(of: id) else { continue }
            if case .complete = interaction.outcome {
                interaction.outcome = .cut(Cut(by: .recorder, reason: "the recorder ended before the conversation"))
            }
            self.ended.append((interaction, nil))
        }
        self.writeConversations()
        for (interaction, stored) in self.ended {
            self.lose(
                stored, self.obstacle ?? RecorderProblem(.ended, "exchange \(interaction.id) is not recorded: the recording has ended."))
        }
        self.ended = []
    }

    /// Keeps the journal of an exchange that has not ended. Its partial bodies are put together when the file is closed.
    private func keepJournal(_ id: Int) {
        do throws(CassetteError) {
            try self.conversations.write(id)
            self.conversations.remove(id)
        } catch {
            self.conversations.remove(id)
            self.lose(id, error, nil)
        }
    }

    /// Removes the journals of exchanges that are in the file.
    private func removeJournals() {
        guard !self.journals.isEmpty else { return }
        do throws(CassetteError) {
            try self.file.sync()
            self.journals.syncBegan()
            for journal in self.journals.synced() { try journal.remove() }
        } catch {
            // They are left for the next recorder, which knows that their exchanges are in the file.
            self.failed(RecorderProblem(error))
        }
    }

    // MARK: Searches that take long

    /// Whether the exchange was redacted on this thread; otherwise another thread has it. Others are written before it, and the close sorts
    /// the file.
    private func isRedacted(
        _ captured: inout CapturedExchange, _ exchange: TapedExchange, _ stored: RecorderItem.Stored?
    ) throws -> Bool {
        guard let redaction = self.maker.redaction else { return true }
        let mayTakeLong = captured.mayTakeLong
        let started = mayTakeLong ? self.now : 0
        // Many dense bodies in a row take as long as one long search, so another thread tries them.
        if mayTakeLong, !self.attemptBudget.mayDecode(now: started), self.isPut(captured, to: self.attempts, exchange, stored) {
            return false
        }
        let attempt = try redaction.redactAtOnce(&captured)
        if mayTakeLong, attempt != .redacted(isDense: false) {
            let now = self.now
            self.attemptBudget.spent(now - started, now: now)
        }
        if attempt != .tooLong { return true }
        if self.isPut(captured, to: self.search, exchange, stored) { return false }
        // Without another thread, the other exchanges have to wait.
        _ = try redaction.redact(&captured.interaction, request: &captured.request, response: &captured.response)
        return true
    }

    private func isPut(
        _ captured: CapturedExchange, to search: PostponedSearch?, _ exchange: TapedExchange, _ stored: RecorderItem.Stored?
    ) -> Bool {
        defer { self.holdQueue() }
        return search?.put(PostponedSearch.Job(.exchange(captured), weight: exchange.weight, stored: stored)) == true
    }

    /// Holds the queue if there are too many searches. An attempt may become a long search, so both count.
    private func holdQueue() {
        let count = self.searches.reduce(0) { $0 + $1.count }
        self.queue.hold(
            count >= PostponedSearch.Kind.whole.limit || self.searches.contains(where: \.isFull)
                || self.waitingWeight >= PostponedSearch.weightLimit)
    }

    private func takeSearched() {
        for job in self.searches.flatMap({ $0.take() }) {
            switch job.subject {
            case .exchange(let exchange): self.takeSearched(exchange, job)
            case .message(let id, let message, let place):
                self.searched(id, job.error.map { .failure($0) } ?? .success((message, place)))
            }
            self.writeIfDue()
        }
    }

    private func takeSearched(_ exchange: CapturedExchange, _ job: PostponedSearch.Job) {
        var exchange = exchange
        do {
            if let error = job.error { throw error }
            if job.isUnsearched {
                if self.search?.put(PostponedSearch.Job(.exchange(exchange), weight: job.weight, stored: job.stored)) == true { return }
                _ = try self.maker.redaction?.redact(&exchange.interaction, request: &exchange.request, response: &exchange.response)
            }
            // There was no time for a search, so there is none for decoding.
            try self.makeReadable(&exchange, mayDecode: false)
            self.encode(exchange.interaction, job.generation, job.stored)
        } catch is SearchBudget.Spent where self.searches.contains(where: \.isGivenUp) {
            self.keepUnsearched(exchange, job.stored)
        } catch is SearchBudget.Spent {
            self.lose(job.stored, RecorderProblem(.ended, "the recording was discarded while the exchange was searched for secrets."))
        } catch {
            self.lose(exchange.interaction.id, error, job.stored)
        }
    }

    /// Records an exchange whose bodies could not be searched in time. Its heads are short and are searched.
    private func keepUnsearched(_ exchange: CapturedExchange, _ stored: RecorderItem.Stored?) {
        var exchange = exchange
        do {
            var (request, response): (CapturedBody?, CapturedBody?) = (nil, nil)
            _ = try self.maker.redaction?.redact(&exchange.interaction, request: &request, response: &response)
            exchange.request?.note = UnsearchedNote.text
            exchange.response?.note = UnsearchedNote.text
            try self.makeReadable(&exchange, mayDecode: false)
            self.encode(exchange.interaction, self.file.redactor?.generation ?? 0, stored)
        } catch {
            self.lose(exchange.interaction.id, error, stored)
        }
    }

    // MARK: Encoding

    private func writeIfDue() {
        if self.pending.count >= Self.writeSize || self.now - self.pendingSince >= Self.writeInterval { self.write() }
    }

    private func encode(
        _ interaction: Interaction, _ generation: Int, _ stored: RecorderItem.Stored?, journal: ConversationJournal? = nil
    ) {
        self.writer.removeAll(baseDepth: 2)
        InteractionEncoder.encode(interaction, into: &self.writer)
        // The journal of an exchange whose bodies were written piece by piece as they arrived.
        let journal = journal ?? self.conversations.remove(interaction.id)?.journal
        let isFull = self.writer.withUnsafeBytes { self.pending.count + $0.count > self.options.heldLimit }
        // While nothing can be written, the newest exchanges are lost, so that everything before the gap stays complete.
        if isFull, let obstacle, !self.retry.mayTry(at: self.now) {
            if stored != nil, self.options.refusesUnrecorded { try? journal?.remove() }
            return self.lose(stored, obstacle)
        }
        if self.encoded.isEmpty { self.pendingSince = self.now }
        self.writer.withUnsafeBytes { self.pending.append(contentsOf: $0) }
        self.encoded.append(Encoded(end: self.pending.count, generation: generation, stored: stored, journal: journal))
        self.file.noteStart(interaction.started)
        if self.file.redactor != nil { self.noteUnsearched(interaction) }
        if interaction.isUndecoded {
            self.status.withLock { $0.undecoded += 1 }
            self.proving.put(interaction)
        }
    }

    private func noteUnsearched(_ interaction: Interaction) {
        var messages: [WebSocketMessage] = []
        if case .inline(let inline)? = interaction.webSocket { messages = inline }
        guard
            interaction.request.body?.note != nil || interaction.response?.body?.note != nil || messages.contains(where: { $0.note != nil })
        else { return }
        self.unsearched.add(
            interaction.id, notes: [interaction.request.body?.note, interaction.response?.body?.note] + messages.map(\.note))
    }

    /// For a caller that does not answer unrecorded exchanges: removes the exchange's journal, so that the next recorder does not find it.
    private func forgetRefused(_ id: Int, _ stored: RecorderItem.Stored?) {
        if stored != nil, self.options.refusesUnrecorded { try? self.conversations.remove(id)?.journal?.remove() }
    }

    private func lose(_ id: Int, _ error: any Error, _ stored: RecorderItem.Stored?) {
        self.forgetRefused(id, stored)
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

    /// Writes pending exchanges, and syncs them if a caller waits. After a failure it does nothing until the pause is over.
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
            // An exchange that was written but not synced counts as recorded, unless the caller would refuse it.
            guard !isAppended || isWaitedFor && self.options.refusesUnrecorded else { return self.written(.failure(problem)) }
            // If this fails, the next write or the close does it first.
            if isAppended { try? self.file.rollBack(to: mark) }
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
        // Counted as recorded in any case: see `write`.
        for journal in written.compactMap(\.journal) { self.journals.append(journal) }
        if case .success = result {
            self.hasWritten = true
            self.retry.succeeded()
        }
        for exchange in written { exchange.stored?(result) }
    }

    /// Keeps exchanges that could not be written for the next attempt, within the limits, and notifies the waiting callers.
    private func hold(_ problem: RecorderProblem) {
        let waited = self.encoded.compactMap(\.stored)
        var lost = 0
        if self.options.refusesUnrecorded, !waited.isEmpty {
            // They will never be in the file, so the next recorder must not find their messages.
            for exchange in self.encoded where exchange.stored != nil { try? exchange.journal?.remove() }
            lost += self.drop { $0.stored != nil }
        }
        if self.pending.count > self.options.heldLimit { lost += self.drop { $0.end > self.options.heldLimit } }
        for index in self.encoded.indices { self.encoded[index].stored = nil }
        self.status.withLock {
            $0.lost += lost
            $0.held = self.encoded.count
        }
        if lost > 0 { self.file.hasOrphans = true }
        for stored in waited { stored(.failure(problem)) }
    }

    /// - Returns: the number of dropped exchanges.
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

    /// Syncs on this thread, because a caller waits.
    private func syncNow() throws(CassetteError) {
        self.endSync(waits: true)
        try self.file.sync()
        self.lastSync = self.now
    }

    /// Syncs on another thread, because a disk can be slow and the traffic continues.
    private func sync() {
        self.endSync(waits: false)
        guard self.syncing == nil else { return }
        // An exchange that a caller waited for has already been synced.
        if !self.file.needsSync { self.journals.syncBegan() }
        self.removeSynced()
        // A staged recording has no name before its end, so there is nothing to preserve until then.
        guard self.file.plan.target != .stage else { return }
        guard self.file.needsSync, self.now - self.lastSync >= Self.syncInterval else { return }
        self.lastSync = self.now
        do throws(CassetteError) {
            guard let syncs = try self.file.beginSync() else { return }
            self.journals.syncBegan()
            self.syncing = BackgroundSync(syncs)
        } catch {
            self.failed(RecorderProblem(error))
        }
    }

    func endSync(waits: Bool) {
        guard let syncing, let result = syncing.result(waits: waits) else { return }
        self.syncing = nil
        if case .failure(let error) = result {
            self.file.syncFailed(syncing.syncs)
            self.journals.syncFailed()
            self.failed(RecorderProblem(error))
        } else {
            self.removeSynced()
        }
    }

    /// Removes the journals of exchanges that are on disk. A journal that cannot be removed is left for the next recorder.
    private func removeSynced() {
        for journal in self.journals.synced() {
            do throws(CassetteError) { try journal.remove() } catch { self.failed(RecorderProblem(error)) }
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

    /// Reports the problem once until it is over, and at most once a minute if it comes and goes, as when there is space for small bodies
    /// but not for large ones.
    private func stopped(by problem: RecorderProblem) {
        let now = self.now
        let isNew = !self.isFailing && self.isTime(self.lastNotice.disk, now)
        self.obstacle = problem
        self.isFailing = true
        self.hasWritten = false
        self.lastFailure = now
        guard isNew else { return }
        self.lastNotice.disk = now
        self.recoveryNoticeDue = true
        let traffic = self.options.refusesUnrecorded ? "requests are refused until they can be recorded" : "traffic goes on"
        self.notify("\(problem.message); \(traffic), and recording resumes as soon as it can.")
    }

    /// Only one exchange is lost. Reported at most once a minute.
    private func lost(by problem: RecorderProblem) {
        let now = self.now
        guard self.isTime(self.lastNotice.exchange, now) else { return }
        self.lastNotice.exchange = now
        self.notify("\(problem.message).")
    }

    private func isTime(_ last: UInt64?, _ now: UInt64) -> Bool { last.map { now - $0 >= Self.noticeInterval } ?? true }

    /// Accepts exchanges again some time after the last failure. The recovery is reported once an exchange has been written.
    private func noteRecovery() {
        let now = self.now
        guard self.isFailing, self.encoded.isEmpty, self.ended.isEmpty, now - self.lastFailure >= Self.retryInterval else { return }
        guard self.retry.mayTry(at: now), self.bodyRetry.mayTry(at: now), self.conversationRetry.mayTry(at: now) else { return }
        self.obstacle = nil
        self.status.withLock { $0.obstacle = nil }
        guard self.hasWritten else { return }
        self.isFailing = false
        guard self.recoveryNoticeDue else { return }
        self.recoveryNoticeDue = false
        self.notify("recording again.")
    }
}
