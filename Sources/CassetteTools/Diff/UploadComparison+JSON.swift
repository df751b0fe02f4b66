package import TapeBytes

extension UploadComparison {
    /// The members of the comparison, for scripts and for the page.
    package func write(to writer: inout JSONWriter) {
        writer.member("differs")
        writer.bool(self.differs)
        writer.member("message")
        Self.write(self.message, &writer)
        writer.member("parts")
        writer.beginArray(.inline)
        for pair in self.pairs {
            writer.element()
            writer.beginObject(.inline)
            writer.member("same")
            writer.bool(pair.isSame)
            for (name, part) in [("left", pair.left), ("right", pair.right)] {
                guard let part else { continue }
                writer.member(named: name)
                writer.beginObject(.inline)
                for (member, text) in [("label", part.label), ("name", part.name), ("filename", part.filename), ("words", part.words)] {
                    guard let text else { continue }
                    writer.member(named: member)
                    writer.string(text)
                }
                writer.member("offset")
                writer.integer(part.head.lowerBound)
                writer.member("size")
                writer.integer(part.data.count)
                writer.endObject()
            }
            writer.member("changes")
            Self.write(pair.changes, &writer)
            writer.member("bytes")
            writer.beginArray(.inline)
            for bytes in pair.bytes {
                writer.element()
                Self.write(bytes, &writer)
            }
            writer.endArray()
            writer.endObject()
        }
        writer.endArray()
        writer.member("defects")
        writer.beginObject(.inline)
        for (name, findings) in [("left", self.findings.left), ("right", self.findings.right)] {
            writer.member(named: name)
            writer.beginArray(.inline)
            for finding in findings {
                writer.element()
                writer.string(finding.description)
            }
            writer.endArray()
        }
        writer.endObject()
    }

    private static func write(_ changes: [FieldChange], _ writer: inout JSONWriter) {
        writer.beginArray(.inline)
        for change in changes {
            writer.element()
            writer.beginObject(.inline)
            writer.member("place")
            writer.string(change.place)
            for (name, value) in [("left", change.old), ("right", change.new)] {
                guard let value else { continue }
                writer.member(named: name)
                writer.string(value)
            }
            writer.endObject()
        }
        writer.endArray()
    }

    private static func write(_ bytes: Bytes, _ writer: inout JSONWriter) {
        writer.beginObject(.inline)
        writer.member("what")
        writer.string(bytes.what)
        writer.member("offset")
        writer.integer(bytes.offset)
        for (name, window) in [("left", bytes.left), ("right", bytes.right)] {
            writer.member(named: name)
            writer.beginObject(.inline)
            writer.member("start")
            writer.integer(window.start)
            writer.member("hex")
            writer.string(Hex.encode(window.bytes))
            writer.member("from")
            writer.integer(window.differing.lowerBound)
            writer.member("to")
            writer.integer(window.differing.upperBound)
            writer.member("count")
            writer.integer(window.count)
            writer.endObject()
        }
        writer.endObject()
    }
}
