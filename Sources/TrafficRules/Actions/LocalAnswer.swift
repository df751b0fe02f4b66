package import CassetteModel
internal import TapeBytes

/// An answer that a rule gives in place of the cassette or the origin.
package struct LocalAnswer: Sendable, Hashable {
    /// Bytes of a body that a rule holds or reads.
    package static let bodyLimit = 16 << 20

    package var status: Int
    package var reason: String
    /// With the length of the body.
    package var headers: HeaderFields
    package var body: [UInt8]
    /// The index of the rule.
    package var rule: Int
}

extension LocalAnswer {
    /// What somebody has written at a breakpoint.
    ///
    /// - Parameter rule: the index of the rule that paused the request.
    package init(_ content: PauseDesk.Content, rule: Int) {
        self.status = (200...599).contains(content.status) ? content.status : 200
        self.reason = content.reason.isEmpty ? StatusText.reason(self.status) : content.reason
        self.body = content.body ?? []
        self.headers = content.headers.removing("transfer-encoding").removing("content-length").removing("content-encoding")
        self.rule = rule
        if self.status != 204, self.status != 304 { self.headers.append(name: "Content-Length", value: "\(self.body.count)") }
    }
}

/// What a rule answers by itself.
struct RespondRule: Sendable {
    enum Content: Sendable {
        case nothing
        case json(JSONTemplate)
        case text(Template)
        case bytes([UInt8])
    }

    struct Field: Sendable {
        var name: String
        var value: Template
    }

    var status: Int
    var reason: String?
    var fields: [Field] = []
    var content: Content
    /// Of the content, unless a field names it.
    var type: String?

    static let names = ["status", "reason", "headers", "json", "body", "file", "base64", "templates"]
    private static let fieldLimit = 100

    init(_ node: RuleNode, _ reader: RuleReader) throws(SettingSyntaxError) {
        let members = try reader.members(node, of: "\"respond\"", known: Self.names)
        guard !members.list.isEmpty else { throw members.error("\"respond\" is empty; write for example { status: 200, body: hello }") }
        let hasTemplates = try members.flag("templates") ?? true
        self.status = try members.integer("status", 100...599) ?? 200
        guard self.status >= 200 else {
            throw members.error("status", "\"status\" is \(self.status), which is not a final answer; write one from 200 to 599")
        }
        if let reason = try members.text("reason") {
            self.reason = reason
            guard reason.utf8.allSatisfy({ $0 == 9 || $0 >= 32 && $0 != 127 }) else {
                throw members.error("reason", "\"reason\" has control characters; remove them")
            }
        }
        let contents = ["json", "body", "file", "base64"].filter(members.has)
        guard contents.count <= 1 else {
            throw members.error(contents[1], "\"respond\" has both \"\(contents[0])\" and \"\(contents[1])\": remove one of them")
        }
        if let name = contents.first, [204, 205, 304].contains(self.status) {
            throw members.error(name, "an answer \(self.status) has no body (RFC 9110, 6.4.1); remove \"\(name)\", or write another status")
        }
        (self.content, self.type) = try Self.content(contents.first, members, hasTemplates)
        if let node = members["headers"] { self.fields = try Self.fields(node, hasTemplates, reader) }
    }

    private static func content(
        _ name: String?, _ members: RuleMembers, _ hasTemplates: Bool
    ) throws(SettingSyntaxError) -> (Content, String?) {
        guard let name, let node = members[name] else { return (.nothing, nil) }
        let reader = members.reader
        switch name {
        case "json":
            let template = try JSONTemplate(node, hasTemplates: hasTemplates, reader)
            try self.check(template.size, node, reader)
            return (.json(template), "application/json")
        case "file":
            let path = try reader.text(node, "\"file\" of \"respond\"")
            let bytes = try RuleFolder.load(path, line: node.line, reader)
            return (.bytes(bytes), FileType.contentType(ofFile: path))
        case "base64":
            let text = try reader.text(node, "\"base64\" of \"respond\"").filter { !$0.isWhitespace }
            guard let bytes = Base64.decode(Array(text.utf8)) else {
                throw reader.error(node.line, "\"base64\" of \"respond\" is not base64 (RFC 4648, 4); correct it, or use \"file\"")
            }
            try self.check(bytes.count, node, reader)
            return (.bytes(bytes), "application/octet-stream")
        default:
            let text = try reader.text(node, "\"body\" of \"respond\"")
            try self.check(text.utf8.count, node, reader)
            guard hasTemplates else { return (.text(Template(plain: text)), "text/plain; charset=utf-8") }
            let parsed = Template.parse(text)
            guard let template = parsed.template else { throw reader.error(node.line, parsed.problem ?? "") }
            return (.text(template), "text/plain; charset=utf-8")
        }
    }

    private static func check(_ size: Int, _ node: RuleNode, _ reader: RuleReader) throws(SettingSyntaxError) {
        guard size <= LocalAnswer.bodyLimit else {
            throw reader.error(node.line, "the body of \"respond\" is longer than 16 MiB; use \"mapRemote\" to a server that has it")
        }
    }

    private static func fields(_ node: RuleNode, _ hasTemplates: Bool, _ reader: RuleReader) throws(SettingSyntaxError) -> [Field] {
        guard case .members(let members) = node.content else {
            throw reader.error(node.line, "\"headers\" of \"respond\" needs names and values, for example { content-type: text/html }")
        }
        var fields: [Field] = []
        for member in members {
            try HeaderEdit.check(name: member.name, line: member.line, reader)
            for (text, line) in try reader.texts(member.value, "\"\(RuleReader.shown(member.name))\"") {
                try HeaderEdit.check(value: text, line: line, reader)
                let parsed = hasTemplates ? Template.parse(text) : (Template(plain: text), nil)
                guard let template = parsed.template else { throw reader.error(line, parsed.problem ?? "") }
                fields.append(Field(name: member.name, value: template))
            }
        }
        guard fields.count <= self.fieldLimit else {
            throw reader.error(node.line, "\"headers\" of \"respond\" has more than \(self.fieldLimit) fields; remove some")
        }
        return fields
    }

    var needsBody: Bool {
        let content: Bool =
            switch self.content {
            case .json(let json): json.needsBody
            case .text(let template): template.needsBody
            case .nothing, .bytes: false
            }
        return content || self.fields.contains { $0.value.needsBody }
    }

    func answer(_ request: inout RequestView, rule: Int, notes: inout [String]) -> LocalAnswer {
        var body: [UInt8] =
            switch self.content {
            case .nothing: []
            case .json(let json): json.filled(from: &request, notes: &notes)
            case .text(let template): template.filled(from: &request, notes: &notes)
            case .bytes(let bytes): bytes
            }
        if body.count > LocalAnswer.bodyLimit {
            notes.append("the body is longer than 16 MiB with the values of the request: the answer has none")
            body = []
        }
        var headers = HeaderFields()
        for field in self.fields {
            let value = field.value.filled(from: &request, notes: &notes)
            guard HeaderEdit.isValue(value) else {
                notes.append("\(field.name) is left out: a value of the request has a line end or a control character in it")
                continue
            }
            headers.append(line: Array(field.name.utf8) + [UInt8(ascii: ":"), 32] + value)
        }
        if let type = self.type, !headers.contains("content-type") { headers.append(name: "Content-Type", value: type) }
        return LocalAnswer(
            status: self.status, reason: self.reason ?? StatusText.reason(self.status), headers: headers, body: body, rule: rule
        ).framed(method: request.facts.method)
    }
}

extension LocalAnswer {
    /// With the length of its body, and without the body if the answer has none (RFC 9110, 6.4.1).
    func framed(method: String) -> LocalAnswer {
        var answer = self
        if self.status == 204 || self.status == 304 {
            answer.body = []
            return answer
        }
        answer.headers.append(name: "Content-Length", value: "\(self.body.count)")
        if method == "HEAD" { answer.body = [] }
        return answer
    }
}

/// The words for statuses (RFC 9110, 15).
package enum StatusText {
    private static let reasons: [Int: String] = [
        200: "OK", 201: "Created", 202: "Accepted", 203: "Non-Authoritative Information", 204: "No Content", 205: "Reset Content",
        206: "Partial Content", 300: "Multiple Choices", 301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
        307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized", 402: "Payment Required",
        403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 406: "Not Acceptable", 407: "Proxy Authentication Required",
        408: "Request Timeout", 409: "Conflict", 410: "Gone", 411: "Length Required", 412: "Precondition Failed",
        413: "Content Too Large", 414: "URI Too Long", 415: "Unsupported Media Type", 416: "Range Not Satisfiable",
        417: "Expectation Failed", 421: "Misdirected Request", 422: "Unprocessable Content", 425: "Too Early", 426: "Upgrade Required",
        428: "Precondition Required", 429: "Too Many Requests", 431: "Request Header Fields Too Large",
        451: "Unavailable For Legal Reasons", 500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway",
        503: "Service Unavailable", 504: "Gateway Timeout", 505: "HTTP Version Not Supported",
    ]

    /// Empty for a status that has none.
    package static func reason(_ status: Int) -> String { self.reasons[status] ?? "" }
}
