internal import CassetteFormat
package import CassetteModel
package import CassetteTools
internal import LocalHTTP
internal import TapeBytes

/// An edit of one recorded exchange without a page: the same checks, and the same way of writing.
package struct ExchangeEdit {
    /// Why the new text is not written.
    package struct Refused: Error {
        /// One sentence for each problem. They may quote the text.
        package var problems: [String]
    }

    private let cassette: InspectedCassette
    private let moment: InspectedCassette.Moment
    private let tools: InspectorTools
    private let ordinal: Int

    /// - Parameter number: of the exchange, from 1.
    ///
    /// Throws if the file is not a cassette, or has no such exchange.
    package init(path: String, number: Int, tools: InspectorTools) throws(CassetteError) {
        self.cassette = try InspectedCassette(path: path)
        // Reads the rows, which the check for equal ids needs.
        while !self.cassette.moment.isIndexed, self.cassette.refresh() {}
        self.moment = self.cassette.moment
        self.tools = tools
        self.ordinal = number - 1
        guard self.moment.epoch.ranges.indices.contains(self.ordinal) else {
            throw CassetteError(.notFound, "\"\(path)\" has no exchange \(number): it has \(self.moment.epoch.ranges.count).")
        }
    }

    /// The exchange's text in the file.
    package var text: [UInt8] { get throws { try self.moment.epoch.bytes(self.moment.epoch.ranges[self.ordinal]) } }

    /// Writes a text in place of the exchange's, with lengths and digests that fit its bodies.
    ///
    /// Throws `Refused` if the text is not an exchange, contains a secret that was not there before, or has another problem.
    ///
    /// - Returns: what differs, and what people should know.
    package func write(_ text: [UInt8]) throws -> (changes: [FieldChange], notes: [String]) {
        let service = EditService(cassette: self.cassette, moment: self.moment, tools: self.tools, ordinal: self.ordinal)
        var (text, checked) = (text, try service.check(text))
        if checked.isCorrectable {
            text = try service.corrected(text)
            checked = try service.check(text)
        }
        let blocking = checked.problems.filter(\.isBlocking)
        guard blocking.isEmpty else { throw Refused(problems: blocking.map(\.text)) }
        do {
            let written = try service.write(text)
            return (checked.changes, checked.problems.map(\.text) + [written.problem].compactMap { $0 })
        } catch let answer as LocalAnswer {
            throw Refused(problems: [String(decoding: answer.body, as: UTF8.self)])
        }
    }
}
