import Testing

@testable import TapeBytes

@Suite struct JSONWriterTests {
    private func written(_ write: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter(reserving: 1)
        write(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test func containersAreOnLinesOrOnOne() {
        let text = self.written { writer in
            writer.beginObject(.lines)
            writer.member("a")
            writer.beginArray(.lines)
            writer.element()
            writer.integer(1)
            writer.element()
            writer.beginObject(.inline)
            writer.member("b")
            writer.beginArray(.lines)
            writer.element()
            writer.bool(true)
            writer.element()
            writer.bool(false)
            writer.endArray()
            writer.member(named: "\"")
            writer.beginObject(.lines)
            writer.endObject()
            writer.endObject()
            writer.endArray()
            writer.member("c")
            writer.beginArray(.lines)
            writer.endArray()
            writer.endObject()
        }
        #expect(
            text == """
                {
                  "a": [
                    1,
                    { "b": [true, false], "\\"": {} }
                  ],
                  "c": []
                }
                """)
    }

    @Test func removingAllKeepsNothing() {
        var writer = JSONWriter()
        writer.beginObject(.lines)
        writer.removeAll(baseDepth: 1)
        writer.beginArray(.lines)
        writer.element()
        writer.integer(1)
        writer.endArray()
        #expect(String(decoding: writer.bytes, as: UTF8.self) == "[\n    1\n  ]")
    }
}
