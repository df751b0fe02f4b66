import ClientTestSupport
import Foundation
import TapeTestSupport
import Testing
@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct URLSessionConfigurationCassetteTests {
    private static let url = URL(string: "http://cassette.invalid/pets") ?? URL(fileURLWithPath: "/")

    private func cassette(_ body: String, _ folder: TemporaryFolder) throws -> Cassette {
        try CassetteFixture.cassette(
            [
                CassetteFixture.interaction(
                    url: Self.url.absoluteString, headers: ["Content-Type: text/plain", "Set-Cookie: a=1", "Set-Cookie: b=2"],
                    body: CassetteFixture.text(body))
            ], in: folder)
    }

    @Test func aSessionOfOthersIsAnsweredFromTheCassette() async throws {
        let folder = try TemporaryFolder()
        let cassette = try self.cassette("recorded", folder)
        let (data, response) = try await URLSession(configuration: .replaying(cassette)).data(from: Self.url)
        #expect(data == Data("recorded".utf8))
        let head = try #require((response as? HTTPURLResponse)?.exactHead)
        #expect(head.headers.values(for: "Set-Cookie") == ["a=1", "b=2"])
        #expect(head.source == .replayed(cassette: cassette.path, id: 1))
    }

    @Test func aMissFailsWithItsReport() async throws {
        let folder = try TemporaryFolder()
        let session = URLSession(configuration: .replaying(try self.cassette("recorded", folder)))
        let url = try #require(URL(string: "http://cassette.invalid/dogs"))
        let error = await #expect(throws: (any Error).self) { try await session.data(from: url) }
        let failure = try #require(error.flatMap { TransportFailure($0) })
        guard case .noMatch(let report) = failure.kind else {
            Issue.record("\(failure)")
            return
        }
        #expect(
            (error as NSError?)?.localizedDescription.contains(#"no recorded exchange answers "GET http://cassette.invalid/dogs""#) == true)
        #expect(report.nearest.first?.request.contains("/pets") == true)
    }

    @Test func aRecordingSessionGoesToTheNetworkOnce() async throws {
        let folder = try TemporaryFolder()
        let origin = try LoopbackOrigin { _ in [.text("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlive")] }
        let url = try #require(URL(string: origin.url + "/a"))
        for _ in 0..<2 {
            let cassette = try Cassette(folder.file("recorded.json"), mode: .once)
            #expect(try await URLSession(configuration: .recording(cassette)).data(from: url).0 == Data("live".utf8))
            try cassette.close()
        }
        #expect(origin.requests.count == 1)
    }

    @Test func aCassetteThatIsOnlyReplayedIsNotRecordedInto() async throws {
        let folder = try TemporaryFolder()
        let cassette = try self.cassette("recorded", folder)
        #expect(try await URLSession(configuration: .recording(cassette)).data(from: Self.url).0 == Data("recorded".utf8))
        #expect(cassette.recordedCount == 0)
    }

    @Test func sessionsOfDifferentCassettesShareNothing() async throws {
        let (one, two) = (try TemporaryFolder(), try TemporaryFolder())
        let sessions = [try self.cassette("one", one), try self.cassette("two", two)].map { URLSession(configuration: .replaying($0)) }
        #expect(try await sessions[1].data(from: Self.url).0 == Data("two".utf8))
        #expect(try await sessions[0].data(from: Self.url).0 == Data("one".utf8))
    }
}

@Suite struct URLSessionConfigurationTransportTests {
    @Test func itIsACopyWithoutACacheAndWithOneClass() throws {
        let base = URLSessionConfiguration.ephemeral
        base.httpAdditionalHeaders = ["X-Base": "1"]
        base.timeoutIntervalForRequest = 7
        let configuration = URLSessionConfiguration.answered(by: AdapterTransport(), basedOn: base)
        #expect(configuration !== base)
        #expect(configuration.httpAdditionalHeaders?["X-Base"] as? String == "1")
        #expect(configuration.timeoutIntervalForRequest == 7)
        #expect(configuration.urlCache == nil)
        #expect(try #require(configuration.protocolClasses).count == 1)
        #expect(base.protocolClasses?.contains { $0 is LoadingProtocol.Type } != true)
    }

    @Test func eachHasAClassOfItsOwn() throws {
        let types = (0..<20).compactMap { _ in URLSessionConfiguration.answered(by: AdapterTransport()).protocolClasses?.first }
        #expect(Set(types.map { ObjectIdentifier($0) }).count == 20)
    }
}
