internal import NIOHTTP1

/// The pets as a resource: they can be created, read, replaced and deleted with JSON.
///
/// Stores nothing: a created pet is answered as if it were kept, so that answers do not depend on the order of requests.
enum PetPages {
    /// The ID of a new pet.
    static let nextID = 4

    /// The answer to `POST /pets` with JSON.
    static func create(body: [UInt8]) -> Answer {
        guard let members = self.members(body) else { return self.refusal }
        let rest = members.isEmpty ? "" : ", \(members)"
        return Answer(.created, json: "{\"id\": \(self.nextID)\(rest)}\n", headers: ["Location": "/pets/\(self.nextID)"])
    }

    /// The answer to a request for `/pets/ID`.
    static func answer(_ method: HTTPMethod, id: String, body: [UInt8]) -> Answer {
        guard let pet = self.pets.first(where: { "\($0.id)" == id }) else {
            return Answer(.notFound, json: "{\"error\": \"no such pet\"}\n")
        }
        switch method {
        case .GET, .HEAD:
            return Answer(.ok, json: pet.json + "\n", headers: ["ETag": "\"pet-\(id)-1\""])
        case .PUT, .PATCH:
            guard let members = self.members(body) else { return self.refusal }
            return Answer(.ok, json: "{\"id\": \(id)\(members.isEmpty ? "" : ", \(members)")}\n", headers: ["ETag": "\"pet-\(id)-2\""])
        case .DELETE:
            var answer = Answer(.noContent, "application/json", [])
            answer.headers.remove(name: "Content-Type")
            return answer
        default:
            return Answer(.methodNotAllowed, text: "\(method) is not for a pet\n", headers: ["Allow": "GET, HEAD, PUT, PATCH, DELETE"])
        }
    }

    private static let pets = [
        (id: 1, json: "{\"id\": 1, \"name\": \"Miso\", \"kind\": \"cat\", \"weight\": 4.20, \"born\": \"2021-03-14T00:00:00Z\"}"),
        (id: 2, json: "{\"id\": 2, \"name\": \"보리\", \"kind\": \"dog\", \"weight\": 11.5, \"born\": \"2019-11-02T00:00:00Z\"}"),
        (id: 3, json: "{\"id\": 3, \"name\": \"Zoë \\\"Zip\\\" 🦎\", \"kind\": \"gecko\", \"weight\": null, \"born\": null}"),
    ]

    private static let refusal = Answer(.badRequest, json: "{\"error\": \"want a JSON object\"}\n")

    /// The text between the braces of a JSON object, which is not parsed; nil for anything else.
    private static func members(_ body: [UInt8]) -> String? {
        func isSpace(_ byte: UInt8) -> Bool { [9, 10, 13, 32].contains(byte) }
        let text = body.drop(while: isSpace)
        guard let last = text.lastIndex(where: { !isSpace($0) }), last > text.startIndex else { return nil }
        guard text.first == UInt8(ascii: "{"), text[last] == UInt8(ascii: "}") else { return nil }
        let inner = String(decoding: text[(text.startIndex + 1)..<last], as: UTF8.self)
        return inner.allSatisfy(\.isWhitespace) ? "" : inner
    }
}

/// The pages with a login. There is one user, and tokens never change.
///
/// The access token from a login is always expired, so that each client has to refresh it once. Has no clock and no sessions.
enum Login {
    static let user = "bori@pets.test"
    static let password = "초코-2026"
    /// From `/login`. Refused by every page.
    static let expiredToken = "demo-access-expired-4f1c9a7e2b60d853"
    /// From `/refresh`. Accepted by every page.
    static let freshToken = "demo-access-fresh-a83e51d70c9f42b6"
    static let refreshToken = "demo-refresh-7d20b94c6e1f85a3"

    /// The answer to a form with `name` and `password`, or a JSON object with both.
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

    /// - Parameter authorization: the request's header field.
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
