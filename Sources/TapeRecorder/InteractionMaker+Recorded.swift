internal import CassetteFormat
internal import CassetteModel
internal import CassetteRedaction
internal import CassetteStore

/// An exchange that is in a cassette already, with what is known of secrets by now.
extension InteractionMaker {
    /// The exchange without the secrets in it, its bodies not yet made readable again.
    struct Redacted {
        var interaction: Interaction
        var request: LooseBody?
        var response: LooseBody?
        var outcome: ExchangeRedaction.Outcome

        var count: Int { self.outcome.request.count + self.outcome.response.count }
    }

    /// Nil where nothing is to be done. Writes nothing.
    func redacted(_ interaction: Interaction, reader: BodyReader) throws -> Redacted? {
        guard let redaction = self.redaction else { return nil }
        var redacted = interaction
        var request = try self.loose(interaction.request.body, reader)
        var response = try self.loose(interaction.response?.body, reader)
        let outcome = try redaction.redact(&redacted, request: &request, response: &response)
        guard outcome.request.isChanged || outcome.response.isChanged else { return nil }
        return Redacted(interaction: redacted, request: request, response: response, outcome: outcome)
    }

    /// The exchange with those bodies made readable that were changed; the others stay as they are.
    mutating func made(_ redacted: Redacted) throws -> Interaction {
        var interaction = redacted.interaction
        if redacted.outcome.request.isBodyChanged, let loose = redacted.request, let old = interaction.request.body {
            var body = try self.body(loose, interaction.request.headers, origin: "", mayDevelop: true)
            body.unknown = old.unknown
            interaction.request.body = body
        }
        if redacted.outcome.response.isBodyChanged, let loose = redacted.response, let message = interaction.response,
            let old = message.body
        {
            var body = try self.body(loose, message.headers, origin: interaction.connection?.remote ?? "", mayDevelop: true)
            body.unknown = old.unknown
            interaction.response?.body = body
        }
        return interaction
    }

    /// The wire octets of a recorded body, in a file where they are many.
    private func loose(_ body: Body?, _ reader: BodyReader) throws -> LooseBody? {
        guard let body else { return nil }
        guard body.size > ExchangeRedaction.memoryLimit || body.octetCount > ExchangeRedaction.memoryLimit * 4 else {
            let octets = try reader.wireBytes(of: body, digest: self.digest).octets
            return LooseBody(.memory(octets), arrival: body.arrival, isComplete: body.isComplete)
        }
        let stream = try reader.restoredStream(of: body, digest: self.digest)
        let spool = OpenSpool(try self.store.makeSpool(), digest: self.digest())
        while !stream.isEnded { try spool.write(try stream.next()) }
        return LooseBody(.spool(spool), arrival: body.arrival, isComplete: body.isComplete)
    }
}
