import Foundation
import Testing
import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct ResponseSerializerTests {
    /// One of one's own: nothing but the method is needed.
    private struct Length: ResponseSerializer {
        func serialize(request: URLRequest?, response: HTTPResponse?, data: Data?, error: (any Error)?) throws -> Int {
            try self.body(request: request, response: response, data: data, error: error)?.count ?? 0
        }
    }

    private struct Own: Error {}

    @Test func anOwnSerializerHasTheRulesForEmptyBodies() throws {
        let (get, head) = (try SampleResponse.request(), try SampleResponse.request(.head))
        let (ok, noContent) = (try SampleResponse.response(), try SampleResponse.response(204))
        #expect(try Length().serialize(request: get, response: ok, data: Data([1, 2]), error: nil) == 2)
        #expect(try Length().serialize(request: head, response: ok, data: nil, error: nil) == 0)
        #expect(try Length().serialize(request: get, response: noContent, data: Data(), error: nil) == 0)
        #expect { try Length().serialize(request: get, response: ok, data: Data(), error: nil) } throws: {
            ($0 as? SerializationError)?.code == .emptyBody
        }
        #expect(throws: SerializationError.self) { try Length().serialize(request: nil, response: nil, data: nil, error: nil) }
    }

    @Test func theErrorOfTheRequestComesFirst() throws {
        #expect(throws: Own.self) { try Length().serialize(request: nil, response: nil, data: Data([1]), error: Own()) }
        #expect(throws: Own.self) { try Length().serializeDownload(request: nil, response: nil, fileURL: nil, error: Own()) }
    }

    @Test func aDownloadIsReadFromItsFile() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("wiretape-\(UUID().uuidString)")
        try Data("{\"a\":1}".utf8).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        #expect(try Length().serializeDownload(request: nil, response: nil, fileURL: url, error: nil) == 7)
        #expect(try JSONResponseSerializer().serializeDownload(request: nil, response: nil, fileURL: url, error: nil)["a"]?.int == 1)
        #expect {
            try Length().serializeDownload(request: nil, response: nil, fileURL: url.appendingPathExtension("no"), error: nil)
        } throws: {
            ($0 as? SerializationError)?.code == .unreadableFile
        }
        let noContent = try SampleResponse.response(204)
        #expect(try Length().serializeDownload(request: nil, response: noContent, fileURL: nil, error: nil) == 0)
    }
}
