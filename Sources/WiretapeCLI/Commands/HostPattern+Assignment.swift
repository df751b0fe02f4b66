internal import TapeTrust

extension HostPattern {
    /// Takes `PATTERN=VALUE` apart; no pattern holds an equals sign, and a value may.
    static func assignment(_ text: String, _ form: String) throws(TrustError) -> (pattern: HostPattern, value: String) {
        guard let equals = text.firstIndex(of: "="), text.index(after: equals) < text.endIndex else {
            throw TrustError("there is no value for a host in \"\(text)\": write \(form).")
        }
        do throws(HostPatternError) {
            return (try HostPattern(String(text[..<equals])), String(text[text.index(after: equals)...]))
        } catch {
            throw TrustError(error.message)
        }
    }
}
