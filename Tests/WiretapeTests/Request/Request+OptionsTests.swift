import Foundation
import Testing

@testable import Wiretape

@Suite struct RequestOptionsTests {
    @Test func progressIsToldFromTheTransportsEvents() async throws {
        let transport = ScriptedTransport()
        let session = Session.plain(transport)
        let request = session.upload(Data("four".utf8), to: "http://a.test/")
        let (uploads, downloads) = (request.uploadProgress(), request.downloadProgress())
        let task = request.serializingString()
        let exchange = await transport.exchange(1)
        exchange.send(.sent(2, of: 4))
        exchange.head(200, ["Content-Length": "3"])
        exchange.chunk("a")
        exchange.chunk("bc")
        exchange.send(.end)
        #expect(try await task.value == "abc")
        var up: [Double?] = []
        for await progress in uploads { up.append(progress.fractionCompleted) }
        var down: [Int64] = []
        for await progress in downloads { down.append(progress.completedUnitCount) }
        #expect(up == [0.5, 1, 1])
        #expect(down == [1, 3, 3])
    }

    @Test func theTotalOfACodedBodyIsNotKnownBeforeItsEnd() async throws {
        let session = Session.answering(200, ["Content-Length": "3", "Content-Encoding": "gzip"], "longer")
        let request = session.request("http://a.test/")
        let stream = request.downloadProgress()
        _ = try await request.serializingData().value
        var seen: [Int64?] = []
        for await progress in stream { seen.append(progress.totalUnitCount) }
        #expect(seen == [nil, 6])
    }

    @Test func closuresAreCalledOnTheirQueueAlsoLate() async throws {
        let session = Session.answering(200, [:], "abc")
        let request = session.request("http://a.test/")
        _ = try await request.serializingData().value
        let queue = DispatchQueue(label: "progress")
        await withCheckedContinuation { continuation in
            request.downloadProgress(queue: queue) { progress in
                dispatchPrecondition(condition: .onQueue(queue))
                #expect(progress.completedUnitCount == 3)
                continuation.resume()
            }
        }
        await withCheckedContinuation { continuation in
            request.uploadProgress(queue: queue) { _ in continuation.resume() }
        }
    }
}
