public import CassetteRedaction

extension Request {
    /// The request as a command for a shell that sends the same with curl: as it went out last, or as it would go out before adapters.
    ///
    /// Makes the request where it has not been made, and throws what that throws; sends nothing.
    ///
    /// - Parameter redaction: what is taken out of it; nil shows all secrets.
    public func curl(redaction: RedactionRules? = .standard) throws -> CurlDescription {
        if let sent = self.sentRequest { return CurlDescription(sent, redaction: redaction) }
        do {
            return CurlDescription(try self.draft().request, redaction: redaction)
        } catch {
            throw WiretapeError(error, as: .invalidRequest)
        }
    }

    /// The same as text, with secrets taken out; the error's text where the request cannot be made.
    public func cURLDescription() -> String {
        do {
            return try self.curl().description
        } catch {
            return "\(error)"
        }
    }
}
