import Foundation
import Testing
import Wiretape

@Suite struct URLResponseSerializerTests {
    private struct Own: Error {}

    @Test func thePlaceOfTheFileIsTheValue() throws {
        let url = URL(fileURLWithPath: "/tmp/a")
        #expect(try (.url as URLResponseSerializer).serializeDownload(request: nil, response: nil, fileURL: url, error: nil) == url)
        #expect(throws: Own.self) { try URLResponseSerializer().serializeDownload(request: nil, response: nil, fileURL: url, error: Own()) }
        #expect(throws: SerializationError.self) {
            try URLResponseSerializer().serializeDownload(request: nil, response: nil, fileURL: nil, error: nil)
        }
    }
}
