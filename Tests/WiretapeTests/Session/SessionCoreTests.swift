import ClientTestSupport
import Foundation
import TapeTestSupport
import Testing
@testable import Wiretape

@Suite struct SessionCoreTests {
    @Test func numbersRiseAndIDsAreOfTheirVersion() {
        let core = SessionCore(HTTPSession.Configuration(), transport: ScriptedTransport())
        #expect((core.nextNumber(), core.nextNumber()) == (1, 2))
        let id = core.id(of: 0x0102_0304_0506_0708)
        #expect(id.uuidString.hasSuffix("-8203-040506070800") || id.uuidString.contains("-8"))
        #expect(id.uuid.6 >> 4 == 8 && id.uuid.8 >> 6 == 2)
        #expect(core.id(of: 1) != core.id(of: 2) && core.id(of: 1) == core.id(of: 1))
    }

    @Test func requestsAreActiveFromTheirStartToTheirEnd() {
        let session = HTTPSession.plain(ScriptedTransport())
        let request = session.request("http://a.test/")
        session.core.started(request)
        #expect(session.core.activeRequests.map(\.id) == [request.id])
        session.core.finished(request)
        #expect(session.core.activeRequests.isEmpty)
    }
}

@Suite struct EnvironmentSwitchTests {
    @Test(
        arguments: [
            (nil, false), ("", false), ("0", false), ("no", false), ("False", false), ("1", true), ("true", true), ("yes", true),
        ] as [(String?, Bool)])
    func wordsSwitchOnAndOff(value: String?, isOn: Bool) { #expect(EnvironmentSwitch.isOn(value) == isOn) }
}

@Suite struct FallbackTransportTests {
    @Test func requestsGoToTheNetworkUnlessTheEnvironmentKeepsThemFromIt() {
        #expect(!FallbackTransport.isOffline([:]))
        #expect(!FallbackTransport.isOffline(["WIRETAPE_OFFLINE": "0"]))
        #expect(FallbackTransport.isOffline(["WIRETAPE_OFFLINE": "1"]))
        #expect(FallbackTransport.transport(around: .shared, isOffline: false) is LiveTransport)
        #expect(FallbackTransport.transport(around: .shared, isOffline: true) is OfflineTransport)
    }
}

@Suite struct RequestRegistryTests {
    @Test func requestsAreListedInOrderUntilTheyAreRemoved() {
        let session = HTTPSession.plain(ScriptedTransport())
        let requests = (0..<3).map { session.request("http://a.test/\($0)") }
        var registry = RequestRegistry()
        #expect(registry.isIdle)
        for request in requests.reversed() { registry.add(request) }
        #expect(registry.requests.map(\.id) == requests.map(\.id))
        for request in requests { #expect(registry.remove(request).isEmpty) }
        #expect(registry.isIdle)
    }

    @Test func waiterIsResumedByTheLastRequest() async {
        let session = HTTPSession.plain(ScriptedTransport())
        let request = session.request("http://a.test/")
        var registry = RequestRegistry()
        registry.add(request)
        await withCheckedContinuation { waiter in
            let waits = registry.wait(waiter)
            #expect(waits)
            for waiter in registry.remove(request) { waiter.resume() }
        }
        await withCheckedContinuation { waiter in
            let waits = registry.wait(waiter)
            #expect(!waits, "there is nothing to wait for")
            waiter.resume()
        }
    }
}

@Suite struct SessionCoreRespondingTests {
    private func outcome(_ error: WiretapeError? = nil) -> RequestOutcome {
        let attempt = HTTPSession.RequestAttempt(
            request: .make("GET", "http://a.test/", headers: [("A", "1")]), redirects: [], error: error)
        return RequestOutcome(
            id: UUID(), attempts: [attempt], data: Data("x".utf8), fileURL: nil, trailers: [:],
            metrics: RequestMetrics(timeline: RequestMetrics.Timeline(startTime: Date())), start: .zero, error: error)
    }

    @Test func aSerializerIsAskedOnlyWhereThereIsAnAnswer() {
        let core = SessionCore(HTTPSession.Configuration(), transport: ScriptedTransport())
        let calls = Collected<Int>()
        #expect(core.respond(self.outcome(.cancelled), CountingSerializer(calls: calls)).error?.isCancelled == true)
        #expect(core.respond(download: self.outcome(.cancelled), CountingSerializer(calls: calls)).error?.isCancelled == true)
        #expect(calls.all.isEmpty)
        #expect(core.respond(self.outcome(), CountingSerializer(calls: calls)).value == 1)
        #expect(core.respond(download: self.outcome(), CountingSerializer(calls: calls)).value == 2)
        #expect(calls.all == [1, 1], "the fields that went out are seen")
    }
}

@Suite struct SessionCoreTransportTests {
    @Test func aTransportOfItsOwnComesFirst() throws {
        let transport = ScriptedTransport()
        let folder = try TemporaryFolder()
        let cassette = try Cassette(folder.file("a.json"), mode: .all)
        Cassette.$current.withValue(cassette) {
            #expect(
                SessionCore(HTTPSession.Configuration(), transport: transport).destination().transport as? ScriptedTransport === transport)
        }
    }

    @Test func aCassetteComesBeforeTheTasksAndThatBeforeTheNetwork() throws {
        let folder = try TemporaryFolder()
        let (own, current) = (try Cassette(folder.file("a.json"), mode: .all), try Cassette(folder.file("b.json"), mode: .all))
        let core = SessionCore(HTTPSession.Configuration(), cassette: own)
        let without = SessionCore(HTTPSession.Configuration())
        Cassette.$current.withValue(current) {
            #expect((core.destination().transport as? RecordingTransport)?.cassette === own)
            #expect((without.destination().transport as? RecordingTransport)?.cassette === current)
        }
        #expect(without.destination().transport as? LiveTransport === LiveTransport.shared)
    }

    /// The host has no policy, so it is refused on every platform.
    @Test(arguments: [false, true]) func trustHoldsWithAndWithoutACassette(records: Bool) async throws {
        let folder = try TemporaryFolder()
        let cassette = records ? try Cassette(folder.file("a.json"), mode: .all) : nil
        let origin = try LoopbackOrigin { _ in [.text("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")] }
        var configuration = HTTPSession.Configuration()
        configuration.serverTrust = HTTPSession.ServerTrustManager(rules: [])
        let session = HTTPSession(configuration: configuration)
        let url = origin.url.replacingOccurrences(of: "http:", with: "https:")
        let response = await Cassette.$current.withValue(cassette) { await session.request(url).serializingData().response }
        #expect(response.error?.message.contains("the ServerTrustManager has no policy for \"127.0.0.1\"") == true)
        #expect(origin.requests.isEmpty)
        #expect(try cassette?.close().recorded ?? 0 == 0, "what was not sent is no exchange")
    }
}

@Suite struct SessionNetworkTests {
    @Test func defaultConfigurationsShareOneTransport() {
        let network = SessionNetwork(HTTPSession.Configuration())
        #expect(network.recorded === LiveTransport.shared)
        #expect(network.unrecorded === LiveTransport.shared)
    }

    @Test func aTransportIsMadeOnce() {
        var configuration = HTTPSession.Configuration()
        configuration.serverTrust = HTTPSession.ServerTrustManager(rules: [])
        let network = SessionNetwork(configuration)
        #expect(network.recorded !== LiveTransport.shared)
        #expect(network.recorded === network.recorded)
        #expect(network.unrecorded === network.recorded)
    }

    @Test func aCacheHasNoPartInRecordings() {
        var configuration = HTTPSession.Configuration()
        configuration.cachedResponseHandler = .cache
        let network = SessionNetwork(configuration)
        #expect(network.recorded === LiveTransport.shared)
        #expect(network.unrecorded !== LiveTransport.shared)
        #expect(network.unrecorded === network.unrecorded)
    }
}
