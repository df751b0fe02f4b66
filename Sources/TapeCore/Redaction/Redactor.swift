/// Takes secrets out of messages: wire octets in, wire octets out, as if the traffic had carried placeholders.
///
/// Keeps nothing but what it learns, in its vault.
public struct Redactor: Sendable {
    public let rules: RedactionRules
    public let vault: SecretVault
    let makeDigest: @Sendable () -> any ContentDigest

    /// `makeDigest` makes a SHA-256, for digests in header fields that have to fit again.
    public init(
        rules: RedactionRules = .standard, vault: SecretVault = SecretVault(),
        makeDigest: @escaping @Sendable () -> any ContentDigest = { PortableSHA256() }
    ) {
        self.rules = rules
        self.vault = vault
        self.makeDigest = makeDigest
    }

    /// Redacts all heads of an exchange and both bodies, what is learned in one used in all of them.
    ///
    /// The interaction's own bodies are left alone. Digests and lengths in header fields fit afterwards, or the outcome says which do not.
    public func redact(
        _ interaction: inout Interaction, requestBody: inout WireBody?, responseBody: inout WireBody?
    ) -> (request: RedactionOutcome, response: RedactionOutcome) {
        let request = self.redact(request: &interaction.request, body: &requestBody)
        return (request, RedactionOutcome())
    }

    public func redact(request: inout RecordedRequest, body: inout WireBody?) -> RedactionOutcome { RedactionOutcome() }

    public func redact(response: inout RecordedResponse, body: inout WireBody?) -> RedactionOutcome { RedactionOutcome() }

    /// A body that is too large for memory: `deliver` gets the redacted octets in pieces, and is not called where nothing is to be done.
    ///
    /// Reads the source twice. Redact the head with `redact(request:body:)` and no body first, and then `fit` it to the new octets.
    public func redact(
        _ source: OctetSource, headers: HeaderFields, isComplete: Bool, deliver: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> RedactionOutcome { RedactionOutcome() }

    /// Makes lengths and digests in header fields fit the redacted octets of a body.
    public func fit(_ headers: inout HeaderFields, arrival: inout Arrival?, to change: BodyChange, outcome: inout RedactionOutcome) {}

    /// A quick look: whether one of the secrets known by now may stand in these octets, in any spelling. For the pass at the end of a
    /// recording, over the text of each interaction and its sidecars.
    public func mayConcern(_ octets: UnsafeRawBufferPointer) -> Bool { false }
}
