package import CassetteModel
internal import CassettePlayback
internal import CassetteRedaction
internal import TapeBytes

/// The beginning of a request while it is edited.
package struct RequestHeadFacts: Sendable, Hashable {
    package var method: String
    /// Absolute.
    package var url: String
    package var headers: HeaderFields

    package init(method: String, url: String, headers: HeaderFields) {
        self.method = method
        self.url = url
        self.headers = headers
    }
}

/// The beginning of an answer while it is edited.
package struct ResponseHeadFacts: Sendable, Hashable {
    package var status: Int
    package var reason: String
    package var headers: HeaderFields

    package init(status: Int, reason: String, headers: HeaderFields) {
        self.status = status
        self.reason = reason
        self.headers = headers
    }
}

/// What was met while a message was edited, for the report.
package struct EditNote: Sendable, Hashable {
    /// The index of the rule.
    package var rule: Int
    package var text: String
}

/// The edits of a message by all rules that apply, in their order.
package struct MessageEdit: Sendable {
    var steps: [EditStep]

    /// Whether the body has to be there as a whole. Edits of the head alone let it pass.
    package var editsBody: Bool { self.steps.contains(where: \.isInBody) }

    /// Whether there is an edit of the head.
    package var editsHead: Bool { self.steps.contains { !$0.isInBody } }

    // MARK: Heads

    package func apply(to head: inout RequestHeadFacts) -> [EditNote] {
        var notes: [EditNote] = []
        for step in self.steps where !step.isInBody {
            if let reason = Self.apply(step, to: &head) { notes.append(EditNote(rule: step.rule, text: "\(step.name): \(reason)")) }
        }
        return notes
    }

    package func apply(to head: inout ResponseHeadFacts) -> [EditNote] {
        var notes: [EditNote] = []
        for step in self.steps where !step.isInBody {
            if let reason = Self.apply(step, to: &head) { notes.append(EditNote(rule: step.rule, text: "\(step.name): \(reason)")) }
        }
        return notes
    }

    /// Edits a whole request: the body by the fields that describe it, and then the head.
    package func apply(to head: inout RequestHeadFacts, body: [UInt8]) -> (body: [UInt8], notes: [EditNote]) {
        let (edited, notes) = self.applyBody(body, headers: &head.headers)
        return (edited, notes + self.apply(to: &head))
    }

    /// Edits a whole answer: the body by the fields that describe it, and then the head.
    package func apply(to head: inout ResponseHeadFacts, body: [UInt8]) -> (body: [UInt8], notes: [EditNote]) {
        let (edited, notes) = self.applyBody(body, headers: &head.headers)
        return (edited, notes + self.apply(to: &head))
    }

    private static let isAbsent = "it is not there, so nothing is changed"
    private static let hasNoMatch = "nothing in it matches, or too much for one edit, so nothing is changed"
    private static let headLimit = 64 << 10

    /// Why nothing was changed; nil if something was.
    private static func apply(_ step: EditStep, to head: inout RequestHeadFacts) -> String? {
        switch step.place {
        case .header(let name): return self.edit(name, step.operation, &head.headers)
        case .method:
            return self.edit(step.operation, head.method) { value in
                guard !value.isEmpty, value.utf8.allSatisfy({ 65...90 ~= $0 || $0 == 45 }), value != "CONNECT" else {
                    return "the result is no method"
                }
                guard (value == "HEAD") == (head.method == "HEAD") else {
                    return "an answer to HEAD has no body, so the method is not changed to it or from it"
                }
                head.method = value
                return nil
            }
        case .url:
            return self.edit(step.operation, head.url) { value in
                guard let parts = URLParts(value), ["http", "https"].contains(parts.scheme.lowercased()), !parts.authority.isEmpty,
                    value.utf8.allSatisfy({ $0 > 32 && $0 < 127 && $0 != 35 })
                else { return "the result is no absolute URL with http or https" }
                head.url = value
                return nil
            }
        case .path:
            guard var parts = URLParts(head.url) else { return self.isAbsent }
            return self.edit(step.operation, parts.path) { value in
                guard value.hasPrefix("/"), value.utf8.allSatisfy({ $0 > 32 && $0 < 127 && $0 != 35 && $0 != 63 }) else {
                    return "the result is no path"
                }
                parts.path = value
                head.url = parts.text
                return nil
            }
        case .query:
            guard var parts = URLParts(head.url) else { return self.isAbsent }
            if case .remove = step.operation {
                guard parts.query != nil else { return self.isAbsent }
                parts.query = nil
                head.url = parts.text
                return nil
            }
            return self.edit(step.operation, parts.query ?? "") { value in
                guard value.utf8.allSatisfy({ $0 > 32 && $0 < 127 && $0 != 35 }) else { return "the result is no query" }
                parts.query = value
                head.url = parts.text
                return nil
            }
        case .queryItem(let name):
            guard var parts = URLParts(head.url) else { return self.isAbsent }
            var items = NamedItems(Array((parts.query ?? "").utf8))
            if let reason = ContentEditor.edit(&items, name, step.operation) { return reason }
            let query = String(decoding: items.bytes, as: UTF8.self)
            parts.query = query.isEmpty ? nil : query
            if parts.path.isEmpty { parts.path = "/" }
            head.url = parts.text
            return nil
        case .status, .reason, .body, .content: return nil
        }
    }

    private static func apply(_ step: EditStep, to head: inout ResponseHeadFacts) -> String? {
        switch step.place {
        case .header(let name): return self.edit(name, step.operation, &head.headers)
        case .status:
            return self.edit(step.operation, "\(head.status)") { value in
                guard let status = Int(value) else { return "the result is no status" }
                if status != head.status { head.reason = StatusText.reason(status) }
                head.status = status
                return nil
            }
        case .reason:
            return self.edit(step.operation, head.reason) { value in
                guard HeaderEdit.isValue(Array(value.utf8)) else { return "the result has control characters" }
                head.reason = value
                return nil
            }
        case .method, .url, .path, .query, .queryItem, .body, .content: return nil
        }
    }

    private static func edit(_ operation: EditStep.Operation, _ old: String, _ store: (String) -> String?) -> String? {
        switch operation {
        case .set(let value): return store(String(decoding: value.text, as: UTF8.self))
        case .remove: return self.isAbsent
        case .replace(let replacement):
            guard let new = replacement.replaced(in: Array(old.utf8), limit: self.headLimit) else { return self.hasNoMatch }
            return store(String(decoding: new, as: UTF8.self))
        }
    }

    private static func edit(_ name: String, _ operation: EditStep.Operation, _ fields: inout HeaderFields) -> String? {
        switch operation {
        case .set(let value): HeaderEdit.set(name, to: value.text, in: &fields)
        case .remove: return HeaderEdit.remove(name, from: &fields) ? nil : self.isAbsent
        case .replace(let replacement):
            let indices = HeaderEdit.indices(name, in: fields)
            guard !indices.isEmpty else { return self.isAbsent }
            var edited = HeaderFields()
            var reason: String? = self.hasNoMatch
            for index in 0..<fields.count {
                guard indices.contains(index),
                    let new = replacement.replaced(in: Array(fields.valueBytes(at: index)), limit: self.headLimit)
                else {
                    edited.append(line: fields.line(at: index))
                    continue
                }
                // RFC 9110, 5.5: nothing else can be sent.
                guard HeaderEdit.isValue(new) else {
                    return "the result has a line end or a control character in it, so nothing is changed"
                }
                reason = nil
                edited.append(line: Array(fields.nameBytes(at: index)) + [UInt8(ascii: ":"), 32] + new)
            }
            if let reason { return reason }
            fields = edited
        }
        return nil
    }

    // MARK: Bodies

    /// Edits a body: removes its content codings, edits the content, and codes it again as it was. Makes lengths and digests in the fields fit.
    ///
    /// A body that cannot be decoded or edited stays as it is, and has a note.
    ///
    /// - Parameters:
    ///   - coded: the body as sent, without its transfer coding.
    ///   - headers: those that came with the body: edits of the head come after this.
    package func applyBody(_ coded: [UInt8], headers: inout HeaderFields) -> (body: [UInt8], notes: [EditNote]) {
        let steps = self.steps.filter(\.isInBody)
        guard let first = steps.first else { return (coded, []) }
        func unchanged(_ reason: String) -> (body: [UInt8], notes: [EditNote]) {
            (coded, Self.rules(of: steps).map { EditNote(rule: $0, text: "the body is not edited: \(reason)") })
        }
        if GRPCType(headers) != nil { return unchanged("its messages are of gRPC, whose fields cannot be edited") }
        var body: CodedBody
        do throws(CodedBody.Problem) {
            body = try CodedBody(coded, headers)
        } catch {
            return unchanged(error.reason)
        }
        let old = body.content
        var notes: [EditNote] = []
        for step in steps {
            if let reason = ContentEditor.apply(step, to: &body.content, headers) {
                notes.append(EditNote(rule: step.rule, text: "\(step.name): \(reason)"))
            }
        }
        guard body.content != old else { return (coded, notes) }
        guard let wire = body.wire else { return unchanged("it cannot be coded again") }
        var words: [String] = []
        let fields = FieldsOfBody { PortableSHA256() }
        fields.mend(
            &headers, growth: wire.count - coded.count, old: { fields.checksum($0, of: coded) }, new: { fields.checksum($0, of: wire) },
            content: (old, body.content), notes: &words)
        notes += words.map { EditNote(rule: first.rule, text: $0.replacing("the redacted body", with: "the edited body")) }
        return (wire, notes)
    }

    /// A body without its content codings; nil if they cannot be removed.
    ///
    /// - Parameter limit: bytes of the content; nil is returned for a longer one.
    package static func content(of wire: [UInt8], headers: HeaderFields, limit: Int) -> [UInt8]? {
        (try? CodedBody(wire, headers, limit: limit))?.content
    }

    /// A new body with the content codings of the old one. Makes digests in the fields fit, but not the length.
    ///
    /// A body that cannot be coded as the old one is sent without codings.
    ///
    /// - Parameter headers: those of the new message.
    package static func recoded(_ old: [UInt8], to content: [UInt8], headers: inout HeaderFields) -> [UInt8] {
        guard var body = try? CodedBody(old, headers) else {
            headers = headers.removing("content-encoding")
            return content
        }
        let oldContent = body.content
        body.content = content
        guard let wire = body.wire else {
            headers = headers.removing("content-encoding")
            return content
        }
        var notes: [String] = []
        let fields = FieldsOfBody { PortableSHA256() }
        fields.mend(
            &headers, growth: wire.count - old.count, old: { fields.checksum($0, of: old) }, new: { fields.checksum($0, of: wire) },
            content: (oldContent, content), notes: &notes)
        return wire
    }

    private static func rules(of steps: [EditStep]) -> [Int] {
        var rules: [Int] = []
        for step in steps where !rules.contains(step.rule) { rules.append(step.rule) }
        return rules
    }

    /// Edits one event of a stream, or one message of a WebSocket: what of the edits is in bodies.
    package func applyMessage(_ content: [UInt8]) -> (content: [UInt8], notes: [EditNote]) {
        var edited = content
        var notes: [EditNote] = []
        for step in self.steps where step.isInBody {
            if let reason = ContentEditor.apply(step, to: &edited, HeaderFields()) {
                notes.append(EditNote(rule: step.rule, text: "\(step.name): \(reason)"))
            }
        }
        return (edited, notes)
    }
}
