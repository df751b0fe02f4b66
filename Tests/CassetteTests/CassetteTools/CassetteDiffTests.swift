@testable import CassetteModel
@testable import CassettePlayback
@testable import CassetteTools
import Foundation
import Testing

@Suite struct CassetteDiffTests {
    @Test func eachExchangeIsTheSameOrTold() throws {
        let folder = try CareFolder()
        let old = try folder.write(
            [.care(1, at: 1, "GET", "http://a/1"), .care(2, at: 2, "GET", "http://a/2?token=x"), .care(3, at: 3, "GET", "http://a/3")],
            to: "a.json")
        let new = try folder.write(
            [
                .care(1, at: 1, "GET", "http://a/1"), .care(2, at: 2, "GET", "http://a/3", status: 500),
                .care(3, at: 3, "GET", "http://a/4"),
            ], to: "b.json")
        var entries: [CassetteDiff.Entry] = []
        let diff = CassetteDiff(old: try RecordedCassette(path: old), new: try RecordedCassette(path: new), showsAll: false)
        #expect(try diff.run { entries.append($0) } == 1)
        #expect(
            entries == [
                .removed(CassetteDiff.Exchange(number: 2, id: 2, method: "GET", url: "http://a/2?token=(hidden)")),
                .changed(
                    old: CassetteDiff.Exchange(number: 3, id: 3, method: "GET", url: "http://a/3"),
                    new: CassetteDiff.Exchange(number: 2, id: 2, method: "GET", url: "http://a/3"),
                    changes: [FieldChange("response status", "200", "500", drift: .type)]),
                .added(CassetteDiff.Exchange(number: 3, id: 3, method: "GET", url: "http://a/4")),
            ])
    }

    /// Two uploads to one URL in another order are no change.
    @Test func requestsToOneURLArePairedByTheirBodies() throws {
        let folder = try CareFolder()
        func post(_ id: Int, _ text: String) -> Interaction {
            var interaction = Interaction.care(id, at: Int64(id), "POST", "http://a/1")
            interaction.request.body = Body(size: text.utf8.count, content: .text(Array(text.utf8)))
            return interaction
        }
        let old = try folder.write([post(1, "cat"), post(2, "dog")], to: "a.json")
        let new = try folder.write([post(1, "dog"), post(2, "cat"), post(3, "cow")], to: "b.json")
        var entries: [CassetteDiff.Entry] = []
        let diff = CassetteDiff(old: try RecordedCassette(path: old), new: try RecordedCassette(path: new), showsAll: false)
        #expect(try diff.run { entries.append($0) } == 2)
        #expect(entries == [.added(CassetteDiff.Exchange(number: 3, id: 3, method: "POST", url: "http://a/1"))])
    }

    /// Two cassettes that name the same body are equal only if both have it.
    @Test(arguments: ["sidecar", "message", "raw"], ["changed", "missing"])
    func aBodyThatIsNotWhatTheCassetteSaysIsAnError(kind: String, damage: String) throws {
        let folder = try CareFolder()
        let bytes = Array(repeating: UInt8(7), count: 100)
        func cassette(_ name: String) throws -> String {
            var interaction = Interaction.care(1, at: 1, "GET", "http://a/1")
            let sidecar = try folder.sidecar(bytes, of: name)
            switch kind {
            case "raw": interaction.response?.body = Body(size: 100, content: .raw(try folder.raw(bytes, of: name)))
            case "message":
                interaction.webSocket = .inline([WebSocketMessage(at: 1, from: .client, content: .binary(.file(sidecar)))])
            default: interaction.response?.body = Body(size: 100, content: .file(sidecar))
            }
            return try folder.write([interaction], to: name)
        }
        let (old, new) = (try cassette("a.json"), try cassette("b.json"))
        func same(checks: Bool) throws -> Int {
            try CassetteDiff(
                old: try RecordedCassette(path: old), new: try RecordedCassette(path: new), showsAll: false, checksFiles: checks
            ).run { _ in }
        }
        #expect(try same(checks: true) == 1)
        for name in try folder.folder.names(in: "b.bodies") {
            if damage == "missing" {
                try FileManager.default.removeItem(atPath: folder.file("b.bodies/\(name)"))
            } else {
                try folder.folder.write(try folder.folder.read("b.bodies/\(name)").map { $0 ^ 1 }, to: "b.bodies/\(name)")
            }
        }
        let error = #expect(throws: CassetteError.self) { try same(checks: true) }
        #expect(error?.message.contains("b.bodies") == true, "\(error?.message ?? "")")
        if kind == "sidecar" { #expect(try same(checks: false) == 1) }
    }
}
