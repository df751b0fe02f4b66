internal import CassetteFormat
internal import CassetteModel
internal import CassettePlayback
internal import CassetteStore
internal import NIOCore
internal import TapeBytes
internal import TapeExchange

/// Finds recorded answers: at once if they were requested before, otherwise on a thread that may block on the disk.
///
/// Not Sendable: lives on its event loop.
final class ReplayLibrary {
    /// A larger body from a sidecar is streamed instead of held in memory.
    static let streamSize = 256 << 10

    private let loop: any EventLoop
    private let cassette: RecordedCassette
    private let bodies: BodyReader
    private let disk: WorkPool
    /// nil if dates stay as recorded.
    private let refresh: DateRefresh?
    private let cache: ReplayCache
    /// The threads take no more work because the replay is being stopped.
    private var isStopped = false

    /// - Parameter cache: shared with the session's other event loops.
    init(
        loop: any EventLoop, cassette: RecordedCassette, disk: WorkPool,
        cache: ReplayCache = ReplayCache(.one), refresh: DateRefresh? = nil
    ) {
        self.refresh = refresh
        self.cache = cache
        self.loop = loop
        self.cassette = cassette
        self.bodies = BodyReader(cassettePath: cassette.path)
        self.disk = disk
    }

    /// The answer of an exchange in one piece, by the exchange's index in order of request start. nil if the answer has to be read first,
    /// or cannot be sent in one piece.
    ///
    /// - Parameter request: the fields of the request, which may not accept the answer's content codings.
    func ready(_ index: Int, accepting request: HeaderFields = HeaderFields()) -> ReadyAnswer? {
        guard let ready = self.cache.ready(index) else { return nil }
        return self.cache.coding(index)?.refuses(request) == true ? nil : ready
    }

    /// The answer of an exchange, by the exchange's index in order of request start. Calls back at once if the answer is in memory.
    ///
    /// - Parameter form: computed answers are not cached.
    func answer(
        _ index: Int, form: AnswerForm = .recorded, then: @escaping (Result<RecordedAnswer, CassetteError>) -> Void
    ) {
        if form == .recorded, let answer = self.cache.answer(index) { return then(.success(answer)) }
        let (cassette, bodies, refresh, cache) = (self.cassette, self.bodies, self.refresh, self.cache)
        let loading = self.disk.run(on: self.loop) {
            let result = Self.load(index, form, of: cassette, bodies: bodies, refresh)
            if form == .recorded, case .success(let answer) = result { cache.insert(answer, at: index) }
            return result
        }
        loading.assumeIsolated().whenComplete { [self] result in
            switch result {
            case .success(.success(let answer)):
                then(.success(answer))
            case .success(.failure(let error)):
                then(.failure(error))
            case .failure(let error as CassetteError):
                then(.failure(error))
            case .failure:
                self.isStopped = true
                then(.failure(CassetteError(.unreadable, "the replay is being stopped: \"\(cassette.path)\" is no longer read.")))
            }
        }
    }

    /// Once the replay has been stopped, reads at once how a recorded exchange ended whose answer could not be loaded. nil before that, or
    /// if it cannot be read.
    func outcome(_ index: Int) -> Outcome? { self.isStopped ? try? self.cassette.interaction(at: index).outcome : nil }

    /// Some messages of a recorded WebSocket, beginning with this one, from a file next to the cassette.
    func messages(of speech: WebSocketSpeech, from number: Int, then: @escaping (Result<[WebSocketMessage], CassetteError>) -> Void) {
        let path = self.cassette.path
        let reading = self.disk.run(on: self.loop) { () -> Result<[WebSocketMessage], CassetteError> in
            do throws(CassetteError) {
                return .success(try speech.read(from: number, ofCassette: path))
            } catch {
                return .failure(error)
            }
        }
        reading.assumeIsolated().whenComplete { result in
            switch result {
            case .success(let messages): then(messages)
            case .failure(let error):
                then(.failure(CassetteError(.unreadable, "the replay is being stopped: \"\(path)\" is no longer read.", cause: error)))
            }
        }
    }

    func open(_ content: ReplayFileStream.Content) -> ReplayFileStream {
        ReplayFileStream(content, bodies: self.bodies, loop: self.loop, disk: self.disk)
    }

    private static func load(
        _ index: Int, _ form: AnswerForm, of cassette: RecordedCassette, bodies: BodyReader, _ refresh: DateRefresh?
    ) -> Result<RecordedAnswer, CassetteError> {
        do throws(CassetteError) {
            var interaction =
                form == .recorded
                ? try cassette.interaction(at: index)
                : try ComputedAnswer.interaction(at: index, form: form, of: cassette, bodies: bodies, digest: { FastSHA256() })
            try refresh?.refresh(&interaction, bodies: bodies, digest: { FastSHA256() })
            guard let body = interaction.response?.body else { return .success(try self.answer(interaction, .none, size: 0)) }
            // A body file that is missing or has another size is reported before the head is sent.
            for sidecar in body.content.sidecars + [body.original].compactMap({ $0 }) where sidecar.size > self.streamSize {
                _ = try bodies.open(sidecar, digest: FastSHA256())
            }
            if body.codings.isEmpty, body.original == nil, case .file(let sidecar) = body.content, sidecar.size > self.streamSize {
                return .success(try self.answer(interaction, .file(sidecar), size: sidecar.size))
            }
            if body.codings.isEmpty, case .multipart(let parts) = body.content,
                parts.sidecars.contains(where: { $0.size > self.streamSize })
            {
                return .success(try self.answer(interaction, .parts(body), size: parts.size))
            }
            if body.codings.isEmpty, case .grpc(let messages) = body.content,
                messages.sidecars.contains(where: { $0.size > self.streamSize })
            {
                return .success(try self.answer(interaction, .parts(body), size: self.wireSize(of: body, bodies)))
            }
            if self.isLargeCoded(body) {
                let size = try self.wireSize(of: body, bodies)
                return .success(try self.answer(interaction, .coded(body, size: size), size: size))
            }
            if let original = body.original, original.size > self.streamSize {
                return .success(try self.answer(interaction, .file(original), size: original.size))
            }
            let wire = try bodies.wireBytes(of: body, digest: { FastSHA256() }).bytes
            return .success(try self.answer(interaction, .bytes(wire), size: wire.count))
        } catch {
            return .failure(error)
        }
    }

    /// Whether the coded bytes, or the content they are made from, are too large to hold in memory. If the coded bytes were kept, they are
    /// sent.
    private static func isLargeCoded(_ body: Body) -> Bool {
        guard !body.codings.isEmpty else { return false }
        switch body.content {
        case .file(let sidecar): return body.original == nil && max(sidecar.size, body.size) > self.streamSize
        case .multipart(let parts): return max(parts.size, body.size) > self.streamSize
        case .empty, .text, .encodedText, .json, .form, .lines, .events, .grpc, .binary, .raw: return false
        }
    }

    /// Encodes the body once without keeping it, because Content-Length is sent first and must be correct even if parts were edited.
    private static func wireSize(of body: Body, _ bodies: BodyReader) throws(CassetteError) -> Int {
        let stream = try bodies.restoredStream(of: body, digest: { FastSHA256() })
        var size = 0
        do {
            while !stream.isEnded { size += try stream.next().count }
        } catch {
            throw CassetteError(restoring: error)
        }
        return size
    }

    private static func answer(
        _ interaction: Interaction, _ payload: RecordedAnswer.Payload, size: Int
    ) throws(CassetteError) -> RecordedAnswer {
        do throws(MessageError) {
            return try RecordedAnswer(interaction, payload: payload, size: size)
        } catch {
            throw CassetteError(.damaged, "interaction \(interaction.id): \(error.message): correct it or record it again.", cause: error)
        }
    }
}
