internal import NIOHTTP1

/// The pets as a resource: one is created, read, replaced and deleted with JSON.
///
/// Remembers nothing: what is created is answered as if it were kept, so that answers do not depend on the order of requests.
enum PetPages {
    /// What a new pet is given.
    static let nextID = 4

    /// To `POST /pets` with JSON.
    static func create(body: [UInt8]) -> Answer {
        guard let members = self.members(body) else { return self.refusal }
        let rest = members.isEmpty ? "" : ", \(members)"
        return Answer(.created, json: "{\"id\": \(self.nextID)\(rest)}\n", headers: ["Location": "/pets/\(self.nextID)"])
    }

    /// To requests for `/pets/ID`.
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

    /// What stands between the braces of a JSON object, which is not looked into; nil for anything else.
    private static func members(_ body: [UInt8]) -> String? {
        func isSpace(_ octet: UInt8) -> Bool { [9, 10, 13, 32].contains(octet) }
        let text = body.drop(while: isSpace)
        guard let last = text.lastIndex(where: { !isSpace($0) }), last > text.startIndex else { return nil }
        guard text.first == UInt8(ascii: "{"), text[last] == UInt8(ascii: "}") else { return nil }
        let inner = String(decoding: text[(text.startIndex + 1)..<last], as: UTF8.self)
        return inner.allSatisfy(\.isWhitespace) ? "" : inner
    }
}
