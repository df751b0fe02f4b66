internal import CassetteModel
internal import CassettePlayback
internal import CassetteStore
internal import Foundation
internal import TapeBytes
internal import TapeExchange

/// Loads recorded responses from the cassette's file, and caches them.
final class AnswerLibrary: Sendable {
    /// Bytes of cached responses: enough for tests that repeat requests, and little enough for a process with hundreds of cassettes.
    static let cacheLimit = 16 << 20
    /// A body of more bytes is streamed, not cached.
    static let streamSize = 256 << 10

    let cassette: RecordedCassette
    private let bodies: BodyReader
    /// Nil if dates stay as they were recorded.
    private let refresh: DateRefresh?
    private let answers: Guarded<BoundedCache<ReadyAnswer>>

    init(_ cassette: RecordedCassette, refresh: DateRefresh?, cacheLimit: Int = AnswerLibrary.cacheLimit) {
        self.cassette = cassette
        self.bodies = BodyReader(cassettePath: cassette.path)
        self.refresh = refresh
        self.answers = Guarded(BoundedCache(limit: cacheLimit) { $0.weight })
    }

    /// The response of an exchange, by its index in order of request start. May wait for the disk.
    ///
    /// - Parameter form: computed responses are not cached.
    func answer(_ index: Int, _ form: AnswerForm = .recorded) throws(CassetteError) -> ReadyAnswer {
        guard form == .recorded else { return try self.load(index, form) }
        if let known = self.answers.withLock({ $0.value(index) }) { return known }
        let answer = try self.load(index, form)
        self.answers.withLock { $0.insert(answer, at: index) }
        return answer
    }

    /// The head that opened a WebSocket. May wait for the disk.
    func opening(_ index: Int, of url: URL) throws(CassetteError) -> HTTPSession.Response {
        var interaction = try self.cassette.interaction(at: index)
        try self.refresh?.refresh(&interaction, bodies: self.bodies, digest: { PortableSHA256() })
        return HTTPSession.Response(
            url: url, status: interaction.response?.status ?? 101,
            reason: interaction.response.map { String(decoding: $0.reason, as: UTF8.self) } ?? "",
            headers: HTTPSession.Headers(interaction.response?.receivedHeaders ?? HeaderFields()),
            source: .replayed(cassette: self.cassette.path, id: interaction.id))
    }

    func open(_ body: Body, of answer: ReadyAnswer) throws(CassetteError) -> ContentStream {
        try ContentStream(body, headers: answer.head?.headers.headerFields ?? HeaderFields(), bodies: self.bodies)
    }

    private func load(_ index: Int, _ form: AnswerForm) throws(CassetteError) -> ReadyAnswer {
        var interaction =
            form == .recorded
            ? try self.cassette.interaction(at: index)
            : try ComputedAnswer.interaction(at: index, form: form, of: self.cassette, bodies: self.bodies, digest: { PortableSHA256() })
        try self.refresh?.refresh(&interaction, bodies: self.bodies, digest: { PortableSHA256() })
        let source = ExchangeSource.replayed(cassette: self.cassette.path, id: interaction.id)
        // Replaced by the URL of the live request.
        let url = URL(string: interaction.request.url) ?? URL(fileURLWithPath: "/")
        let response = interaction.response
        if let response, response.status < 200 {
            throw CassetteError(
                .damaged,
                "interaction \(interaction.id): its status \(response.status) is not that of a final response: record it again.")
        }
        var failure = RecordedFailure.of(
            interaction.outcome, hasResponse: response != nil, isBodyComplete: response?.body?.isComplete ?? true)
        guard let response, let body = response.body else {
            return ReadyAnswer(interaction, url: url, source: source, content: .none, arrival: nil, failure: failure)
        }
        self.correctLength(of: &interaction, response, body)
        // A file that is missing or has another size is reported before the head.
        for sidecar in body.content.sidecars + [body.original].compactMap({ $0 }) where sidecar.size > Self.streamSize {
            _ = try self.bodies.open(sidecar, digest: PortableSHA256())
        }
        let isCoded = body.codings.isEmpty && ContentEncoding(response.headers) != .none && body.size > 0
        if max(body.byteCount, isCoded ? body.size : 0) > Self.streamSize {
            let arrival = isCoded ? nil : body.arrival.map { PieceMap.mapped($0, to: body.byteCount) }
            return ReadyAnswer(interaction, url: url, source: source, content: .stream(body), arrival: arrival, failure: failure)
        }
        let stream = try ContentStream(body, headers: response.headers, bodies: self.bodies)
        var bytes = Data()
        do {
            // A few bytes can decode to many.
            while !stream.isEnded, bytes.count <= Self.streamSize { bytes += try stream.next(Self.streamSize) }
        } catch let error as CassetteError {
            throw error
        } catch {
            // Deliver the part that can be decoded first.
            failure = failure ?? (error as? TransportFailure)
        }
        guard bytes.count <= Self.streamSize else {
            return ReadyAnswer(interaction, url: url, source: source, content: .stream(body), arrival: nil, failure: failure)
        }
        let arrival = body.arrival.map { PieceMap.mapped($0, to: bytes.count) }
        return ReadyAnswer(
            interaction, url: url, source: source, content: .pieces(Self.pieces(of: bytes, arrival)), arrival: arrival, failure: failure)
    }

    /// Sets Content-Length to the body's present size, in case it was edited; for a coded body to its coded size, as the proxy does.
    private func correctLength(of interaction: inout Interaction, _ response: RecordedResponse, _ body: Body) {
        // The size of a coded form that is not in the cassette is unknown.
        guard body.isComplete, response.codedHeaders == nil else { return }
        let head = ResponseHead(
            version: response.version, status: response.status, reason: response.reason, omitsReasonSpace: response.omitsReasonSpace,
            fields: response.headers)
        // If the coding cannot be applied here, the length stays: the client sees the body without the coding.
        guard case .length(let length)? = try? BodyFraming.ofResponse(head, requestMethod: interaction.request.method),
            let size = try? self.wireSize(of: body)
        else { return }
        if size != length { interaction.response?.headers = response.headers.replacing("content-length", with: String(size)) }
    }

    private func wireSize(of body: Body) throws -> Int {
        if let original = body.original {
            // A body in a separate file, or without a coding, cannot have been edited.
            if body.codings.isEmpty { return original.size }
            if case .file = body.content { return original.size }
        }
        guard !body.codings.isEmpty else { return body.byteCount }
        let stream = try self.bodies.restoredStream(of: body, digest: { PortableSHA256() })
        var size = 0
        while !stream.isEnded { size += try stream.next().count }
        return size
    }

    /// One `Data` for each recorded piece, so that the two lists correspond; each begins at index 0.
    private static func pieces(of bytes: Data, _ arrival: Arrival?) -> [Data] {
        guard let arrival else { return bytes.isEmpty ? [] : [bytes] }
        var start = bytes.startIndex
        return arrival.pieces.map { piece in
            let end = min(bytes.endIndex, start + piece.size)
            defer { start = end }
            return Data(bytes[start..<end])
        }
    }
}

/// The failure with which the replay of an exchange ends.
enum RecordedFailure {
    /// Nil if the exchange is complete, or if its client cancelled it; the replay is then held open until this client leaves, too.
    ///
    /// - Parameters:
    ///   - hasResponse: whether a response had begun.
    ///   - isBodyComplete: whether its whole body was recorded.
    static func of(_ outcome: Outcome, hasResponse: Bool, isBodyComplete: Bool) -> TransportFailure? {
        switch outcome {
        case .failed(let failure):
            return TransportFailure(.network(failure.kind), failure.message)
        case .cut(let cut) where cut.isCancellation:
            return nil
        case .cut(let cut) where cut.kind != nil && cut.kind != .truncated:
            return TransportFailure(.network(cut.kind ?? .truncated), cut.reason)
        case .cut(let cut) where !hasResponse:
            return TransportFailure(.network(.cancelled), "the recorded exchange ended before a response arrived: \(cut.reason).")
        case .cut(let cut):
            return TransportFailure(.network(.truncated), "the recorded response is truncated: \(cut.reason).")
        case .complete where !hasResponse:
            return TransportFailure(.network(.truncated), "the recorded exchange has no response: add one to the cassette.")
        case .complete where !isBodyComplete:
            return TransportFailure(.network(.truncated), "the recorded response is truncated.")
        case .complete:
            return nil
        }
    }
}
