internal import CassetteModel
internal import CassetteRedaction
internal import TapeBytes

/// What archives have beside their messages and a cassette has no member for; an export writes it again.
///
/// Does not redact: the head is written before a secret of any message is known. Where secrets are taken out, only numbers, times and
/// short names are kept, and titles and comments are not.
struct HARExtras {
    /// Bytes of a short name.
    private static let nameLimit = 24

    private let context: ImportContext

    init(_ context: ImportContext) { self.context = context }

    private var redaction: RedactionRules? { self.context.options.redaction }

    // MARK: Of an entry

    /// Standard members that no member of an interaction has; nil if there are none.
    func member(of entry: SourceValue, _ exchange: ImportedExchange) -> UnknownMember? {
        var kept = Kept()
        if let page = entry["pageref"], page.data != nil { kept.append("pageref", page, if: self.isName(page)) }
        if let comment = entry["comment"], comment.data?.isEmpty == false { kept.append("comment", comment, if: self.redaction == nil) }
        if let cache = entry["cache"], cache.members?.contains(where: { !$0.value.isNothing }) == true {
            kept.append("cache", cache, if: self.redaction == nil)
        }
        if let connection = entry["connection"], connection.string != exchange.connection.map({ String($0.id) }) {
            kept.append("connection", connection, if: self.isName(connection))
        }
        for message in ["request", "response"] {
            guard let value = entry[message] else { continue }
            let sizes = [
                ("headersSize", value["headersSize"]), ("bodySize", value["bodySize"]), ("compression", value["content"]?["compression"]),
            ]
            let members = sizes.compactMap { name, size in
                size?.int.map { SourceValue.Member(name: name, value: .number($0, line: value.line)) }
            }
            if !members.isEmpty { kept.append(message, SourceValue(line: value.line, content: .members(members)), if: true) }
        }
        let response = entry["response"]
        // A response's comment says why it was cut, or why there is none.
        let commented = [entry["request"], exchange.outcome == .complete ? response : nil, response?["content"], entry["timings"]]
        if kept.hasLoss || commented.contains(where: { $0?["comment"]?.data?.isEmpty == false }) { self.context.lose(.comment, at: entry) }
        return kept.member(line: entry.line)
    }

    // MARK: Of all entries

    /// Of all sources together, as far as it comes before the entries; nil if there is nothing.
    static func member(of sources: [RecordingSource]) throws(CassetteError) -> UnknownMember? {
        var pages: [SourceValue] = []
        var kept = Kept()
        for source in sources where source.kind.isArchive {
            let extras = HARExtras(source.context)
            let stream = try JSONStream(source.archive(), source.context)
            // What is wrong with the file is said when it is read.
            guard try stream.enterMembers() else { continue }
            search: while let name = try stream.nextName() {
                guard name == "log", try stream.enterMembers() else { break }
                while let name = try stream.nextName() {
                    if name == "entries" { break search }
                    let value = try stream.value()
                    guard !value.isNothing else { continue }
                    switch name {
                    case "pages": pages += (value.list ?? []).map(extras.page)
                    case "browser" where !kept.contains(name):
                        if let browser = extras.browser(value) { kept.append(name, browser, if: true) }
                    case "comment" where !kept.contains(name):
                        kept.append(name, value, if: extras.redaction == nil)
                        if extras.redaction != nil { extras.context.lose(.comment, at: value) }
                    default: break
                    }
                }
            }
        }
        if !pages.isEmpty { kept.append("pages", SourceValue(line: 1, content: .list(pages)), if: true) }
        return kept.member(line: 1)
    }

    private func page(_ page: SourceValue) -> SourceValue {
        guard self.redaction != nil else { return page }
        var kept = Kept()
        for member in page.members ?? [] where !member.value.isNothing {
            switch member.name {
            case "startedDateTime": kept.append(member.name, member.value, if: self.isTime(member.value))
            case "id": kept.append(member.name, member.value, if: self.isName(member.value))
            case "title":
                // The standard wants one.
                kept.append(member.name, SourceValue(line: page.line, content: .text([])), if: true)
                kept.hasLoss = kept.hasLoss || member.value.data?.isEmpty == false
            case "pageTimings":
                let times = (member.value.members ?? []).filter {
                    ["onContentLoad", "onLoad"].contains($0.name) && self.isNumber($0.value)
                }
                kept.append(member.name, SourceValue(line: page.line, content: .members(times)), if: true)
                kept.hasLoss = kept.hasLoss || (member.value.members ?? []).contains { $0.value.data != nil && !self.isNumber($0.value) }
            default: kept.hasLoss = true
            }
        }
        if kept.hasLoss { self.context.lose(.comment, at: page) }
        return SourceValue(line: page.line, content: .members(kept.members))
    }

    /// Nil if it has no name or version that is kept: the standard wants both.
    private func browser(_ browser: SourceValue) -> SourceValue? {
        guard self.redaction != nil else { return browser }
        var kept = Kept()
        for member in browser.members ?? [] where !member.value.isNothing {
            kept.append(member.name, member.value, if: ["name", "version"].contains(member.name) && self.isName(member.value))
        }
        if kept.hasLoss { self.context.lose(.comment, at: browser) }
        guard kept.contains("name"), kept.contains("version") else { return nil }
        return SourceValue(line: browser.line, content: .members(kept.members))
    }

    // MARK: What is no secret

    /// A short name, or anything if secrets are kept.
    private func isName(_ value: SourceValue) -> Bool {
        guard let redaction else { return true }
        guard let text = value.string else { return false }
        // Playwright's pages.
        let isPage = text.hasPrefix("page@") && text.utf8.count == 37 && text.dropFirst(5).utf8.allSatisfy { Hex.value($0) != nil }
        guard text.utf8.count <= Self.nameLimit || isPage, text.utf8.allSatisfy(Self.isOfName) else { return false }
        let bytes = Array(text.utf8)
        return Redactor.withoutTokens(text) == text && !redaction.secrets.contains { Self.contains(bytes, $0.bytes) }
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
        default: "_-.@:".utf8.contains(byte)
        }
    }

    private static func contains(_ text: [UInt8], _ part: [UInt8]) -> Bool {
        guard !part.isEmpty, text.count >= part.count else { return false }
        return (0...text.count - part.count).contains { text[$0...].starts(with: part) }
    }

    private func isTime(_ value: SourceValue) -> Bool { value.string.map { $0.utf8.count <= 40 && SourceWords.time($0) != nil } == true }

    private func isNumber(_ value: SourceValue) -> Bool { if case .word = value.content { value.double != nil } else { false } }
}

/// Members that are kept, and whether others were not.
private struct Kept {
    private(set) var members: [SourceValue.Member] = []
    var hasLoss = false

    mutating func append(_ name: String, _ value: SourceValue, if isKept: Bool) {
        if isKept { self.members.append(.init(name: name, value: value)) } else { self.hasLoss = true }
    }

    func contains(_ name: String) -> Bool { self.members.contains { $0.name == name } }

    /// Nil if there are none.
    func member(line: Int) -> UnknownMember? {
        guard !self.members.isEmpty else { return nil }
        return UnknownMember(name: "har", json: SourceValue(line: line, content: .members(self.members)).json())
    }
}

extension SourceValue {
    fileprivate static func number(_ number: Int, line: Int) -> SourceValue {
        SourceValue(line: line, content: .word(Array(String(number).utf8)))
    }
}
