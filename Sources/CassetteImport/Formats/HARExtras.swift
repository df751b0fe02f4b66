internal import CassetteFormat
internal import CassetteModel
internal import TapeBytes

/// What archives contain in addition to their messages and a cassette has no member for. An export writes it again.
///
/// Keeps texts as they are; the recorder redacts them as it redacts messages.
struct HARExtras {
    private let context: ImportContext

    init(_ context: ImportContext) { self.context = context }

    // MARK: Of an entry

    /// The standard members of an entry that no member of an interaction represents; nil if there are none.
    func member(of entry: SourceValue, _ exchange: ImportedExchange) -> UnknownMember? {
        var kept: [SourceValue.Member] = []
        for name in ["pageref", "comment"] { kept.append(name, Self.text(entry[name])) }
        if let cache = entry["cache"], cache.members?.contains(where: { !$0.value.isNothing }) == true { kept.append("cache", cache) }
        if let connection = entry["connection"], connection.string != exchange.connection.map({ String($0.id) }) {
            kept.append("connection", connection)
        }
        if let time = entry["time"], let total = time.double, abs(total - Self.sum(exchange.timing)) > 0.0005 { kept.append("time", time) }
        if let request = entry["request"] {
            kept.append(
                "request", self.members(of: request, version: HARWriter.version(exchange.request.version)) { self.post(request, exchange) })
        }
        if let response = entry["response"] {
            let version = exchange.response.map { HARWriter.version($0.version) } ?? ""
            kept.append("response", self.members(of: response, version: version) { self.answer(response, exchange) })
        }
        kept.append("timings", Self.timings(entry["timings"]))
        return Self.member(kept, line: entry.line)
    }

    /// The extra members of a message; nil if there are none.
    ///
    /// - Parameters:
    ///   - version: the version as an export writes it.
    ///   - more: returns the members that only this kind of message has.
    private func members(of value: SourceValue, version: String, _ more: () -> [SourceValue.Member]) -> SourceValue? {
        var kept: [SourceValue.Member] = []
        kept.append("httpVersion", value["httpVersion"].flatMap { $0.string == version ? nil : $0 })
        for name in ["headersSize", "bodySize"] { kept.append(name, Self.number(value[name])) }
        kept += more()
        kept.append("comment", Self.text(value["comment"]))
        for name in ["headers", "cookies", "queryString"] { self.loseComments(of: value[name]) }
        return Self.members(kept, line: value.line)
    }

    private func post(_ request: SourceValue, _ exchange: ImportedExchange) -> [SourceValue.Member] {
        guard let post = request["postData"] else { return [] }
        self.loseComments(of: post["params"])
        // Some tools write an empty one for a request without a body.
        guard exchange.requestBody != nil else { return [.init(name: "postData", value: post)] }
        guard let comment = Self.text(post["comment"]) else { return [] }
        return [.init(name: "postData", value: SourceValue(line: post.line, content: .members([.init(name: "comment", value: comment)])))]
    }

    private func answer(_ response: SourceValue, _ exchange: ImportedExchange) -> [SourceValue.Member] {
        var kept: [SourceValue.Member] = []
        let reason = String(decoding: exchange.response?.reason ?? [], as: UTF8.self)
        kept.append("statusText", Self.text(response["statusText"]).flatMap { $0.string == reason ? nil : $0 })
        kept.append("compression", Self.number(response["content"]?["compression"]))
        if let target = response["redirectURL"], target.string != exchange.response?.headers.first("location") ?? "" {
            kept.append("redirectURL", target)
        }
        guard let content = response["content"] else { return kept }
        var said: [SourceValue.Member] = []
        if let size = content["size"]?.int, size != exchange.responseBody?.bytes.count ?? 0 {
            said.append("size", Self.number(content["size"]))
        }
        if let type = content["mimeType"], type.string != exchange.response?.headers.first("content-type") ?? "x-unknown" {
            said.append("mimeType", type)
        }
        said.append("comment", Self.text(content["comment"]))
        kept.append("content", Self.members(said, line: content.line))
        return kept
    }

    /// What cannot be derived from a cassette's phases; for example, some tools do not include TLS in `connect`.
    private static func timings(_ timings: SourceValue?) -> SourceValue? {
        guard let timings else { return nil }
        var kept: [SourceValue.Member] = []
        if let tls = timings["ssl"]?.double, tls >= 0, timings["connect"]?.double ?? -1 < tls { kept.append("connect", timings["connect"]) }
        // Some tools write negative numbers for phases that did not happen.
        for name in ["send", "wait", "receive"] {
            if let time = timings[name], let value = time.double, value < 0 { kept.append(name, time) }
        }
        kept.append("comment", Self.text(timings["comment"]))
        return Self.members(kept, line: timings.line)
    }

    private static func sum(_ timing: Timing) -> Double {
        let phases = [timing.blocked, timing.dns, timing.connect, timing.tls, timing.send, timing.wait, timing.receive]
        return phases.reduce(0) { $0 + ($1 ?? 0) }
    }

    /// Comments on a single field or pair have no place in a cassette.
    private func loseComments(of list: SourceValue?) {
        for item in list?.list ?? [] where Self.text(item["comment"]) != nil { self.context.lose(.comment, at: item) }
    }

    /// Nil if the value is not a number.
    private static func number(_ value: SourceValue?) -> SourceValue? {
        value?.int.map { SourceValue(line: value?.line ?? 1, content: .word(Array(String($0).utf8))) }
    }

    /// Nil if there are none.
    private static func members(_ members: [SourceValue.Member], line: Int) -> SourceValue? {
        members.isEmpty ? nil : SourceValue(line: line, content: .members(members))
    }

    /// Nil if it is empty.
    private static func text(_ value: SourceValue?) -> SourceValue? { value?.data?.isEmpty == false ? value : nil }

    // MARK: Of all entries

    static let names = ["pages", "browser", "comment"]

    static func isThere(_ value: SourceValue) -> Bool {
        value.list?.isEmpty == false || value.members?.isEmpty == false || self.text(value) != nil
    }

    /// Throws if the archive's members before its entries are invalid.
    static func check(_ source: RecordingSource) throws(CassetteError) { _ = try self.member(of: [source]) }

    /// The members before the entries, from all sources together; nil if there are none.
    static func member(of sources: [RecordingSource]) throws(CassetteError) -> UnknownMember? {
        var pages: [SourceValue]?
        var kept: [SourceValue.Member] = []
        for source in sources where source.kind.isArchive {
            let stream = try JSONStream(source.archive(), source.context)
            // If the file is invalid, reading its entries reports that.
            guard try stream.enterMembers() else { continue }
            search: while let name = try stream.nextName() {
                guard name == "log", try stream.enterMembers() else { break }
                while let name = try stream.nextName() {
                    if name == "entries" { break search }
                    let value = try stream.value()
                    if name == "pages", let list = value.list { pages = (pages ?? []) + list }
                    guard ["browser", "comment"].contains(name), !kept.contains(where: { $0.name == name }) else { continue }
                    kept.append(name, value.isNothing ? nil : value)
                }
            }
        }
        if let pages { kept.append("pages", SourceValue(line: 1, content: .list(pages))) }
        return Self.member(kept, line: 1)
    }

    /// Nil if there are none.
    private static func member(_ kept: [SourceValue.Member], line: Int) -> UnknownMember? {
        guard !kept.isEmpty else { return nil }
        return UnknownMember(name: UnknownMember.archiveName, json: SourceValue(line: line, content: .members(kept)).json())
    }
}

extension [SourceValue.Member] {
    fileprivate mutating func append(_ name: String, _ value: SourceValue?) {
        if let value { self.append(.init(name: name, value: value)) }
    }
}
