/// Who may see what is behind `/login`: one user, and tokens that never change.
///
/// The access token of a login has always expired, so that each client has to refresh it once. Keeps no time and no sessions.
enum Login {
    static let user = "bori@pets.test"
    static let password = "초코-2026"
    /// Given by `/login`, and refused by every page.
    static let expiredToken = "demo-access-expired-4f1c9a7e2b60d853"
    /// Given by `/refresh`, and taken by every page.
    static let freshToken = "demo-access-fresh-a83e51d70c9f42b6"
    static let refreshToken = "demo-refresh-7d20b94c6e1f85a3"

    /// To a form of `name` and `password`, or to a JSON object of the two.
    static func login(body: [UInt8]) -> Answer {
        let text = String(decoding: body, as: UTF8.self)
        guard text.contains("\"\(self.user)\""), text.contains("\"\(self.password)\"") else {
            return self.refusal("wrong name or password; the demo's user is \"\(self.user)\"", error: "invalid_grant")
        }
        return self.tokens(access: self.expiredToken)
    }

    static func refresh(body: [UInt8]) -> Answer {
        guard String(decoding: body, as: UTF8.self).contains("\"\(self.refreshToken)\"") else {
            return self.refusal("no such refresh token; log in again", error: "invalid_grant")
        }
        return self.tokens(access: self.freshToken)
    }

    /// - Parameter authorization: the field of the request.
    static func me(authorization: String?) -> Answer {
        switch authorization {
        case "Bearer \(self.freshToken)":
            return Answer(.ok, json: "{\"email\": \"\(self.user)\", \"name\": \"보리 집사\", \"pets\": [2, 3]}\n")
        case "Bearer \(self.expiredToken)":
            return self.refusal("the access token has expired; refresh it", error: "invalid_token")
        default:
            return self.refusal("no access token; log in", error: "invalid_request")
        }
    }

    private static func tokens(access: String) -> Answer {
        let lifetime = access == self.freshToken ? 3600 : 0
        let json =
            "{\"token_type\": \"Bearer\", \"access_token\": \"\(access)\", \"refresh_token\": \"\(self.refreshToken)\", \"expires_in\": \(lifetime)}\n"
        return Answer(.ok, json: json, headers: ["Cache-Control": "no-store"])
    }

    /// RFC 6750, 3.
    private static func refusal(_ text: String, error: String) -> Answer {
        Answer(
            .unauthorized, json: "{\"error\": \"\(error)\", \"message\": \"\(text.split(separator: "\"").joined(separator: "'"))\"}\n",
            headers: ["WWW-Authenticate": "Bearer realm=\"pets\", error=\"\(error)\""])
    }
}
