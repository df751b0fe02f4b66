import Foundation
import TapeTestSupport
import Testing
@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Exchanges that the proxy recorded over HTTP/2: no reason phrase, lower-case names, and an answer without a body or a length.
@Suite struct HTTP2CassetteTests {
    private static let url = "https://pets.invalid/pets"

    private func cassette(_ folder: TemporaryFolder) throws -> Cassette {
        let text = """
            {"wiretape": 1, "interactions": [
             {"id": 1, "started": "2026-11-21T04:19:28.123456Z",
              "request": {"method": "GET", "url": "\(Self.url)", "version": "HTTP/2.0", "headers": ["accept: */*", "cookie: a=1", "cookie: b=2"]},
              "response": {"status": 200, "reason": "", "version": "HTTP/2.0", "headers": ["content-type: application/json"],
               "body": {"size": 16, "style": {"colon": " "}, "json": {"name": "Miso"}}, "trailers": ["x-sum: 42"]},
              "connection": {"id": 1, "remote": "127.0.0.1:443", "tls": {"version": "TLSv1.3", "cipher": "TLS_AES_256_GCM_SHA384", "alpn": "h2"}}},
             {"id": 2, "started": "2026-11-21T04:19:29.123456Z",
              "request": {"method": "DELETE", "url": "\(Self.url)/1", "version": "HTTP/2.0", "headers": []},
              "response": {"status": 204, "reason": "", "version": "HTTP/2.0", "headers": []}}]}
            """
        try folder.write(Array(text.utf8), to: "h2.json")
        return try Cassette(folder.file("h2.json"), mode: .none)
    }

    @Test func theyReplayThroughASession() async throws {
        let folder = try TemporaryFolder()
        let session = HTTPSession.patient(try self.cassette(folder))
        let pet = try await session.get(Self.url, as: [String: String].self)
        #expect(pet == ["name": "Miso"])
        let deleted = await session.request(Self.url + "/1", method: .delete).serializingData(emptyResponseCodes: [204]).response
        #expect(deleted.response?.status == 204 && deleted.error == nil)
    }

    @Test func theyReplayThroughTheAdapter() async throws {
        let folder = try TemporaryFolder()
        let session = URLSession(configuration: .replaying(try self.cassette(folder)))
        let (data, response) = try await session.data(from: try #require(URL(string: Self.url)))
        #expect(String(decoding: data, as: UTF8.self) == #"{"name": "Miso"}"#)
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
    }
}
