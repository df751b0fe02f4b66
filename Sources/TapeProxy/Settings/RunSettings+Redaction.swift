public import CassetteRedaction

/// What is taken out of a recording.
extension RunSettings {
    /// Nil where secrets are kept.
    ///
    /// - Parameters:
    ///   - replaced: the rules of a cassette whose place the recording is to take: they go on to hold.
    ///   - secret: the value of an environment variable.
    public func redactionRules(
        replacing replaced: RedactionRules? = nil, secret: (String) -> [UInt8]?
    ) throws(RedactionRuleError) -> RedactionRules? {
        guard self.redaction?.value != false else { return nil }
        let values = self.secretEnv.compactMap { name in secret(name.value).map { SecretValue(name: name.value, octets: $0) } }
        let given = try RedactionRules(
            rules: self.redact.map(\.value), keep: self.keep.map(\.value), secrets: values.filter { !$0.octets.isEmpty })
        return replaced?.adding(given) ?? given
    }

    /// Variables whose values were to be taken out, and that the environment does not hold.
    public func missingSecrets(secret: (String) -> [UInt8]?) -> [String] {
        guard self.redaction?.value != false else { return [] }
        return self.secretEnv.map(\.value).filter { secret($0)?.isEmpty ?? true }
    }
}
