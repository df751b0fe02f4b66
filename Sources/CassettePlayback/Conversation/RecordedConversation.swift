internal import CassetteFormat
internal import CassetteModel
internal import CassetteRedaction
internal import CassetteStore
internal import TapeBytes

/// A recorded exchange as a conversation: the facets of its client's messages, and when its answer came.
///
/// Does not keep the messages of a gRPC answer. A class, so that copies share it.
final class RecordedConversation: Sendable {
    /// A longer body is compared as a whole. At about 100 bytes per message, a conversation stays below 2 MiB.
    static let messageLimit = GRPCMessages.limit

    /// In order of request start from 0.
    let index: Int
    let requests: [BodyFacets]
    let recording: ConversationScript.Recording
    /// What its server sent, if it was a WebSocket.
    let webSocket: WebSocketSpeech?
    /// The traits by which it is chosen; nil if only its messages decide.
    let traits: ExchangeTraits?
    /// A digest of the client's messages.
    let messages: Int
    /// Client messages whose content could not be read when they were recorded. Any live message matches them.
    private let unread: Set<Int>
    /// A digest of the client's messages from each number on.
    private let rests: [Int]

    init(
        index: Int, requests: [BodyFacets], recording: ConversationScript.Recording, webSocket: WebSocketSpeech? = nil,
        unread: Set<Int> = [], traits: ExchangeTraits? = nil
    ) {
        self.index = index
        self.traits = traits
        self.messages = requests.hashValue
        self.requests = requests
        self.recording = recording
        self.webSocket = webSocket
        self.unread = unread
        var rests = [recording.requestsAreWhole ? -1 : index]
        rests.reserveCapacity(requests.count + 1)
        for (number, message) in requests.enumerated().reversed() {
            var hasher = Hasher()
            hasher.combine(rests[rests.count - 1])
            hasher.combine(message.kind)
            hasher.combine(message.count)
            hasher.combine(message)
            // Messages with marks can match several live ones, so two of them are never considered equal.
            if message.mayFit || unread.contains(number) { hasher.combine(index) }
            rests.append(hasher.finalize())
        }
        self.rests = rests.reversed()
    }

    /// A digest that is equal for two conversations only if exactly the same client messages match both from this one on.
    func rest(from number: Int) -> Int { self.rests[min(number, self.rests.count - 1)] }

    /// Whether a live message matches a recorded one.
    func matches(_ number: Int, _ live: BodyFacets) -> Bool {
        guard self.requests.indices.contains(number) else { return false }
        guard !self.unread.contains(number) else { return true }
        let recorded = self.requests[number]
        return recorded == live || (recorded.mayFit && recorded.fits(live: live))
    }

    /// An estimate of its memory use, in bytes.
    var weight: Int {
        self.requests.reduce(256 + 32 * self.recording.messages.count + 8 * self.rests.count + (self.webSocket?.weight ?? 0)) {
            sum, facets in
            let values = facets.exempt.reduce(0) { $0 + $1.weight }
            return facets.facets.reduce(sum + 64 + values) { $0 + 128 + $1.name.count + $1.value.count }
        }
    }
}

extension RecordedConversation {
    /// Nil if it was not a gRPC call, or is too long.
    ///
    /// - Parameters:
    ///   - requests: the facets of the client's messages.
    ///   - traits: see `RecordedConversation.traits`.
    ///   - sizes: the sizes of those messages, in bytes with their prefixes.
    ///   - answers: the sizes of the answer's messages.
    convenience init?(
        _ interaction: Interaction, index: Int, requests: [BodyFacets], traits: ExchangeTraits, sizes: [Int], answers: [Int]
    ) {
        let request = interaction.request
        let isWhole = request.body?.isComplete ?? true
        guard GRPCType(request.headers) != nil, request.version.major >= 2, requests.count <= Self.messageLimit else { return nil }
        let times = RecordedTimes(interaction)
        let came = ByteTimes(request.body?.arrival, start: 0, end: 0)
        var offset = 0
        let cameAt = sizes.map { size in
            offset += size
            return came.time(offset - 1)
        }
        var sentAt = 0.0
        /// - Parameter at: when the part was sent.
        func step(_ after: Int?, at: Double) -> ConversationScript.Step {
            let last = min(after ?? cameAt.count, cameAt.count) - 1
            let begun = max(sentAt, cameAt.indices.contains(last) ? cameAt[last] : 0)
            sentAt = max(sentAt, at)
            return ConversationScript.Step(after: after, gap: max(0, at - begun))
        }
        var recording = ConversationScript.Recording(
            requests: requests.count, requestsAreWhole: isWhole, head: nil, ending: Self.ending(interaction.outcome))
        if let response = interaction.response {
            recording.head = step(response.after, at: times.head)
            let sent = ByteTimes(response.body?.arrival, start: times.head, end: times.end)
            let marks = response.body?.conversationMarks ?? ConversationMarks()
            var offset = 0
            recording.messages = answers.indices.map { number in
                // Sizes in an edited cassette are arbitrary, so the sum may overflow.
                offset = offset.addingReportingOverflow(answers[number]).partialValue
                return step(marks[number], at: sent.time(offset &- 1))
            }
            recording.end = step(response.endAfter, at: times.end)
        } else {
            recording.end = step(isWhole ? nil : requests.count, at: times.end)
        }
        self.init(index: index, requests: requests, recording: recording, traits: traits)
    }

    private static func ending(_ outcome: Outcome) -> ConversationScript.Ending {
        switch outcome {
        case .complete: .complete
        case .cut(let cut): cut.by == .client ? .left : .cut
        case .failed: .cut
        }
    }
}

/// When each byte of a recorded body arrived, in milliseconds since its exchange began.
private struct ByteTimes {
    private let pieces: [(end: Int, at: Double)]
    private let end: Double

    /// - Parameters:
    ///   - arrival: nil if the body came in one piece, at its end.
    ///   - start: the origin of its times.
    init(_ arrival: Arrival?, start: Double, end: Double) {
        var size = 0
        self.pieces = (arrival?.pieces ?? []).map { piece in
            size = size.addingReportingOverflow(max(0, piece.size)).partialValue
            return (size, start + piece.at)
        }
        self.end = end
    }

    func time(_ offset: Int) -> Double {
        var (low, high) = (0, self.pieces.count)
        while low < high {
            let middle = (low + high) / 2
            if self.pieces[middle].end > offset { high = middle } else { low = middle + 1 }
        }
        return low < self.pieces.count ? self.pieces[low].at : self.end
    }
}

extension RecordedCassette {
    func conversation(
        at index: Int, rules: MatchRules, detail: BodyFacets.RecordedDetail, redaction: LiveRedactor?,
        digest: @escaping () -> any ContentDigest
    ) throws(CassetteError) -> RecordedConversation? {
        let interaction = try self.interaction(at: index)
        let request = interaction.request
        guard GRPCType(request.headers) != nil else {
            return try self.webSocket(interaction, at: index, rules: rules, detail: detail, redaction: redaction, digest: digest)
        }
        let redaction = redaction?.forOneRequest()
        let messages = MessageReader {
            PendingBody(
                rules: rules, headers: request.headers, url: request.url, redaction: redaction, isRecorded: true, digest: digest)
        }
        var (facets, sizes) = ([BodyFacets](), [Int]())
        func take(_ bytes: UnsafeRawBufferPointer) {
            var offset = 0
            while offset < bytes.count, facets.count <= RecordedConversation.messageLimit {
                let (count, isComplete) = messages.take(UnsafeRawBufferPointer(rebasing: bytes[offset...]))
                offset += count
                guard isComplete else { continue }
                sizes.append(messages.size)
                facets.append(messages.finish().kept(detail))
            }
        }
        try self.readWire(request.body, digest, take)
        return RecordedConversation(
            interaction, index: index, requests: facets,
            traits: ExchangeTraits(interaction, rules: rules, body: .none, login: self.login(at: index), hasStubs: self.hasStubs),
            sizes: sizes,
            answers: try self.messageSizes(interaction.response?.body, digest))
    }

    /// The sizes of an answer's messages. Empty if the client had ended before the first one: then nothing depends on them.
    private func messageSizes(_ body: Body?, _ digest: @escaping () -> any ContentDigest) throws(CassetteError) -> [Int] {
        if case .grpc(let body)? = body?.content {
            return body.messages.map { $0.size.addingReportingOverflow(GRPCMessage.prefixSize).partialValue }
        }
        guard body?.conversationMarks != nil else { return [] }
        var (frames, sizes, size) = (GRPCFrames(), [Int](), 0)
        try self.readWire(body, digest) { bytes in
            frames.takeAll(bytes) { piece in
                size += piece.count
                guard piece.isLast else { return }
                if sizes.count < RecordedConversation.messageLimit { sizes.append(size) }
                size = 0
            }
        }
        return sizes
    }

    private func readWire(
        _ body: Body?, _ digest: @escaping () -> any ContentDigest, _ deliver: (UnsafeRawBufferPointer) -> Void
    ) throws(CassetteError) {
        guard let body, body.content != .empty else { return }
        let reader = BodyReader(cassettePath: self.path)
        do {
            _ = try BodyRestorer.streamWire(
                of: body, file: { try reader.source($0, digest: digest()) }, raw: { ByteSource(try reader.read($0)) },
                digest: digest(), deliver: deliver)
        } catch let error as CassetteError {
            throw error
        } catch {
            throw CassetteError(.unreadable, "a recorded body cannot be read (\(error)); record the exchange again", cause: error)
        }
    }
}

extension BodyFacets {
    /// Without what only an explanation of differences needs.
    func kept(_ detail: RecordedDetail) -> BodyFacets {
        guard detail == .digests, !self.mayFit else { return self }
        var kept = self.digestOnly
        (kept.exempt, kept.placeholders) = (self.exempt, self.placeholders)
        return kept
    }
}
