internal import CassetteModel
internal import TapeBytes

/// Reads and writes the marks of messages that a cassette does not show one by one, as runs: `[[3, 0], [1, 2], [2]]`.
///
/// A run is a number of messages, and how many client messages had come at each; if that is missing, all of them and the client's end.
enum MarksCoder {
    static func write(_ marks: ConversationMarks, into writer: inout JSONWriter) {
        writer.member("marks")
        writer.beginArray(.inline)
        for run in marks.runs {
            writer.element()
            writer.beginArray(.inline)
            writer.element()
            writer.integer(run.count)
            if let after = run.after {
                writer.element()
                writer.integer(after)
            }
            writer.endArray()
        }
        writer.endArray()
    }

    static func decode(_ reader: ObjectReader) throws(CassetteError) -> ConversationMarks? {
        guard let value = reader["marks"] else { return nil }
        guard value.kind == .array else { throw reader.error(value, "marks", "expected an array of runs") }
        var marks = ConversationMarks()
        for element in value.elements {
            guard marks.runs.count < ConversationMarks.limit else {
                throw reader.error(element, "marks", "expected at most \(ConversationMarks.limit) runs", code: .tooLarge)
            }
            var numbers = element.elements
            guard let count = numbers.next()?.int, (1...ObjectReader.largest).contains(count) else { throw self.error(element, reader) }
            guard let next = numbers.next() else {
                marks.append(ConversationMarks.Run(count: count, after: nil))
                continue
            }
            guard let after = next.int, (0...ObjectReader.largest).contains(after), numbers.next() == nil else {
                throw self.error(element, reader)
            }
            marks.append(ConversationMarks.Run(count: count, after: after))
        }
        return marks
    }

    private static func error(_ value: JSONValue, _ reader: ObjectReader) -> CassetteError {
        reader.error(value, "marks", "expected runs of the form [messages, client's messages]")
    }
}
