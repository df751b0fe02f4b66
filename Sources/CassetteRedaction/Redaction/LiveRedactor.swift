public import CassetteModel
internal import TapeBytes

/// A cassette's rules on live requests, so that they are compared as the recorded ones were kept.
///
/// Numbers of placeholders need not be those of the cassette: matching takes all placeholders for the same, and one that was recorded
/// fits any text. A secret may come again in a later request, in base64 or hex, under no name: what a request teaches is known to those
/// after it, see `forOneRequest`.
public struct LiveRedactor: Sendable {
    /// Secrets of live requests that are remembered; then they are forgotten, and those of the rules stay.
    static let secretLimit = 10_000

    private let redactor: Redactor
    private let session: Guarded<Redactor>
    private let secretLimit: Int

    public init(_ redactor: Redactor) {
        self.init(redactor, secretLimit: Self.secretLimit)
    }

    init(_ redactor: Redactor, secretLimit: Int) {
        self.redactor = redactor
        self.session = Guarded(redactor.forSession())
        self.secretLimit = secretLimit
    }

    private init(_ redactor: Redactor, of session: Guarded<Redactor>, secretLimit: Int) {
        (self.redactor, self.session, self.secretLimit) = (redactor, session, secretLimit)
    }

    /// One for a single request, its head and its body. It knows the secrets of the requests before.
    public func forOneRequest() -> LiveRedactor {
        let redactor = self.session.withLock { session in
            if session.vault.count - self.redactor.vault.count >= self.secretLimit { session = self.redactor.forSession() }
            return session.forOneRequest()
        }
        return LiveRedactor(redactor, of: self.session, secretLimit: self.secretLimit)
    }

    /// Secrets known.
    var count: Int { self.redactor.vault.count }

    /// The URL as the cassette would hold it; nil if unchanged.
    public func redacted(url: String) -> String? { self.redactor.head.redacted(url: url)?.url }

    /// The fields as the cassette would hold them; nil if unchanged. Lengths and digests stay those of the live body.
    public func redacted(headers: HeaderFields) -> HeaderFields? {
        var fields = headers
        return self.redactor.head.redact(&fields) > 0 ? fields : nil
    }

    /// Both as the cassette would hold them: what the fields teach is taken out of the URL too, and the other way round.
    public func redacted(url: String, headers: HeaderFields) -> (url: String, headers: HeaderFields) {
        var (redactedURL, redactedHeaders) = (url, headers)
        var learned = -1
        var looks = 0
        while learned != self.redactor.vault.learned, looks < Redactor.lookLimit {
            looks += 1
            learned = self.redactor.vault.learned
            redactedURL = self.redacted(url: redactedURL) ?? redactedURL
            redactedHeaders = self.redacted(headers: redactedHeaders) ?? redactedHeaders
        }
        return (redactedURL, redactedHeaders)
    }

    /// The wire bytes of a body as the cassette would hold them; nil if unchanged.
    ///
    /// - Parameters:
    ///   - headers: as the client sent them.
    ///   - messages: the type of a gRPC body's messages, if the cassette was recorded with names.
    public func redacted(body: [UInt8], headers: HeaderFields, messages: ProtoType? = nil) -> [UInt8]? {
        var request = RecordedRequest(method: "POST", url: "", headers: headers)
        var wire: WireBody? = WireBody(body)
        return self.redactor.redact(request: &request, body: &wire, messages).isBodyChanged ? wire?.bytes : nil
    }

    /// One message of gRPC as the cassette would hold it, without its prefix; nil if unchanged.
    ///
    /// - Parameters:
    ///   - message: as it came: if it is compressed, so is what comes back, unless it could not be searched.
    ///   - headers: of the request, as the client sent them.
    ///   - type: of the message, if the cassette was recorded with names.
    public func redacted(
        message: [UInt8], isCompressed: Bool, headers: HeaderFields, type: ProtoType? = nil
    ) -> (bytes: [UInt8], isCompressed: Bool)? {
        guard let messages = self.redactor.messages(headers, GRPCSchema(type)) else { return nil }
        var notes: [String] = []
        return message.withUnsafeBytes { bytes in
            let message = GRPCRedaction.Message(bytes: bytes, isCompressed: isCompressed, index: 0)
            return messages.redacted(message, isComplete: true, notes: &notes).map { ($0.bytes, $0.isCompressed) }
        }
    }

    /// A body that is too large for memory; see `Redactor`.
    public func redact(
        _ source: ByteSource, headers: HeaderFields, isComplete: Bool, deliver: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> RedactionOutcome {
        try self.redactor.redact(source, headers: headers, isComplete: isComplete, deliver: deliver)
    }
}
