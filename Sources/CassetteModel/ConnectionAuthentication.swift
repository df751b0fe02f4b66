/// Detects whether a message authenticates its connection, and not only itself.
///
/// NTLM, CredSSP, and Negotiate in the implementations that matter, authenticate a connection: later requests on it belong to the same user, with or
/// without credentials (RFC 4559, 6). Such a connection must not be shared with another client.
public enum ConnectionAuthentication {
    /// In lower case.
    private static let schemes = ["ntlm", "negotiate", "kerberos", "nego2", "nego-ex", "credssp", "pku2u"]

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

    /// Whether a field line (`Name: value`) of a request carries such credentials.
    public static func isUsed(byLine line: UnsafeRawBufferPointer) -> Bool {
        let name: StaticString = "authorization:"
        guard line.count > name.utf8CodeUnitCount, line[0] | 0x20 == UInt8(ascii: "a"),
            line[name.utf8CodeUnitCount - 1] == UInt8(ascii: ":"),
            (0..<name.utf8CodeUnitCount).allSatisfy({ line[$0] | 0x20 == name.utf8Start[$0] | 0x20 })
        else { return false }
        // No name of a scheme is longer.
        let value = line[name.utf8CodeUnitCount...].prefix(32)
        return self.names(String(decoding: value.drop { $0 == 0x20 || $0 == 0x09 }, as: UTF8.self))
    }

    /// Whether credentials or a challenge, such as `NTLM TlRM...`, are of such a scheme.
    public static func names(_ value: String) -> Bool { self.schemes.contains { self.begins(value, with: $0) } }

    private static func namesScheme(_ fields: HeaderFields, _ name: StaticString) -> Bool {
        guard fields.contains(name) else { return false }
        return fields.values(name).contains { self.names($0) }
    }

    /// A challenge's scheme comes at the beginning of the value or after a comma (RFC 9110, 11.6.1).
    private static func offersScheme(_ fields: HeaderFields, _ name: StaticString) -> Bool {
        guard fields.contains(name) else { return false }
        return fields.values(name).contains { value in
            value.split(separator: ",").contains { challenge in
                self.names(String(challenge.drop { $0 == " " || $0 == "\t" }))
            }
        }
    }

    private static func begins(_ value: String, with scheme: String) -> Bool {
        let value = value.prefix(scheme.count + 1).lowercased()
        guard value.hasPrefix(scheme) else { return false }
        let rest = value.dropFirst(scheme.count)
        return rest.isEmpty || rest.first == " " || rest.first == "\t"
    }
}
