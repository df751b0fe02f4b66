internal import CassetteModel
internal import CassettePlayback
internal import TapeBytes
internal import TrafficRules

/// Writes rules for requests like one that was seen.
struct ExchangeRule {
    enum Action: String, CaseIterable { case block, respond, fault, pace, pause, edit }

    /// An answer for `respond`.
    struct Answer {
        var status: Int
        var reason: String
        var headers: HeaderFields
        /// Without its content codings; nil if there is none.
        var body: [UInt8]?
    }

    let method: String
    let url: String

    // MARK: Rules

    /// A rule that gives exactly this answer from now on.
    func respond(_ answer: Answer, besides names: Set<String>) throws(PatternError) -> RuleNode {
        Self.node([
            ("name", Self.string(self.name("answer", besides: names))), ("when", Self.string(try self.condition())),
            ("respond", Self.respond(answer)),
        ])
    }

    /// The text of a rule as a proposal that people edit.
    func text(_ action: Action, answer: Answer?, besides names: Set<String>) throws(PatternError) -> String {
        let head = [
            ("name", Self.string(self.name(action.rawValue, besides: names))), ("when", Self.string(try self.condition())),
        ]
        let member: (String, RuleNode) =
            switch action {
            case .block: ("block", Self.text("403"))
            case .respond: ("respond", Self.respond(answer ?? Answer(status: 200, reason: "OK", headers: HeaderFields())))
            case .fault: ("fault", Self.node([("status", Self.text("503")), ("retryAfter", Self.text("1s")), ("first", Self.text("2"))]))
            case .pace: ("pace", Self.node([("latency", Self.text("500ms")), ("down", Self.text("1.5Mbit"))]))
            case .pause: ("pause", Self.text("both"))
            case .edit: ("response", Self.node([("set", Self.node([("header:x-edited", Self.text("yes"))]))]))
            }
        guard action == .respond, let answer else {
            return RuleNode(line: 1, content: .list([Self.node(head + [member])])).yaml()
        }
        return RuleNode(line: 1, content: .list([Self.node(head)])).yaml() + Self.blocks(answer, member.1)
    }

    // MARK: Conditions and names

    /// For the method and the URL, in which a placeholder stands for whatever was redacted.
    func condition() throws(PatternError) -> String {
        let url = "^" + Self.parts(self.url).map { $0.isSecret ? "[^&#]*" : Self.escaped($0.text) }.joined() + "$"
        return FilterExpression.and(
            .pattern(.method, try FilterPattern("^\(Self.escaped(self.method[...]))$")), .pattern(.url, try FilterPattern(url))
        ).description
    }

    private static func escaped(_ text: Substring) -> String {
        text.reduce(into: "") { pattern, character in
            if "\\^$.|?*+()[]{}".contains(character) { pattern.append("\\") }
            pattern.append(character)
        }
    }

    /// A URL in pieces: text, and placeholders such as `{{token:1}}`.
    private static func parts(_ url: String) -> [(text: Substring, isSecret: Bool)] {
        var parts: [(text: Substring, isSecret: Bool)] = []
        var rest = url[...]
        while let open = rest.firstRange(of: "{{"), let close = rest[open.upperBound...].firstRange(of: "}}") {
            let inner = rest[open.upperBound..<close.lowerBound]
            guard let colon = inner.lastIndex(of: ":"), !inner[inner.index(after: colon)...].isEmpty,
                inner[inner.index(after: colon)...].allSatisfy({ $0.isASCII && $0.isNumber })
            else {
                parts.append((rest[..<open.upperBound], false))
                rest = rest[open.upperBound...]
                continue
            }
            parts.append((rest[..<open.lowerBound], false))
            parts.append((rest[open.lowerBound..<close.upperBound], true))
            rest = rest[close.upperBound...]
        }
        return parts + [(rest, false)]
    }

    private static let nameLength = 60

    /// `answer GET /pets`, and a number if there is such a rule already.
    private func name(_ verb: String, besides names: Set<String>) -> String {
        let afterScheme = self.url.firstRange(of: "://").map { self.url[$0.upperBound...] } ?? self.url[...]
        let path = afterScheme.firstIndex(of: "/").map { afterScheme[$0...].prefix { $0 != "?" && $0 != "#" } } ?? "/"
        let plain = "\(verb) \(self.method.prefix(20)) \(path)".unicodeScalars.filter { (32..<127).contains($0.value) }
        let base = String(String.UnicodeScalarView(plain)).prefix(Self.nameLength)
        var name = String(base)
        var number = 2
        while names.contains(name) {
            name = "\(base) (\(number))"
            number += 1
        }
        return name
    }

    // MARK: Values

    private static func text(_ text: String) -> RuleNode { RuleNode(line: 1, content: .text(text)) }

    private static func string(_ text: String) -> RuleNode { RuleNode(line: 1, content: .text(text), isString: true) }

    private static func node(_ members: [(String, RuleNode)]) -> RuleNode {
        RuleNode(line: 1, content: .members(members.map { RuleNode.Member(name: $0.0, line: 1, value: $0.1) }))
    }

    private static func respond(_ answer: Answer) -> RuleNode {
        var members = [("status", self.text("\(answer.status)"))]
        if !answer.reason.isEmpty, answer.reason != StatusText.reason(answer.status) {
            members.append(("reason", self.string(answer.reason)))
        }
        let fields = self.fields(answer.headers)
        if !fields.isEmpty { members.append(("headers", self.node(fields))) }
        // RFC 9110, 6.4.1: nothing else can be sent.
        if let body = answer.body, !body.isEmpty, answer.status != 204, answer.status != 304 {
            members.append(("templates", self.text("false")))
            if let text = String(validating: body, as: UTF8.self), !text.utf8.contains(0) {
                members.append(("body", self.string(text)))
            } else {
                var coded: [UInt8] = []
                body.withUnsafeBytes { Base64.encode($0, into: &coded) }
                members.append(("base64", self.string(String(decoding: coded, as: UTF8.self))))
            }
        }
        return self.node(members)
    }

    /// Fields of one name together, in the order of their first ones. A value that is not UTF-8 cannot be written, and is left out.
    private static func fields(_ headers: HeaderFields) -> [(String, RuleNode)] {
        let headers = LocalAnswer.fields(of: headers)
        var names: [String] = []
        var values: [String: [RuleNode]] = [:]
        for index in 0..<headers.count {
            guard let value = String(validating: headers.valueBytes(at: index), as: UTF8.self) else { continue }
            let name = headers.name(at: index)
            // One name in two spellings is one field.
            let known = names.first { $0.lowercased() == name.lowercased() } ?? name
            if values[known] == nil { names.append(known) }
            values[known, default: []].append(self.string(value))
        }
        return names.map { name in
            let all = values[name] ?? []
            return (name, all.count == 1 ? all[0] : RuleNode(line: 1, content: .list(all)))
        }
    }

    // MARK: Texts for people

    /// `respond` with one line for each field, and the body as it is on lines of its own, if YAML can have it so.
    private static func blocks(_ answer: Answer, _ node: RuleNode) -> String {
        guard case .members(let members) = node.content else { return "" }
        var text = "  respond:\n"
        for member in members {
            let one = RuleNode(line: 1, content: .members([member]))
            if member.name == "headers" {
                text += "    headers:\n" + member.value.yaml(indent: 6)
            } else if member.name == "body", case .text(let body) = member.value.content, let lines = self.literal(body) {
                text += "    body: \(lines.mark)\n" + lines.text
            } else {
                text += one.yaml(indent: 4)
            }
        }
        return text
    }

    private static let margin = 6

    /// A text as a literal block of YAML, whose depth is written down, since a text may begin with spaces; nil if it has characters that
    /// YAML does not keep.
    private static func literal(_ text: String) -> (mark: String, text: String)? {
        let isKept = text.unicodeScalars.allSatisfy { scalar in
            scalar == "\n"
                || scalar.value >= 32 && !(0x7f...0x9f).contains(scalar.value)
                    && ![0x2028, 0x2029, 0xfeff].contains(scalar.value)
        }
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let endsLine = lines.last?.isEmpty == true
        if endsLine { lines.removeLast() }
        // Of several line ends at the end, YAML would keep one.
        guard isKept, let last = lines.last, !last.allSatisfy({ $0 == " " }), lines.count > 1 || text.utf8.count > 60 || text.contains("\"")
        else { return nil }
        let margin = String(repeating: " ", count: self.margin)
        let indented = lines.map { $0.isEmpty ? "\n" : "\(margin)\($0)\n" }.joined()
        return (endsLine ? "|2" : "|2-", indented)
    }
}
