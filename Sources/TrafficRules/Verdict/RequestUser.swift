package import CassetteModel
internal import CassetteRedaction

/// For whom a client sends a request: users of one client do not retry each other's requests.
package enum RequestUser {
    /// Parts of the names of fields whose values are secret and another one in each request.
    private static let changing = ["csrf", "xsrf", "hmac", "idempotency", "nonce", "signature", "websocket"]
    /// Schemes of `Authorization` whose value is another one in each request (the registry of HTTP authentication schemes, and AWS).
    private static let signatures = ["aws4-", "digest", "dpop", "gnap", "hmac", "hoba", "mutual", "negotiate", "ntlm", "oauth ", "scram-"]
    /// Parts of the names of cookies that identify a session.
    private static let sessions = ["auth", "jwt", "login", "sess", "sid", "token", "user"]

    /// A hash of its credentials in header fields and in the URL, which is of use in this process; 0 if it has none.
    package static func hash(of fields: HeaderFields, url: String) -> Int {
        var hasher = Hasher()
        var hasAny = false
        func add(_ name: String, _ value: some StringProtocol) {
            hasAny = true
            hasher.combine(name)
            hasher.combine(String(value))
        }
        for index in 0..<fields.count {
            let name = fields.name(at: index).lowercased()
            if name == "authorization" || name == "proxy-authorization" {
                let value = fields.value(at: index)
                if !self.signatures.contains(where: value.lowercased().hasPrefix) { add(name, value) }
            } else if name == "cookie" {
                for pair in fields.value(at: index).split(separator: ";") {
                    let cookie = pair.drop { $0 == " " }.prefix { $0 != "=" }.lowercased()
                    if self.sessions.contains(where: cookie.contains) { add(cookie, pair.drop { $0 == " " }) }
                }
            } else if SecretNames.holdsCredentials(Array(name.utf8)), !name.hasSuffix("-sign"),
                !self.changing.contains(where: name.contains)
            {
                add(name, fields.value(at: index))
            }
        }
        let secrets = DrawnURL.secrets(of: url)
        if !secrets.isEmpty { add("", String(decoding: secrets, as: UTF8.self)) }
        return hasAny ? hasher.finalize() : 0
    }
}
