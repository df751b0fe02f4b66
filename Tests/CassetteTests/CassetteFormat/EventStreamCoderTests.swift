@testable import CassetteFormat
@testable import CassetteModel
@testable import TapeBytes
import Testing

@Suite struct EventStreamCoderTests {
    private func written(_ text: String) throws -> String {
        let stream = try #require(EventStream(Array(text.utf8)))
        var writer = JSONWriter()
        writer.beginObject(.lines)
        EventStreamCoder.write(stream, into: &writer)
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test func fieldsAreMembersAndJSONIsStructure() throws {
        #expect(
            try self.written("event: token\ndata: {\"text\":\"음\"}\n\ndata: a\ndata: b\n\n")
                == "{\n  \"events\": [\n    {\n      \"event\": \"token\",\n      \"json\": { \"text\": \"음\" }\n    },\n    { \"data\": [\"a\", \"b\"] }\n  ]\n}"
        )
    }

    @Test func eventsThatAreNoObjectsAreWrittenAsLines() throws {
        #expect(try self.written(": ping\n\ndata:x\n\n") == "{\n  \"events\": [\n    [\": ping\"],\n    [\"data:x\"]\n  ]\n}")
        #expect(try self.written("id: 1\nid: 2\n\n").contains("[\"id: 1\", \"id: 2\"]"))
        #expect(try self.written("json: {}\n\n").contains("[\"json: {}\"]"))
    }

    @Test func otherLineEndsAndARestAreNamed() throws {
        let text = try self.written("data: a\r\n\r\ndata: hal")
        #expect(text.contains("\"lineEnd\": \"\\r\\n\"") && text.contains("\"rest\": \"data: hal\""))
    }

    /// A JSON event stays a string if its spacing differs from the others.
    @Test func jsonThatTheStyleDoesNotRestoreIsAString() throws {
        let text = try self.written("data: {\"long\": [1, 2, 3]}\n\ndata: {\"a\":1}\n\n")
        #expect(text.contains("\"data\": \"{\\\"a\\\":1}\"") && text.contains("\"json\": { \"long\": [1, 2, 3] }"))
    }
}
