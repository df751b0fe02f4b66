public import CassetteModel

/// Detects whether a message authenticates its connection, and not only itself.
///
/// NTLM, and Negotiate in the implementations that matter, authenticate a connection: later requests on it belong to the same user, with or
/// without credentials (RFC 4559, 6). Such a connection must not be shared with another client.
public enum ConnectionAuthentication {
    /// In lower case.
    private static let schemes = ["ntlm", "negotiate", "kerberos", "nego2", "nego-ex"]

    /// Whether a request carries credentials of such a scheme.
    public static func isUsed(by request: HeaderFields) -> Bool {
        self.namesScheme(request, "authorization") || self.namesScheme(request, "proxy-authorization")
    }

    /// Whether a response is part of such a handshake, or announces that the connection stays authenticated.
    public static func isUsed(by response: HeaderFields, status: Int) -> Bool {
        switch status {
        case 401: return self.offersScheme(response, "www-authenticate")
        case 407: return self.offersScheme(response, "proxy-authenticate")
        default:
            guard response.contains("persistent-auth") || response.contains("proxy-support") || response.contains("www-authenticate")
            else { return false }
            return response.first("persistent-auth")?.lowercased() == "true"
                || response.first("proxy-support")?.lowercased() == "session-based-authentication"
                || self.offersScheme(response, "www-authenticate")
        }
    }

    private static func namesScheme(_ fields: HeaderFields, _ name: StaticString) -> Bool {
        guard fields.contains(name) else { return false }
        return fields.values(name).contains { value in self.schemes.contains { self.begins(value, with: $0) } }
    }

    /// A challenge's scheme comes at the beginning of the value or after a comma (RFC 9110, 11.6.1).
    private static func offersScheme(_ fields: HeaderFields, _ name: StaticString) -> Bool {
        guard fields.contains(name) else { return false }
        return fields.values(name).contains { value in
            value.split(separator: ",").contains { challenge in
                let challenge = String(challenge.drop { $0 == " " || $0 == "\t" })
                return self.schemes.contains { self.begins(challenge, with: $0) }
            }
        }
    }

    private static func begins(_ value: String, with scheme: String) -> Bool {
        let value = value.lowercased()
        guard value.hasPrefix(scheme) else { return false }
        let rest = value.dropFirst(scheme.count)
        return rest.isEmpty || rest.first == " " || rest.first == "\t"
    }
}
