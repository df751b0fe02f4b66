internal import LocalHTTP
internal import TapeBytes

/// The JSON object in a request's body.
struct InspectorOrder {
    var values: JSONValue

    init(values: JSONValue) { self.values = values }

    init(_ body: [UInt8]) throws(LocalAnswer) {
        do {
            let root = try JSONDocument(body).root
            guard root.kind == .object else { throw JSONSyntaxError(reason: "expected an object", offset: 0, line: 1) }
            self.values = root
        } catch {
            throw InspectorService.bad("json", "the body is not a JSON object: \(error)")
        }
    }

    func text(_ name: String) throws(LocalAnswer) -> String? {
        guard let value = self.values[name], value.kind != .null else { return nil }
        guard let text = value.string else { throw InspectorService.bad("json", "\"\(name)\" is not a string") }
        return text
    }

    /// Keys of rows; empty if there are none.
    func keys(_ name: String, of count: Int) throws(LocalAnswer) -> [Int] {
        guard let value = self.values[name], value.kind != .null else { return [] }
        let keys = value.kind == .array ? value.elements.map(\.int) : [nil]
        guard keys.allSatisfy({ $0.map { $0 >= 1 && $0 <= count } == true }) else {
            throw InspectorService.bad("json", "\"\(name)\" is not an array of keys of exchanges")
        }
        return keys.compactMap { $0 }
    }

    func texts(_ name: String) throws(LocalAnswer) -> [String] {
        guard let value = self.values[name], value.kind != .null else { return [] }
        let texts = value.kind == .array ? value.elements.map(\.string) : [nil]
        guard !texts.contains(nil) else { throw InspectorService.bad("json", "\"\(name)\" is not an array of strings") }
        return texts.compactMap { $0 }
    }
}

extension InspectorService {
    static var unknown: LocalAnswer {
        LocalAnswer(status: 404, reason: "Not Found", code: "not-found", message: "there is nothing at that path: see docs/inspector.md.")
    }

    static func refusal(_ code: String, _ message: String) -> LocalAnswer {
        LocalAnswer(status: 400, reason: "Bad Request", code: code, message: message)
    }

    static func bad(_ code: String, _ message: String) -> LocalAnswer {
        LocalAnswer(status: 400, reason: "Bad Request", code: code, message: "\(message).")
    }

    static func json(_ bytes: [UInt8]) -> LocalAnswer { LocalAnswer(status: 200, reason: "OK", body: bytes) }

    static var stale: LocalAnswer {
        LocalAnswer(
            status: 412, reason: "Precondition Failed", code: "epoch",
            message: "the cassette was replaced by another file: load it again, then repeat this.")
    }
}
