import ClientTestSupport
import Foundation
import TapeTestSupport
import Testing

@testable import Wiretape

@Suite struct SessionCoreTransportTests {
    @Test func aTransportOfItsOwnComesFirst() throws {
        let transport = ScriptedTransport()
        let folder = try TemporaryFolder()
        let cassette = try Cassette(folder.file("a.json"), mode: .all)
        Cassette.$current.withValue(cassette) {
            #expect(SessionCore(Session.Configuration(), transport: transport).transportOfNow as? ScriptedTransport === transport)
        }
    }

    @Test func aCassetteComesBeforeTheTasksAndThatBeforeTheNetwork() throws {
        let folder = try TemporaryFolder()
        let (own, current) = (try Cassette(folder.file("a.json"), mode: .all), try Cassette(folder.file("b.json"), mode: .all))
        let core = SessionCore(Session.Configuration(), cassette: own)
        let without = SessionCore(Session.Configuration())
        Cassette.$current.withValue(current) {
            #expect((core.transportOfNow as? RecordingTransport)?.cassette === own)
            #expect((without.transportOfNow as? RecordingTransport)?.cassette === current)
        }
        #expect(without.transportOfNow as? LiveTransport === LiveTransport.shared)
    }

    /// No policy is for the host, and so it is refused on every platform.
    @Test(arguments: [false, true]) func trustHoldsWithAndWithoutACassette(records: Bool) async throws {
        let folder = try TemporaryFolder()
        let cassette = records ? try Cassette(folder.file("a.json"), mode: .all) : nil
        let origin = try LoopbackOrigin { _ in [.text("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")] }
        var configuration = Session.Configuration()
        configuration.serverTrust = ServerTrustManager(rules: [])
        let session = Session(configuration: configuration)
        let url = origin.url.replacingOccurrences(of: "http:", with: "https:")
        let response = await Cassette.$current.withValue(cassette) { await session.request(url).serializingData().response }
        #expect(response.error?.message.contains("the ServerTrustManager has no policy for \"127.0.0.1\"") == true)
        #expect(origin.requests.isEmpty)
        #expect(try cassette?.close().recorded ?? 0 == 0, "what was not sent is no exchange")
    }
}
