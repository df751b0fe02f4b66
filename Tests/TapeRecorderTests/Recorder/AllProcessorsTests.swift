import Dispatch
import Platform
import TapeBytes
import TapeTestSupport
import Testing
@testable import TapeRecorder

/// Threads of several concurrent recordings; `make sanitize ARGS=thread` runs more of them under ThreadSanitizer.
@Suite struct AllProcessorsTests {
    private func recorded(processors: Int, batch: Int) throws -> [String: [UInt8]] {
        let bench = try RecorderBench(processors: processors)
        for exchange in try CodedExchanges.sixty() {
            bench.put(exchange)
            if exchange.interaction.id % batch == 0 { bench.turn(after: 5) }
        }
        bench.worker.end()
        _ = try bench.file.close(keepsOld: false, hasUndecoded: true) { _, _ in }
        var files = ["tape.json": try bench.folder.read("tape.json")]
        for name in try bench.folder.names(in: "tape.bodies") { files[name] = try bench.folder.read("tape.bodies/\(name)") }
        return files
    }

    @Test func recordingsAtOnceDoNotDisturbEachOther() throws {
        let one = try self.recorded(processors: 1, batch: 10)
        let rounds = getenv("WIRETAPE_SANITIZED") == nil ? 1 : 3
        for round in 0..<rounds {
            let different = Guarded<[Int]>([])
            DispatchQueue.concurrentPerform(iterations: 4) { number in
                let files = try? self.recorded(processors: number * 3, batch: 10)
                if files != one { different.withLock { $0.append(number) } }
            }
            #expect(different.withLock { $0 } == [], "round \(round)")
        }
    }
}
