internal import CassettePlayback
internal import TapeBytes

/// One edit of a message, as a rule writes it.
struct EditStep: Sendable {
    enum Place: Sendable, Hashable {
        case method, url, status, reason
        /// The path and the query of the URL.
        case path, query
        case queryItem(String)
        /// As it is spelled in the rule.
        case header(String)
        case body
        /// In the decoded body.
        case content(MatchPlace)
    }

    enum Operation: Sendable {
        case set(Value)
        case remove
        case replace(Replacement)
    }

    /// A value as text, and as JSON for places in JSON.
    struct Value: Sendable {
        var text: [UInt8]
        var json: [UInt8]
    }

    var place: Place
    /// For notes.
    var name: String
    var operation: Operation
    /// The index of the rule.
    var rule = 0

    /// Whether the edit is in the body.
    var isInBody: Bool {
        switch self.place {
        case .body, .content: true
        case .method, .url, .status, .reason, .path, .query, .queryItem, .header: false
        }
    }

    enum Side: String { case request, response }

    private static let limit = 200
    static func names(_ side: Side) -> [String] { ["set", "remove", "replace"] + self.shortNames(side) }

    /// Places that may be written without `set`.
    private static func shortNames(_ side: Side) -> [String] {
        side == .request ? ["method", "url", "body"] : ["status", "reason", "body"]
    }

    /// Reads `request:` or `response:` of a rule.
    static func read(_ node: RuleNode, _ side: Side, _ reader: RuleReader) throws(SettingSyntaxError) -> [EditStep] {
        let what = "\"\(side.rawValue)\""
        let members = try reader.members(node, of: what, known: self.names(side))
        guard !members.list.isEmpty else {
            throw members.error("\(what) is empty; write for example { set: { \"header:x-env\": test } }")
        }
        var steps: [EditStep] = []
        for name in self.shortNames(side) {
            guard let value = members[name] else { continue }
            steps.append(try self.setting(name, value, line: members.list.first { $0.name == name }?.line ?? node.line, side, reader))
        }
        if let set = members["set"] {
            guard case .members(let list) = set.content else {
                throw reader.error(set.line, "\"set\" of \(what) needs places and values, for example { \"header:x-env\": test }")
            }
            for member in list { steps.append(try self.setting(member.name, member.value, line: member.line, side, reader)) }
        }
        if let remove = members["remove"] {
            for (text, line) in try reader.texts(remove, "\"remove\" of \(what)") {
                steps.append(try self.removing(text, line, side, reader))
            }
        }
        if let replace = members["replace"] {
            let nodes: [RuleNode]
            if case .list(let list) = replace.content { nodes = list } else { nodes = [replace] }
            for node in nodes { steps.append(try self.replacing(node, side, reader)) }
        }
        guard !steps.isEmpty, steps.count <= self.limit else {
            throw members.error("\(what) needs from 1 to \(self.limit) edits; write some, or divide the rule")
        }
        return steps
    }

    // MARK: Places

    private static func place(_ text: String, _ line: Int, _ side: Side, _ reader: RuleReader) throws(SettingSyntaxError) -> Place {
        let shown = RuleReader.shown(text)
        func only(_ other: Side, _ place: Place) throws(SettingSyntaxError) -> Place {
            guard side == other else {
                throw reader.error(
                    line, "\"\(shown)\" is of the \(other.rawValue), and this edits the \(side.rawValue): write it in \"\(other.rawValue)\""
                )
            }
            return place
        }
        switch text {
        case "status": return try only(.response, .status)
        case "reason": return try only(.response, .reason)
        case "url": return try only(.request, .url)
        default: break
        }
        let place: MatchPlace
        do {
            place = try MatchPlace(text)
        } catch {
            // Comparison has other places.
            guard !MatchPlace.isKnown(text) else { throw reader.error(line, error.message) }
            throw reader.error(line, "\"\(shown)\" is not a place in the \(side.rawValue); write \(self.places(side))")
        }
        switch place {
        case .method: return try only(.request, .method)
        case .path: return try only(.request, .path)
        case .query: return try only(.request, .query)
        case .queryItem(let name): return try only(.request, .queryItem(name))
        case .scheme, .host, .port:
            throw reader.error(line, "\"\(shown)\" says where a request goes: use \"mapRemote\" in a rule of its own")
        case .header:
            let name = String(text.dropFirst("header:".count))
            try HeaderEdit.check(name: name, line: line, reader)
            return .header(name)
        case .body: return .body
        case .json, .xml, .formField, .part, .partFilename: return .content(place)
        case .grpc: throw self.refusedGRPC(shown, line, reader)
        case .within(_, let inner):
            var innermost = inner
            while case .within(_, let next) = innermost { innermost = next }
            switch innermost {
            case .grpc: throw self.refusedGRPC(shown, line, reader)
            case .header: throw reader.error(line, "\"\(shown)\" cannot be edited: edit the content of the part, or its \"filename:\"")
            case .method, .scheme, .host, .port, .path, .query, .queryItem, .body, .json, .xml, .formField, .part, .within, .partFilename:
                return .content(place)
            }
        }
    }

    /// The places that edits of a side have, for errors.
    private static func places(_ side: Side) -> String {
        let own = side == .request ? "method, url, path, query, query:NAME" : "status, reason"
        return "\(own), header:NAME, body, json:/POINTER, form:NAME, xml:/PATH, part:NAME or filename:NAME"
    }

    private static func refusedGRPC(_ shown: String, _ line: Int, _ reader: RuleReader) -> SettingSyntaxError {
        reader.error(
            line, "\"\(shown)\": fields of gRPC messages cannot be edited; use a fault with \"grpc\", or \"mapRemote\" to a server")
    }

    // MARK: Operations

    private static func setting(
        _ text: String, _ node: RuleNode, line: Int, _ side: Side, _ reader: RuleReader
    ) throws(SettingSyntaxError) -> EditStep {
        let place = try self.place(text, line, side, reader)
        let value = try self.value(node, for: place, text, reader)
        let written = String(decoding: value.text, as: UTF8.self)
        switch place {
        case .status:
            guard let status = Int(written), written.utf8.count == 3, (200...599).contains(status) else {
                throw reader.error(node.line, "\"status\" is \"\(RuleReader.shown(written))\"; write a whole number from 200 to 599")
            }
        case .method:
            guard !value.text.isEmpty, value.text.allSatisfy({ 65...90 ~= $0 || $0 == 45 }), written != "CONNECT" else {
                throw reader.error(node.line, "\"method\" is \"\(RuleReader.shown(written))\"; write one in capitals, for example POST")
            }
            guard written != "HEAD" else {
                throw reader.error(node.line, "\"method\" is \"HEAD\", whose answers have no body; write another one, for example GET")
            }
        case .url:
            guard let parts = URLParts(written), ["http", "https"].contains(parts.scheme), !parts.authority.isEmpty, !written.contains("#"),
                value.text.allSatisfy({ $0 > 32 && $0 < 127 })
            else {
                throw reader.error(
                    node.line,
                    "\"url\" is \"\(RuleReader.shown(written))\"; write an absolute URL with http or https and without a fragment")
            }
        case .path:
            guard written.hasPrefix("/"), value.text.allSatisfy({ $0 > 32 && $0 < 127 && $0 != 35 && $0 != 63 }) else {
                throw reader.error(
                    node.line, "\"path\" is \"\(RuleReader.shown(written))\"; write it percent-encoded, with a slash at its beginning")
            }
        case .query:
            guard value.text.allSatisfy({ $0 > 32 && $0 < 127 && $0 != 35 }) else {
                throw reader.error(node.line, "\"query\" is \"\(RuleReader.shown(written))\"; write it percent-encoded")
            }
        case .reason, .header: try HeaderEdit.check(value: written, line: node.line, reader)
        case .queryItem, .body, .content: break
        }
        return EditStep(place: place, name: text, operation: .set(value))
    }

    /// A text, a file, or for a place in JSON any value.
    private static func value(
        _ node: RuleNode, for place: Place, _ name: String, _ reader: RuleReader
    ) throws(SettingSyntaxError) -> Value {
        var isJSON = false
        if case .content(let match) = place {
            var innermost = match
            while case .within(_, let inner) = innermost { innermost = inner }
            if case .json = innermost { isJSON = true }
        }
        if isJSON {
            let template = try JSONTemplate(node, hasTemplates: false, reader)
            var nobody = RequestView(RequestFacts(method: "GET", url: ""))
            var notes: [String] = []
            let json = template.filled(from: &nobody, notes: &notes)
            guard json.count <= LocalAnswer.bodyLimit else { throw reader.error(node.line, "the value is longer than 16 MiB; shorten it") }
            return Value(text: json, json: json)
        }
        if case .members = node.content {
            let members = try reader.members(node, of: "\"\(RuleReader.shown(name))\"", known: ["file"])
            guard let path = try members.text("file") else { throw members.error("the value needs a text, or a file: { file: PATH }") }
            let bytes = try RuleFolder.load(path, line: node.line, reader)
            return Value(text: bytes, json: bytes)
        }
        let text: String
        if case .nothing = node.content { text = "" } else { text = try reader.text(node, "\"\(RuleReader.shown(name))\"") }
        return Value(text: Array(text.utf8), json: Array(text.utf8))
    }

    private static func removing(_ text: String, _ line: Int, _ side: Side, _ reader: RuleReader) throws(SettingSyntaxError) -> EditStep {
        let place = try self.place(text, line, side, reader)
        let shown = RuleReader.shown(text)
        switch place {
        case .method, .url, .status, .reason, .path:
            throw reader.error(line, "\"\(shown)\" cannot be removed; set it, or replace something in it")
        case .content(let match):
            var innermost = match
            while case .within(_, let inner) = innermost { innermost = inner }
            switch innermost {
            case .xml, .partFilename: throw reader.error(line, "\"\(shown)\" cannot be removed; set it, or replace something in it")
            case .json(let pointer) where pointer.segments.isEmpty:
                throw reader.error(line, "\"\(shown)\" is the whole body; remove \"body\"")
            case .method, .scheme, .host, .port, .path, .query, .queryItem, .header, .body, .json, .grpc, .formField, .part, .within: break
            }
        case .query, .queryItem, .header, .body: break
        }
        return EditStep(place: place, name: text, operation: .remove)
    }

    private static func replacing(_ node: RuleNode, _ side: Side, _ reader: RuleReader) throws(SettingSyntaxError) -> EditStep {
        let members = try reader.members(node, of: "\"replace\"", known: ["in", "match", "with"])
        guard let place = try members.text("in"), let match = try members.text("match"), let with = try members.text("with") else {
            throw members.error(
                "\"replace\" needs \"in\", \"match\" and \"with\", for example { in: body, match: \"prod\", with: \"test\" }")
        }
        let line = members["in"]?.line ?? node.line
        let found = try self.place(place, line, side, reader)
        if case .status = found { throw reader.error(line, "\"status\" is a number, so nothing is replaced in it; set it") }
        if case .content(.partFilename) = found {
            throw reader.error(line, "\"\(RuleReader.shown(place))\" can be set, not replaced in; set it")
        }
        return EditStep(place: found, name: place, operation: .replace(try Replacement(match, with, members)))
    }
}

/// A regular expression and what takes the place of its matches, in which `$1` is the first group of a match and `$0` all of it.
struct Replacement: Sendable {
    private enum Piece: Sendable {
        case text([UInt8])
        case group(Int)
    }

    /// More matches in one value are left as they are.
    private static let matchLimit = 100_000

    private let pattern: CapturingPattern
    private let pieces: [Piece]

    init(_ match: String, _ with: String, _ members: RuleMembers) throws(SettingSyntaxError) {
        do {
            self.pattern = try CapturingPattern(match)
        } catch {
            throw members.error("match", error.message)
        }
        var pieces: [Piece] = []
        var text: [UInt8] = []
        var rest = Array(with.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "$") else {
                text.append(byte)
                continue
            }
            if rest.first == UInt8(ascii: "$") {
                rest.removeFirst()
                text.append(byte)
                continue
            }
            guard let digit = rest.first, 48...57 ~= digit else {
                throw members.error(
                    "with", "\"with\" has a \"$\" without a digit after it; write $1 for the first group, or $$ for the character")
            }
            rest.removeFirst()
            let group = Int(digit) - 48
            guard group <= self.pattern.groupCount else {
                throw members.error(
                    "with",
                    "\"with\" names the group $\(group), and \"match\" has \(self.pattern.groupCount); write ( ) around what it is for")
            }
            pieces += [.text(text), .group(group)]
            text = []
        }
        self.pieces = pieces + [.text(text)]
    }

    /// The text with every match replaced; nil if there is none, or the result would be longer than the limit.
    func replaced(in text: [UInt8], limit: Int) -> [UInt8]? {
        text.withUnsafeBytes { bytes in
            var result: [UInt8] = []
            var (copied, from, count) = (0, 0, 0)
            while let match = self.pattern.pattern.firstRange(in: bytes, from: from) {
                count += 1
                // All of them or none: half of the replacements would be a text that nobody has asked for.
                guard count <= Self.matchLimit else { return nil }
                result += bytes[copied..<match.lowerBound]
                let groups = self.pattern.groups(of: match, in: bytes)
                for piece in self.pieces {
                    switch piece {
                    case .text(let text): result += text
                    case .group(let group): if let range = groups[group] { result += bytes[range] }
                    }
                }
                guard result.count <= limit else { return nil }
                copied = match.upperBound
                from = match.isEmpty ? match.upperBound + 1 : match.upperBound
            }
            guard count > 0 else { return nil }
            result += bytes[copied...]
            return result.count <= limit ? result : nil
        }
    }
}
