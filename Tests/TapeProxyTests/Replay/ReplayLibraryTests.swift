import NIOCore
import NIOPosix
import TapeCore
import TapeExchange
import Testing
@testable import TapeProxy

@Suite struct ReplayLibraryTests {
    @Test func anAnswerIsLoadedOnceAndThenComesAtOnce() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("tape.json")
        let recorder = try #require(try Recorder(RecordingPlan(path: path, mode: .all, exists: false), version: "1"))
        _ = recorder.put(.exchange(TapedExchanges.exchange(1, fields: ["Content-Length: 5"], body: Array("hello".utf8)), stored: nil))
        _ = recorder.put(
            .exchange(
                TapedExchanges.exchange(2, fields: ["Content-Type: image/png"], body: [UInt8](repeating: 3, count: 400_000)), stored: nil))
        _ = try recorder.close(keepsOld: false)
        let cassette = try RecordedCassette(path: path)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let threads = NIOThreadPool(numberOfThreads: 1)
        threads.start()
        let loop = group.next()
        let promise = loop.makePromise(of: [String].self)
        loop.execute {
            var log: [String] = []
            let library = ReplayLibrary(loop: loop, cassette: cassette, threads: threads)
            library.answer(0) { result in
                log.append((try? result.get().wire.map { String(buffer: $0) }) ?? "nothing")
                library.answer(0) { _ in log.append("at once") }
                log.append("behind it")
                library.answer(1) { result in
                    if case .success(let answer) = result, case .file(let sidecar) = answer.payload {
                        log.append("\(sidecar.size) in a file")
                    }
                    promise.succeed(log)
                }
            }
        }
        #expect(
            try promise.futureResult.wait() == [
                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "at once", "behind it", "400000 in a file",
            ])
        try group.syncShutdownGracefully()
        try threads.syncShutdownGracefully()
    }
}
