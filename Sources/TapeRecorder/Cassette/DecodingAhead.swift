internal import CassetteFormat
internal import CassetteModel
internal import CassetteRedaction
internal import CassetteStore
internal import Dispatch
internal import TapeBytes

/// Decodes the raw bodies of a closed cassette on all cores, ahead of the thread that writes the exchanges in order.
///
/// Works in batches: one batch is decoded while the previous one is written. Results do not depend on the number of threads, because an
/// exchange uses what earlier batches have shown about each origin's compressor, but nothing from its own batch. Not Sendable: belongs to
/// the thread that writes.
final class DecodingAhead {
    /// The most exchanges that are decoded in one batch, and that are read for it.
    private static let batchLimit = (decoded: 64, read: 1024)
    /// The most wire bytes of bodies in a batch, because their decoded form stays in memory until it is written.
    private static let batchSize = 1 << 20
    static let threadLimit = 8

    /// An exchange to be decoded, and the result.
    private struct Job {
        var interaction: Interaction
        /// nil if it stays raw.
        var text: [UInt8]?
        var news: [RestorationMemory.Finding] = []
    }

    /// The state of one thread.
    private final class Worker {
        var maker: InteractionMaker
        var writer = JSONWriter(reserving: 64 << 10)

        init(_ maker: consuming InteractionMaker) { self.maker = maker }
    }

    /// Consecutive exchanges of the new file.
    // SAFETY: created and evaluated by the thread that writes. In between, each job and each worker is used by one thread at a time, and
    // `done` is empty when all are finished.
    private final class Batch: @unchecked Sendable {
        let places: Range<Int>
        private let memory: RestorationMemory
        private let workers: [Worker]
        private let bodies: BodyReader
        private let haste: SearchBudget
        private var jobs: [Job]
        /// The place of each job.
        private let placesOfJobs: [Int]
        private let next = Guarded(0)
        private let done = DispatchGroup()

        init(
            _ places: Range<Int>, _ jobs: [(place: Int, interaction: Interaction)], _ memory: RestorationMemory, _ workers: [Worker],
            _ bodies: BodyReader, _ haste: SearchBudget
        ) {
            self.places = places
            self.jobs = jobs.map { Job(interaction: $0.interaction) }
            self.placesOfJobs = jobs.map(\.place)
            self.memory = memory
            self.workers = workers
            self.bodies = bodies
            self.haste = haste
            guard !jobs.isEmpty else { return }
            DispatchQueue.global().async(group: self.done) { self.run() }
        }

        private func run() {
            // SAFETY: the array keeps its length, and each element is used by one thread.
            self.jobs.withUnsafeMutableBufferPointer { jobs in
                nonisolated(unsafe) let jobs = jobs
                DispatchQueue.concurrentPerform(iterations: min(self.workers.count, jobs.count)) { number in
                    while let index = self.nextJob(of: jobs.count) { self.decode(&jobs[index], self.workers[number]) }
                }
            }
        }

        private func nextJob(of count: Int) -> Int? {
            self.next.withLock { next in
                guard next < count else { return nil }
                defer { next += 1 }
                return next
            }
        }

        private func decode(_ job: inout Job, _ worker: Worker) {
            // It stays raw.
            guard !self.haste.isSpent else { return }
            var memory = self.memory
            memory.keepNews()
            worker.maker.memory = memory
            // A body that cannot be decoded stays raw and can still be replayed.
            let decoded = try? worker.maker.decoded(job.interaction, reader: self.bodies)
            job.news = worker.maker.memory.news ?? []
            guard let decoded else { return }
            worker.writer.removeAll(baseDepth: InteractionEncoder.depth)
            InteractionEncoder.encode(decoded, into: &worker.writer)
            job.text = worker.writer.bytes
        }

        /// Waits for the end of the batch.
        func finish(_ memory: inout RestorationMemory) -> [Int: [UInt8]] {
            // Not `jobs`, which other threads may be using.
            guard !self.placesOfJobs.isEmpty else { return [:] }
            self.done.wait()
            var texts: [Int: [UInt8]] = [:]
            for (place, job) in zip(self.placesOfJobs, self.jobs) {
                for finding in job.news { memory.learn(finding) }
                texts[place] = job.text
            }
            return texts
        }
    }

    private let order: [Int]
    private let cassette: CassetteReader
    private let bodies: BodyReader
    private let unsettled: Int
    private let haste: SearchBudget
    /// Created when there is work for them.
    private lazy var workers = (0..<self.threads).map { _ in Worker(self.makeMaker()) }
    private let threads: Int
    private let makeMaker: () -> InteractionMaker
    private var memory: RestorationMemory
    private var running: Batch?
    /// The texts of the batch that is being written, by place.
    private var texts: [Int: [UInt8]] = [:]
    /// All earlier places are in that batch or in a previous one.
    private var end = 0

    /// - Parameters:
    ///   - order: the exchange of the old file for each place in the new one.
    ///   - unsettled: the caller handles all exchanges before this one. It first searches them for secrets, so their bodies must not be
    ///     written to files before that.
    ///   - proofs: proofs that are already known.
    ///   - haste: once this is spent, the remaining exchanges stay raw.
    ///   - threads: nil for one per processor.
    ///   - makeMaker: called once for each thread.
    init(
        _ order: [Int], of cassette: CassetteReader, after unsettled: Int, bodies: BodyReader, proofs: RestorationProofs,
        haste: SearchBudget = SearchBudget(), threads: Int?,
        makeMaker: @escaping () -> InteractionMaker
    ) {
        self.order = order
        self.cassette = cassette
        self.bodies = bodies
        self.unsettled = unsettled
        self.haste = haste
        self.memory = RestorationMemory()
        self.memory.proofs = proofs
        self.threads = threads ?? min(ProcessorCount.usable, Self.threadLimit)
        self.makeMaker = makeMaker
    }

    /// The text of an exchange with its bodies decoded; nil if nothing changes. Must be called in the order of the places.
    func text(at place: Int) throws -> [UInt8]? {
        while place >= self.end {
            let batch = try self.running.take() ?? self.batch(from: place)
            self.texts = batch.finish(&self.memory)
            self.end = batch.places.upperBound
            // An error in reading an exchange is reported when its turn comes, so that earlier ones are not held up.
            if self.end < self.order.count { self.running = try? self.batch(from: self.end) }
        }
        return self.texts.removeValue(forKey: place)
    }

    /// Waits for decoding that is no longer needed, because it writes files.
    func stop() {
        _ = self.running.take()?.finish(&self.memory)
    }

    /// The batch ends at the first body whose search depends on another one in the batch. Each body then knows as much as with a single
    /// thread.
    private func batch(from start: Int) throws -> Batch {
        var jobs: [(place: Int, interaction: Interaction)] = []
        var size = 0
        var unknown: Set<String> = []
        var place = start
        while place < self.order.count, place - start < Self.batchLimit.read, jobs.count < Self.batchLimit.decoded, size < Self.batchSize {
            guard self.order[place] >= self.unsettled else {
                place += 1
                continue
            }
            let position = self.order[place]
            let interaction = try Self.undecoded(position, self.cassette.bytes(at: position), of: self.cassette)
            if let interaction {
                let origin = interaction.connection?.remote ?? ""
                guard self.memory.isSettled(origin) || unknown.insert(origin).inserted else { break }
                jobs.append((place, interaction))
                size += (interaction.request.body?.size ?? 0) + (interaction.response?.body?.size ?? 0)
            }
            place += 1
        }
        return Batch(start..<place, jobs, self.memory, jobs.isEmpty ? [] : self.workers, self.bodies, self.haste)
    }

    /// nil for an exchange that has nothing left to decode.
    static func undecoded(_ position: Int, _ bytes: [UInt8], of cassette: CassetteReader) throws -> Interaction? {
        guard self.mayBeUndecoded(bytes) else { return nil }
        let interaction = try cassette.interaction(at: position)
        return interaction.isUndecoded ? interaction : nil
    }

    /// A quick search of the text that saves decoding it. Raw slices, files, the Content-Types of multiparts and gRPC, and notes on unknown
    /// codings all contain one of these words.
    private static func mayBeUndecoded(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes {
            ByteSearch.contains("\"file\"", in: $0) || ByteSearch.contains("ultipart/", in: $0)
                || ByteSearch.contains("/grpc", in: $0)
                || ByteSearch.contains("is not taken off\"", in: $0)
        }
    }
}
