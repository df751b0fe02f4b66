import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import NIOPosix
import Testing
@testable import TapeProxy

@Suite struct ProxyContextTests {
    @Test func whoeverWaitsForTheRecorderIsCalledOnce() throws {
        let proxy = try EmbeddedProxy.context(EmbeddedEventLoop())
        let owner = EmbeddedChannel()
        var calls: [Int] = []
        proxy.whenRecorderDrains(owner) { calls.append(1) }
        proxy.whenRecorderDrains(owner) { calls.append(2) }
        proxy.recorderDrained()
        proxy.recorderDrained()
        #expect(calls == [2], "one call per owner")
    }

    @Test func aCallMayWaitAgain() throws {
        let proxy = try EmbeddedProxy.context(EmbeddedEventLoop())
        let owner = EmbeddedChannel()
        var calls = 0
        proxy.whenRecorderDrains(owner) {
            calls += 1
            proxy.whenRecorderDrains(owner) { calls += 1 }
        }
        proxy.recorderDrained()
        #expect(calls == 1)
        proxy.recorderDrained()
        #expect(calls == 2)
    }

    @Test func anIPv6AddressIsShownInBrackets() throws {
        let loop = EmbeddedEventLoop()
        let proxy = try EmbeddedProxy.context(loop)
        proxy.listens(on: "::1", port: 7070)
        #expect(proxy.address == "[::1]:7070")
    }

    @Test func aStopWithoutConnectionsIsDoneAtOnce() throws {
        let loop = EmbeddedEventLoop()
        let proxy = try EmbeddedProxy.context(loop)
        let done = loop.makePromise(of: Void.self)
        proxy.stop(then: done)
        try done.futureResult.wait()
        #expect(proxy.isStopping)
    }
}
