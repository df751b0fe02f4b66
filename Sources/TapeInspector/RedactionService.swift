internal import CassetteRedaction
internal import CassetteTools
internal import LocalHTTP
internal import TapeBytes

/// The redactions in a cassette, and what additional rules would redact.
package struct RedactionService {
    /// The place of a secret, or where a placeholder would be.
    package struct Found: Sendable, Hashable {
        /// The exchange's position in the file, from 1.
        package var exchange: Int
        package var place: String
        /// nil if it is in a body that is compressed or in a file.
        package var placeholder: String?
        /// With secrets removed.
        package var excerpt: String

        package init(exchange: Int, place: String, placeholder: String?, excerpt: String) {
            self.exchange = exchange
            self.place = place
            self.placeholder = placeholder
            self.excerpt = excerpt
        }
    }

    /// What rules would do to a cassette.
    package struct Trial: Sendable {
        package var exchanges: Int
        package var changed: Int
        /// The total number, of which the first are in `found`.
        package var places: Int
        package var found: [Found]

        package init(exchanges: Int, changed: Int, places: Int, found: [Found]) {
            self.exchanges = exchanges
            self.changed = changed
            self.places = places
            self.found = found
        }
    }

    let cassette: InspectedCassette

    /// What additional rules would redact, and where. Writes nothing.
    func trial(_ body: [UInt8], by tryRedaction: (_ path: String, _ rules: RedactionRules) throws -> Trial) throws -> [UInt8] {
        let order = try InspectorOrder(body)
        let values = try order.texts("values").enumerated().map {
            SecretValue(name: "value-\($0.offset + 1)", bytes: Array($0.element.utf8))
        }
        let rules: RedactionRules
        do {
            rules = try RedactionRules(rules: order.texts("redact"), keep: order.texts("keep"), secrets: values)
        } catch let error as SettingSyntaxError {
            // The advice refers to command-line options, which a page does not have.
            let advice = ": remove it from --secret-env, and pass its place with --redact"
            throw InspectorService.refusal("rules", error.message.replacing(advice, with: ": enter its place under Remove"))
        }
        let trial = try tryRedaction(self.cassette.path, rules)
        var writer = JSONWriter()
        writer.beginObject(.inline)
        for (name, number) in [("exchanges", trial.exchanges), ("changed", trial.changed), ("places", trial.places)] {
            writer.member(named: name)
            writer.integer(number)
        }
        writer.member("found")
        writer.beginArray(.inline)
        for found in trial.found {
            writer.element()
            writer.beginObject(.inline)
            writer.member("key")
            writer.integer(found.exchange)
            for (name, text) in [("place", found.place), ("placeholder", found.placeholder), ("excerpt", found.excerpt)] {
                guard let text else { continue }
                writer.member(named: name)
                writer.string(text)
            }
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return writer.bytes + [10]
    }

    /// The placeholders in all exchanges, as lines of JSON.
    func placeholders() -> LocalStream {
        let moment = self.cassette.moment
        var ordinal = 0
        return InspectorService.lines {
            guard ordinal < moment.rows.count else { return nil }
            var lines: [UInt8] = []
            let end = min(moment.rows.count, ordinal + 1000)
            for ordinal in ordinal..<end where moment.rows[ordinal].hasPlaceholder {
                for found in Set(RecordedPlaceholders.find(try moment.epoch.bytes(moment.rows[ordinal].range))) {
                    var writer = JSONWriter()
                    writer.beginObject(.inline)
                    writer.member("key")
                    writer.integer(ordinal + 1)
                    writer.member("placeholder")
                    writer.string(found.placeholder)
                    writer.member("place")
                    writer.string(found.place)
                    writer.endObject()
                    lines += writer.bytes + [10]
                }
            }
            ordinal = end
            return lines
        }
    }
}
