import CassettePlayback
import CassetteStore
@testable import TapeProxy
import Testing

@Suite struct SessionOrderReaderTests {
    private func read(_ json: String) throws -> SessionOrder { try SessionOrderReader.read(Array(json.utf8)) }

    @Test func aCassetteIsEnough() throws {
        #expect(try self.read(#"{"cassette": "pets.json"}"#) == SessionOrder(cassette: "pets.json"))
        #expect(SessionOrder(cassette: "a").mode == .once)
    }

    @Test func everyMemberIsRead() throws {
        let order = try self.read(
            #"{"name": "w-1", "cassette": "a/b.json", "mode": "new-episodes", "repeat": "cycle", "port": true}"#)
        #expect(
            order
                == SessionOrder(
                    name: SessionName("w-1"), cassette: "a/b.json", mode: .newEpisodes,
                    settings: .session { $0[Settings.repetition] = .session(.cycle) }, wantsPort: true))
    }

    @Test(arguments: [("none", RecordMode.none), ("once", .once), ("new-episodes", .newEpisodes), ("all", .all)])
    func everyModeIsRead(_ text: String, _ mode: RecordMode) throws {
        #expect(try self.read(#"{"cassette": "a", "mode": "\#(text)"}"#).mode == mode)
    }

    @Test(arguments: [
        ("", "is not JSON"), ("{", "is not JSON"), ("[]", "not a JSON object"), ("{}", "\"cassette\" is missing"),
        (#"{"cassette": 1}"#, "\"cassette\" is not a string"), (#"{"cassette": "a", "mode": "passthrough"}"#, "use one of \"none\""),
        (#"{"cassette": "a", "mode": null}"#, "\"mode\" is not a string"), (#"{"cassette": "a", "port": 1}"#, "neither true nor false"),
        (#"{"cassette": "a", "name": "a b"}"#, "\"name\" must have"),
        (#"{"cassette": "a", "ignored": []}"#, "\"ignored\" is unknown here: use cassette, mode, name"),
        (#"{"cassette": "a", "cassette": "b"}"#, "given twice"),
        (#"{"cassette": "\ud800"}"#, "\"cassette\" is not a string"),
    ])
    func errorNamesTheProblem(_ json: String, _ wanted: String) {
        let error = #expect(throws: SessionError.self) { try self.read(json) }
        #expect(error?.code == .invalid)
        #expect(error?.message.contains(wanted) == true, "\(error?.message ?? "")")
    }
}
