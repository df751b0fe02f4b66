/// Parameters beside which `code` is an authorization code (RFC 6749, 4.1).
enum OAuthCompany {
    static let names: [StaticString] = ["grant_type=", "state=", "redirect_uri=", "client_id=", "code_verifier=", "session_state="]
    /// The same in JSON.
    static let members: [StaticString] = ["\"grant_type\"", "\"redirect_uri\"", "\"code_verifier\"", "\"client_secret\""]
}
