public import CassetteModel

/// Adapts a recorded server's proof to a live client of Digest or SCRAM authentication (RFC 7616, 3.5; RFC 7804, 5).
///
/// `rspauth` proves, for one request and one `cnonce`, that the server knows the password. Clients that check it refuse an answer whose
/// proof is for another request, as in a recorded answer. The proof of SCRAM is in `data`, and is for one login.
public enum DigestAuthenticationInfo {
    /// Whether a header or trailer section (RFC 7615, 3) has one.
    public static func isIn(_ answer: HeaderFields) -> Bool {
        answer.contains("authentication-info") || answer.contains("proxy-authentication-info")
    }

    /// The fields of a recorded answer adapted to a live request; nil if they fit unchanged.
    public static func fitting(_ answer: HeaderFields, to request: HeaderFields) -> HeaderFields? {
        guard self.isIn(answer) else { return nil }
        let credentials = request.values("authorization") + request.values("proxy-authorization")
        let cnonces = credentials.filter { $0.lowercased().hasPrefix("digest ") }.map {
            self.parameter("cnonce", in: String($0.dropFirst(7)))
        }
        var fields = HeaderFields()
        var isChanged = false
        for index in 0..<answer.count {
            guard answer.isNamed("authentication-info", at: index) || answer.isNamed("proxy-authentication-info", at: index),
                self.parameter("rspauth", in: answer.value(at: index)) != nil || self.parameter("data", in: answer.value(at: index)) != nil
            else {
                fields.append(line: answer.line(at: index))
                continue
            }
            let cnonce = self.parameter("cnonce", in: answer.value(at: index))
            let isOfSCRAM = self.parameter("data", in: answer.value(at: index)) != nil
            guard isOfSCRAM || cnonce == nil || !cnonces.contains(cnonce) else {
                fields.append(line: answer.line(at: index))
                continue
            }
            isChanged = true
            // The server's next nonce is still valid.
            guard let next = self.parameter("nextnonce", in: answer.value(at: index)) else { continue }
            fields.append(name: answer.name(at: index), value: "nextnonce=\"\(next)\"")
        }
        return isChanged ? fields : nil
    }

    /// The value of a parameter without its quotes; nil if it is missing.
    private static func parameter(_ name: String, in text: String) -> String? {
        var rest = text[...]
        while !rest.isEmpty {
            let key = rest.prefix { $0 != "=" && $0 != "," }
            rest = rest.dropFirst(key.count)
            guard rest.first == "=" else {
                rest = rest.dropFirst()
                continue
            }
            rest = rest.dropFirst().drop { $0 == " " }
            let value: Substring
            if rest.first == "\"" {
                value = rest.dropFirst().prefix { $0 != "\"" }
                rest = rest.dropFirst(value.count + 2)
            } else {
                value = rest.prefix { $0 != "," && $0 != " " }
                rest = rest.dropFirst(value.count)
            }
            rest = rest.drop { $0 == " " || $0 == "," }
            if key.trimmingSpaces.lowercased() == name { return String(value) }
        }
        return nil
    }
}

extension Substring {
    fileprivate var trimmingSpaces: Substring {
        var text = self.drop { $0 == " " || $0 == "\t" }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}
