internal import CassetteFormat
internal import CassetteModel
internal import CassetteStore
internal import TapeBytes

/// Proves, while the recorder is idle, how bodies that were kept raw can be restored. That is most of the cost of decoding them, which the
/// close then saves.
///
/// Writes nothing, and does not change the results of the close. Not Sendable: lives on the recorder's thread.
struct ProvingAhead: ~Copyable {
    /// Nanoseconds without work after which proving begins.
    static let begin: UInt64 = 100_000_000
    /// Nanoseconds after which a turn ends with the current body.
    static let turnTime: UInt64 = 5_000_000
    /// The most wire bytes of a body. An exchange that arrives meanwhile waits for the current body, for some tens of milliseconds at most.
    static let sizeLimit = 64 << 10
    /// The most bodies in the queue, at a few hundred bytes each. Any others are decoded at the close.
    static let limit = 1 << 14

    private struct Job {
        var content: BodyContent
        var encoding: ContentEncoding
        var origin: String
    }

    private let reader: BodyReader
    private let digest: @Sendable () -> any ContentDigest
    /// Created when there is work for it, because zlib's tables take memory.
    private var decoder: WireBodyDecoder?
    private var jobs: [Job] = []
    private var next = 0

    init(cassettePath: String, digest: @escaping @Sendable () -> any ContentDigest) {
        self.reader = BodyReader(cassettePath: cassettePath)
        self.digest = digest
    }

    var hasWork: Bool { self.next < self.jobs.count }

    /// Queues the bodies of an exchange that are still to be decoded.
    mutating func put(_ interaction: Interaction) {
        if let body = interaction.request.body { self.put(body, interaction.request.headers, origin: "") }
        if let response = interaction.response, let body = response.body {
            self.put(body, response.headers, origin: interaction.connection?.remote ?? "")
        }
    }

    private mutating func put(_ body: Body, _ headers: HeaderFields, origin: String) {
        guard body.isUndecoded(headers), self.jobs.count - self.next < Self.limit else { return }
        switch body.content {
        case .raw(let slice) where slice.size <= Self.sizeLimit: break
        case .file(let sidecar) where sidecar.size <= Self.sizeLimit: break
        default: return
        }
        self.jobs.append(Job(content: body.content, encoding: ContentEncoding(headers), origin: origin))
    }

    /// Proves one body after the other, oldest first, until it is told to stop.
    mutating func work(into proofs: inout RestorationProofs, until mustStop: () -> Bool) {
        guard !proofs.isFull else { return self.stop() }
        var decoder = self.decoder.take() ?? WireBodyDecoder(makeDigest: self.digest)
        repeat {
            let job = self.jobs[self.next]
            self.next += 1
            // A body that cannot be read now is decoded at the close, or reported as damaged there.
            guard let wire = try? self.wire(of: job.content) else { continue }
            for finding in decoder.search(wire, job.encoding, origin: job.origin) { proofs.learn(finding) }
        } while self.hasWork && !mustStop()
        if self.next > Self.limit / 2 {
            self.jobs.removeFirst(self.next)
            self.next = 0
        }
        if self.hasWork { self.decoder = consume decoder } else { self.stop() }
    }

    private mutating func stop() {
        self.jobs = []
        self.next = 0
        self.decoder = nil
    }

    private func wire(of content: BodyContent) throws -> [UInt8] {
        switch content {
        case .raw(let slice): try self.reader.read(slice)
        case .file(let sidecar): try self.reader.source(sidecar, digest: self.digest()).load()
        default: []
        }
    }
}
