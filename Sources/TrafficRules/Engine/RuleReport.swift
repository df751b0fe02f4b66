package import TapeBytes

/// What became of one rule.
package struct RuleReport: Sendable, Hashable {
    package var name: String
    package var kind: TrafficRule.Kind
    /// The text of `when`; nil for all requests.
    package var condition: String?
    package var place: TrafficRule.Place
    package var isOn: Bool
    /// Whether the rule was taken out of the list, or replaced, during the run.
    package var isRetired = false
    /// What decides among the requests that match, for example `first 2` or `share 5%`; nil if all count.
    package var draw: String?
    /// Requests for which `when` held.
    package var matched: Int
    /// Of these, those that the rule changed.
    package var applied: Int
    /// Of those that matched, those for which the rule's numbers, shares, times or quotas held. All of them if it has none.
    package var drawn: Int
    /// Of those that matched, those that an earlier rule had taken.
    package var preceded: Int
    /// Of those that matched, those for which a fault took the place of the answer, so that the rule had no effect.
    package var displaced = 0
    /// What the rule could not do, each once.
    package var notes: [String]
    /// What else is to be known of what the rule did, each once.
    package var remarks: [String] = []

    package var neverMatched: Bool { self.isOn && self.matched == 0 }

    /// The report as an object of JSON.
    package func write(into writer: inout JSONWriter) {
        func number(_ name: StaticString, _ value: Int) {
            writer.member(name)
            writer.integer(value)
        }
        func string(_ name: StaticString, _ value: String) {
            writer.member(name)
            writer.string(value)
        }
        writer.beginObject(.inline)
        string("name", self.name)
        string("kind", self.kind.rawValue)
        if let condition = self.condition { string("when", condition) }
        string("file", self.place.file)
        number("line", self.place.line)
        writer.member("enabled")
        writer.bool(self.isOn)
        if self.isRetired {
            writer.member("retired")
            writer.bool(true)
        }
        if let draw = self.draw { string("draw", draw) }
        number("matched", self.matched)
        number("applied", self.applied)
        number("drawn", self.drawn)
        number("preceded", self.preceded)
        if self.displaced > 0 { number("displaced", self.displaced) }
        func strings(_ name: StaticString, _ values: [String]) {
            guard !values.isEmpty else { return }
            writer.member(name)
            writer.beginArray(.inline)
            for value in values {
                writer.element()
                writer.string(value)
            }
            writer.endArray()
        }
        strings("notes", self.notes)
        strings("remarks", self.remarks)
        writer.endObject()
    }
}

/// One line for people, without the notes.
extension RuleReport: CustomStringConvertible {
    package var description: String {
        let name = "\"\(PlainText.escape(self.name.utf8, limit: 100))\""
        guard self.isOn else { return "\(name) is switched off" }
        guard self.matched > 0 else {
            let condition = self.condition.map { ": no request fits \"\(PlainText.escape($0.utf8, limit: 200))\"" } ?? ": no request came"
            return "\(name) never matched\(condition) (\(self.place))"
        }
        var text = "\(name) matched \(Self.count(self.matched, "request")) and was applied to \(self.applied)"
        if let draw = self.draw { text += " (\(draw))" }
        if self.preceded > 0 { text += "; an earlier rule took \(self.preceded)" }
        if self.displaced > 0 { text += "; a fault took the place of \(self.displaced)" }
        return text
    }

    private static func count(_ number: Int, _ word: String) -> String { "\(number) \(word)\(number == 1 ? "" : "s")" }
}
