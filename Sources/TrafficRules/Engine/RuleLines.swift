package import CassettePlayback
package import TapeBytes

/// The report of traffic rules: for people, and as JSON.
package enum RuleLines {
    package struct Line: Sendable, Hashable {
        package var text: String
        /// Something is wrong: the rule did nothing, or not all that it says.
        package var isComplaint: Bool
    }

    /// One line for the rule, and one for each thing that was met while it was carried out.
    package static func lines(of rule: RuleReport) -> [Line] {
        let name = "rule \"\(PlainText.escape(rule.name.utf8, limit: 80))\"\(rule.isRetired ? ", until it was replaced" : "")"
        guard rule.isOn else { return [Line(text: "\(name) is off.", isComplaint: false)] }
        let notes = rule.notes.map { Line(text: "\(name): \(PlainText.sentence($0, limit: 400)).", isComplaint: true) }
        guard !rule.neverMatched else {
            // With a note, requests may fit that the rule could not look at.
            let condition = notes.isEmpty ? rule.condition : nil
            let what = condition.map { ": no request fits \"\(PlainText.sentence($0, limit: 200))\"" } ?? ""
            return [Line(text: "\(name) (\(rule.place)) never matched\(what).", isComplaint: true)] + notes
        }
        var text = "\(name): matched \(rule.matched), applied to \(rule.applied)"
        if rule.preceded > 0 { text += ", \(rule.preceded) taken by an earlier rule" }
        if rule.displaced > 0 { text += ", \(rule.displaced) displaced by a fault" }
        let notDrawn = rule.matched - rule.preceded - rule.drawn
        if notDrawn > 0 { text += ", \(notDrawn) not drawn" }
        let remarks = rule.remarks.map { Line(text: "\(name): \(PlainText.sentence($0, limit: 400)).", isComplaint: false) }
        return [Line(text: text + ".", isComplaint: false)] + notes + remarks
    }

    /// One finding about the client, with its evidence.
    package static func line(of finding: ClientVerdict.Finding) -> String {
        let certainty = finding.certainty == .likely ? " (likely)" : ""
        return "client: \(PlainText.sentence(finding.text, limit: 600))\(certainty)."
    }

    /// Writes a list of findings.
    package static func write(_ findings: [ClientVerdict.Finding], to writer: inout JSONWriter) {
        writer.beginArray(.inline)
        for finding in findings {
            writer.element()
            self.write(finding, to: &writer)
        }
        writer.endArray()
    }

    private static func write(_ finding: ClientVerdict.Finding, to writer: inout JSONWriter) {
        writer.beginObject(.inline)
        writer.member("kind")
        writer.string(finding.kind.rawValue)
        writer.member("certainty")
        writer.string(finding.certainty.rawValue)
        writer.member("text")
        writer.string(finding.text)
        writer.member("requests")
        writer.beginArray(.inline)
        for index in finding.evidence {
            writer.element()
            writer.integer(index + 1)
        }
        writer.endArray()
        writer.endObject()
    }

    /// Writes a list of reports.
    package static func write(_ rules: [RuleReport], to writer: inout JSONWriter) {
        writer.beginArray(.inline)
        for rule in rules {
            writer.element()
            rule.write(into: &writer)
        }
        writer.endArray()
    }

    /// The same for the report of a replay.
    package static func checks(_ rules: [RuleReport], _ findings: [ClientVerdict.Finding]?) -> [ReplayReport.Check] {
        let ofRules = rules.filter(\.isOn).map { rule in
            let lines = self.lines(of: rule)
            return ReplayReport.Check(
                kind: .rule, name: "rule \"\(PlainText.escape(rule.name.utf8, limit: 80))\"",
                problems: lines.filter(\.isComplaint).map(\.text),
                json: self.json { rule.write(into: &$0) })
        }
        let ofClient = (findings ?? []).map { finding in
            ReplayReport.Check(
                kind: .client, name: "client: \(finding.kind.rawValue)", problems: [self.line(of: finding)],
                json: self.json { self.write(finding, to: &$0) })
        }
        return ofRules + ofClient
    }

    private static func json(_ write: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        write(&writer)
        return writer.bytes
    }
}
