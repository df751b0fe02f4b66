public import CassetteModel
internal import TapeBytes

/// Applies a cassette's redaction rules to live requests, so that they are compared in the redacted form of the recorded ones.
///
/// Placeholders need not have the same numbers as in the cassette: matching treats all placeholders as equal, and a recorded one fits any
/// text. A secret may recur in a later request, in base64 or hex and without a name. Secrets learned from a request are therefore known for
/// later requests, see `forOneRequest`.
public struct LiveRedactor: Sendable {
    /// How many secrets of live requests are remembered. Beyond this they are forgotten, except for those named by rules.
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

    /// A redactor for the head and body of a single request. It knows the secrets of earlier requests.
    public func forOneRequest() -> LiveRedactor {
        let redactor = self.session.withLock { session in
            if session.vault.count - self.redactor.vault.count >= self.secretLimit { session = self.redactor.forSession() }
            return session.forOneRequest()
        }
        return LiveRedactor(redactor, of: self.session, secretLimit: self.secretLimit)
    }

    /// How many secrets are known.
    var count: Int { self.redactor.vault.count }

    /// The URL as the cassette would contain it; nil if unchanged.
    public func redacted(url: String) -> String? { self.redactor.head.redacted(url: url)?.url }

    /// The fields as the cassette would contain them; nil if unchanged. Lengths and digests remain those of the live body.
    public func redacted(headers: HeaderFields) -> HeaderFields? {
        var fields = headers
        return self.redactor.head.redact(&fields) > 0 ? fields : nil
    }

    /// Both as the cassette would contain them. Secrets learned from the fields are also removed from the URL, and vice versa.
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

    /// The wire bytes of a body as the cassette would contain them; nil if unchanged.
    ///
    /// - Parameters:
    ///   - headers: the fields as the client sent them.
    ///   - messages: the type of a gRPC body's messages, if the cassette was recorded with names.
    public func redacted(body: [UInt8], headers: HeaderFields, messages: ProtoType? = nil) -> [UInt8]? {
        var request = RecordedRequest(method: "POST", url: "", headers: headers)
        var wire: WireBody? = WireBody(body)
        return self.redactor.redact(request: &request, body: &wire, messages).isBodyChanged ? wire?.bytes : nil
    }

    /// One gRPC message as the cassette would contain it, without its prefix; nil if unchanged.
    ///
    /// - Parameters:
    ///   - message: the message as it arrived. If it is compressed, so is the result, unless the message could not be searched.
    ///   - headers: the request's fields, as the client sent them.
    ///   - type: the type of the message, if the cassette was recorded with names.
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

    /// Redacts a body that is too large for memory; see `Redactor`.
    public func redact(
        _ source: ByteSource, headers: HeaderFields, isComplete: Bool, deliver: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> RedactionOutcome {
        try self.redactor.redact(source, headers: headers, isComplete: isComplete, deliver: deliver)
    }
}
