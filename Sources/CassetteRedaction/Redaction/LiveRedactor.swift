public import CassetteModel

/// A cassette's rules on live requests, so that they are compared as the recorded ones were kept.
///
/// Numbers of placeholders need not be those of the cassette: matching takes all placeholders for the same, and one that was recorded
/// fits any text. So a request needs to know nothing of others, and what it teaches is forgotten with it: see `forOneRequest`.
public struct LiveRedactor: Sendable {
    private let redactor: Redactor

    public init(_ redactor: Redactor) {
        self.redactor = redactor
    }

    /// One for a single request, its head and its body: what it learns, this one never knows.
    public func forOneRequest() -> LiveRedactor {
        LiveRedactor(self.redactor.forOneRequest())
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
        var generation = -1
        var looks = 0
        while generation != self.redactor.vault.generation, looks < Redactor.lookLimit {
            looks += 1
            generation = self.redactor.vault.generation
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
