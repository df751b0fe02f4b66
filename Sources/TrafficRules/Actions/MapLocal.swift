internal import CassetteModel
internal import CassettePlayback
internal import TapeBytes

/// Answers with a file, or with those of a folder by the rest of the path.
struct LocalMap: Sendable {
    /// As the rule writes it.
    let path: String
    let folder: RuleFolder
    private let names: [String]
    private let rest: URLRest

    init(_ node: RuleNode, condition: RuleCondition?, _ reader: RuleReader) throws(SettingSyntaxError) {
        self.path = try reader.text(node, "\"mapLocal\"")
        guard let folder = reader.folder else {
            throw reader.error(node.line, "\"mapLocal\" names a file, and these rules have no folder; use \"respond\"")
        }
        self.folder = RuleFolder(path: folder)
        self.names = try RuleFolder.components(self.path, line: node.line, reader)
        self.rest = URLRest(condition)
    }

    /// Reads the file. Waits for the disk.
    func answer(_ request: RequestFacts, rule: Int, ruleName: String, notes: inout [String]) -> LocalAnswer {
        func refused(_ status: Int, _ text: String, allow: String? = nil) -> LocalAnswer {
            notes.append(text)
            var headers = HeaderFields()
            headers.append(name: "Content-Type", value: "text/plain; charset=utf-8")
            if let allow { headers.append(name: "Allow", value: allow) }
            let body = Array("\(text) (rule \"\(ruleName)\")\n".utf8)
            return LocalAnswer(status: status, reason: StatusText.reason(status), headers: headers, body: body, rule: rule)
                .framed(method: request.method)
        }
        guard request.method == "GET" || request.method == "HEAD" else {
            let text =
                "mapLocal answers GET and HEAD, and this is \(RuleReader.shown(request.method)): add \"~m GET\" to when, or use \"respond\" with \"file\""
            return refused(405, text, allow: "GET, HEAD")
        }
        do throws(RuleFolder.Problem) {
            let (file, name) = try self.open(request.url)
            return self.answer(request, file, name, rule: rule)
                ?? refused(500, "\"\(name)\" cannot be read: it is longer than 16 MiB, or changed while it was read")
        } catch {
            let shown = RuleReader.shown(self.shownPath(request.url))
            switch error {
            case .outside:
                return refused(
                    404,
                    "a path with \"..\", or with slashes or control characters in a name, leads to no file in \"\(self.path)\": ask for a file in it"
                )
            case .missing: return refused(404, "there is no file \"\(shown)\": create it, or correct mapLocal")
            case .folder: return refused(404, "\"\(shown)\" is a folder without index.html: add it, or ask for a file in it")
            case .link:
                return refused(404, "\"\(shown)\" leads through a symbolic link, which rules do not follow: copy the file in its place")
            case .special, .tooLong, .unreadable: return refused(500, RuleFolder.text(error, shown))
            }
        }
    }

    private func shownPath(_ url: String) -> String {
        let rest = self.rest.of(url).flatMap(Self.restNames) ?? []
        return (self.names + rest).joined(separator: "/")
    }

    /// The file itself, or in a folder the one that the rest of the path names.
    private func open(_ url: String) throws(RuleFolder.Problem) -> (file: RuleFolder.File, name: String) {
        do throws(RuleFolder.Problem) {
            return (try self.folder.open(self.names), self.path)
        } catch {
            guard case .folder = error else { throw error }
        }
        guard let rest = self.rest.of(url) else { throw .missing }
        guard let names = Self.restNames(rest) else { throw .outside }
        let all = self.names + names
        do throws(RuleFolder.Problem) {
            return (try self.folder.open(all), all.joined(separator: "/"))
        } catch {
            guard case .folder = error else { throw error }
            let index = all + ["index.html"]
            do throws(RuleFolder.Problem) {
                return (try self.folder.open(index), index.joined(separator: "/"))
            } catch {
                if case .missing = error { throw .folder }
                throw error
            }
        }
    }

    /// The decoded names of a path's rest, without the query. Nil if one could lead out of the folder, encoded or not.
    static func restNames(_ rest: String) -> [String]? {
        let path = rest.prefix { $0 != "?" && $0 != "#" }
        var names: [String] = []
        for part in path.split(separator: "/") {
            // In a path, a plus is itself.
            let bytes = NamedItems.decoded(part.utf8.flatMap { $0 == UInt8(ascii: "+") ? Array("%2B".utf8) : [$0] })
            let name = String(decoding: bytes, as: UTF8.self)
            guard name.utf8.elementsEqual(bytes), RuleFolder.isName(name) else { return nil }
            names.append(name)
        }
        return names
    }

    private func answer(_ request: RequestFacts, _ file: RuleFolder.File, _ name: String, rule: Int) -> LocalAnswer? {
        var headers = HeaderFields()
        headers.append(name: "Content-Type", value: FileType.contentType(ofFile: name))
        headers.append(name: "Accept-Ranges", value: "bytes")
        var (status, range) = (200, 0..<file.size)
        if request.method == "GET", !request.headers.contains("if-range"), let field = request.headers.first("range"),
            let asked = RangeRequest(field)?.ranges(of: file.size)
        {
            if asked.isEmpty {
                headers.append(name: "Content-Range", value: "bytes */\(file.size)")
                return LocalAnswer(status: 416, reason: StatusText.reason(416), headers: headers, body: [], rule: rule).framed(
                    method: "GET")
            }
            // Several ranges may be answered with the whole (RFC 9110, 14.2).
            if asked.count == 1 {
                (status, range) = (206, asked[0])
                headers.append(name: "Content-Range", value: "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(file.size)")
            }
        }
        if request.method == "HEAD" {
            headers.append(name: "Content-Length", value: "\(file.size)")
            return LocalAnswer(status: status, reason: StatusText.reason(status), headers: headers, body: [], rule: rule)
        }
        guard range.count <= LocalAnswer.bodyLimit, let body = file.bytes(range) else { return nil }
        return LocalAnswer(status: status, reason: StatusText.reason(status), headers: headers, body: body, rule: rule)
            .framed(method: request.method)
    }
}

/// What of a URL stays when a rule maps it: the rest after the part that `~u` of the rule is about.
///
/// That part ends where the match of the regular expression ends. An expression that can match up to the end of any URL, since its end is `$`
/// or a repetition, gives its literal beginning instead. Without `~u`, the part is the origin.
struct URLRest: Sendable {
    private let condition: RuleCondition?

    init(_ condition: RuleCondition?) {
        self.condition = condition
    }

    /// The rest with its query; nil if the URL is not one.
    func of(_ url: String) -> String? { self.split(url)?.rest }

    /// The rest with its query, and whether a slash comes before it.
    func split(_ url: String) -> (rest: String, followsSlash: Bool)? {
        guard let parts = URLParts(url) else { return nil }
        guard let pattern = self.condition?.matchingURLPatterns(url).first, let match = pattern.firstRange(in: url) else {
            return (parts.path + (parts.query.map { "?" + $0 } ?? ""), false)
        }
        let bytes = Array(url.utf8)
        let end: Int
        if Self.isOpenEnded(pattern.source) {
            let literal = Self.literalBeginning(pattern.source)
            end = min(match.lowerBound + literal.utf8.count, match.upperBound)
        } else {
            end = match.upperBound
        }
        // Within the origin, the whole origin is what was meant.
        let start = parts.scheme.utf8.count + 3
        let origin = start + bytes[start...].prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }.count
        let split = max(origin, end)
        return (String(decoding: bytes[split...], as: UTF8.self), split > origin && bytes[split - 1] == UInt8(ascii: "/"))
    }

    /// Whether a pattern can match up to the end of a URL.
    static func isOpenEnded(_ source: String) -> Bool {
        var text = source[...]
        while let last = text.last, last == ")" || last == "?" && text.dropLast().last.map({ "*+)".contains($0) }) == true {
            text.removeLast()
        }
        guard let last = text.last, "$*+}".contains(last) else { return false }
        let slashes = text.dropLast().reversed().prefix { $0 == "\\" }.count
        return slashes % 2 == 0
    }

    /// The characters that every match begins with.
    static func literalBeginning(_ source: String) -> String {
        var literal = ""
        var rest = source[...]
        if rest.hasPrefix("(?"), let close = rest.firstIndex(of: ")"), rest[..<close].allSatisfy({ "(?ims".contains($0) }) {
            rest = rest[rest.index(after: close)...]
        }
        guard !rest.contains("|") else { return "" }
        if rest.first == "^" { rest.removeFirst() }
        while let character = rest.popFirst() {
            var next = character
            if character == "\\" {
                guard let escaped = rest.popFirst(), !escaped.isLetter, !escaped.isNumber else { return literal }
                next = escaped
            } else if ".[](){}^$|?*+".contains(character) {
                return literal
            }
            // A repetition is of the last character alone.
            if let after = rest.first, "?*{".contains(after) { return literal }
            literal.append(next)
            if rest.first == "+" { return literal }
        }
        return literal
    }
}
