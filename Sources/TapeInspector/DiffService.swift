internal import CassetteModel
internal import CassettePlayback
internal import CassetteTools
internal import TapeBytes

/// The differences between two exchanges, or between the cassette and another one.
struct DiffService {
    /// Compares two exchanges, ignoring incidental differences.
    ///
    /// - Parameters:
    ///   - old: the path of the cassette of the first.
    ///   - new: the path of the cassette of the second.
    static func bytes(
        _ left: Interaction, _ right: Interaction, old: String, new: String, digest: @escaping () -> any ContentDigest
    ) throws -> [UInt8] {
        let changes = try ExchangeComparison(old: old, new: new, showsAll: false, digest: digest).changes(left, right)
        if changes.isEmpty {
            for (path, interaction) in [(old, left), (new, right)] {
                var files = BodyFileCheck(path, digest)
                try files.check(interaction)
            }
        }
        var writer = JSONWriter()
        writer.beginObject(.inline)
        self.write(changes, &writer)
        writer.endObject()
        return writer.bytes + [10]
    }

    /// Compares two cassettes: one line of JSON for each exchange that was added, removed or changed, and one with the number of equal
    /// ones.
    ///
    /// - Parameter old: the path of the other cassette, which is treated as the older one.
    static func lines(old: String, new: String, digest: @escaping () -> any ContentDigest) throws -> [UInt8] {
        var lines: [UInt8] = []
        func line(_ body: (inout JSONWriter) -> Void) {
            var writer = JSONWriter()
            writer.beginObject(.inline)
            body(&writer)
            writer.endObject()
            lines += writer.bytes + [10]
        }
        let comparison = try CassetteDiff(
            old: RecordedCassette(path: old), new: RecordedCassette(path: new), showsAll: false, digest: digest)
        let same = try comparison.run { entry in
            line { writer in
                switch entry {
                case .added(let exchange): self.write("added", nil, exchange, &writer)
                case .removed(let exchange): self.write("removed", exchange, nil, &writer)
                case .changed(let old, let new, let changes):
                    self.write("changed", old, new, &writer)
                    self.write(changes, &writer)
                }
            }
        }
        line { writer in
            writer.member("same")
            writer.integer(same)
        }
        return lines
    }

    private static func write(_ kind: String, _ old: CassetteDiff.Exchange?, _ new: CassetteDiff.Exchange?, _ writer: inout JSONWriter) {
        writer.member("kind")
        writer.string(kind)
        for (name, exchange) in [("old", old), ("new", new)] {
            guard let exchange else { continue }
            writer.member(named: name)
            writer.integer(exchange.number)
        }
        guard let shown = new ?? old else { return }
        writer.member("request")
        writer.string("\(shown.method) \(shown.url)")
    }

    static func write(_ changes: [FieldChange], _ writer: inout JSONWriter) {
        writer.member("changes")
        writer.beginArray(.inline)
        for change in changes {
            writer.element()
            writer.beginObject(.inline)
            writer.member("place")
            writer.string(change.place)
            for (name, value) in [("old", change.old), ("new", change.new)] {
                guard let value else { continue }
                writer.member(named: name)
                writer.string(value)
            }
            writer.endObject()
        }
        writer.endArray()
    }
}
