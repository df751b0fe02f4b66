import CassetteTools
import TapeBytes
import Testing

@testable import WiretapeCLI

@Suite struct DiffPageTests {
    private let exchange = CassetteDiff.Exchange(number: 2, .sample(5, "GET", "http://a/\u{1b}"))
    private let other = CassetteDiff.Exchange(number: 3, .sample(6))

    private func page(_ entries: [CassetteDiff.Entry], json: Bool = false) throws -> (text: String, differs: Bool) {
        let sink = TextSink()
        var page = DiffPage(isJSON: json) { sink.write($0) }
        for entry in entries { try page.append(entry) }
        try page.finish(same: 4)
        return (sink.text, page.differs)
    }

    @Test func eachKindHasItsSign() throws {
        let changes = [
            FieldChange("response status", "200", "404"), FieldChange("response header:a", nil, "x\n"),
            FieldChange("response header:b", "y", nil),
        ]
        let (text, differs) = try self.page([
            .added(self.other), .removed(self.exchange), .changed(old: self.exchange, new: self.other, changes: changes),
        ])
        #expect(
            text == """
                + 3 GET http://a/pets
                - 2 GET http://a/\\u{1b}
                ~ 2 → 3 GET http://a/\\u{1b}
                    response status: 200 → 404
                    response header:a: x\\n is new
                    response header:b: y is gone
                4 the same, 1 changed, 1 added, 1 removed.

                """)
        #expect(differs)
    }

    @Test func nothingIsNoDifference() throws {
        #expect(try self.page([]).text == "4 the same, 0 changed, 0 added, 0 removed.\n")
        #expect(try self.page([]).differs == false)
        #expect(try self.page([], json: true).text == "[]\n")
    }

    @Test func jsonHasAnObjectForEach() throws {
        let changed = CassetteDiff.Entry.changed(old: self.other, new: self.other, changes: [FieldChange("response status", "200", "404")])
        let text = try self.page([.added(self.other), changed], json: true).text
        let document = try JSONDocument(Array(text.utf8)).root
        let elements = Array(document.elements)
        #expect(elements.map { $0["kind"]?.string } == ["added", "changed"])
        #expect(elements[0]["new"]?.int == 3 && elements[0]["old"] == nil)
        #expect(elements[1]["changes"]?.elements.first { _ in true }?["place"]?.string == "response status")
    }
}
