@testable import CassetteFormat
import CassetteModel
import CassetteRedaction
import CassetteStore
import Foundation
import Platform
import TapeBytes
import TapeExchange
@testable import TapeRecorder
import TapeTestSupport
import Testing

@Suite struct RecorderWorkerTests {
    @Test(arguments: [false, true]) func secretsWithoutRoomAreReportedOnceAtTheEnd(isFull: Bool) throws {
        let folder = try TemporaryFolder()
        let plan = try RecordingPlan(path: folder.file("tape.json"), mode: .all, exists: false)
        let file = try #require(try RecordingFile(plan, version: "1", digest: { PortableSHA256() }))
        let vault = try #require(file.redactor).vault
        for size in isFull ? [60 << 10, 1000, 10] : [] {
            let words = [UInt8](repeating: UInt8(ascii: "x"), count: size)
            var number = 0
            while vault.placeholder(for: Array("\(number) ".utf8) + words, kind: "words", isSure: false).number > 0 { number += 1 }
        }
        let (queue, status, notices) = (RecorderQueue { _ in }, Guarded(RecorderStatus()), Guarded<[String]>([]))
        let worker = RecorderWorker(file: file, queue: queue, status: status, drained: Guarded(nil)) { text in
            notices.withLock { $0.append(text) }
        }
        for id in 1...2 {
            let exchange = TapedExchanges.exchange(id, fields: ["X-Api-Key: kT7-pQ2xV9mZ4w\(id)"], body: [])
            _ = queue.put(.exchange(exchange, stored: nil), now: 0)
        }
        _ = worker.turn()
        #expect(notices.withLock { $0 } == [])
        worker.end()
        let count = status.withLock { $0.unsearched }
        #expect(isFull ? count >= 2 : count == 0)
        let said = notices.withLock { $0 }
        #expect(said.count == (isFull ? 1 : 0))
        #expect(said.allSatisfy { $0.contains("only where it was found") && $0.contains(folder.file("tape.json")) }, "\(said)")
    }

    @Test(arguments: [[], ["snappy"], ["dcz"], ["gzip"]]) func bodiesThatCannotBeSearchedAreNamedOnceAtTheEnd(codings: [String]) throws {
        let folder = try TemporaryFolder()
        let plan = try RecordingPlan(path: folder.file("tape.json"), mode: .all, exists: false)
        let file = try #require(try RecordingFile(plan, version: "1", digest: { PortableSHA256() }))
        let (queue, status, notices) = (RecorderQueue { _ in }, Guarded(RecorderStatus()), Guarded<[String]>([]))
        let worker = RecorderWorker(file: file, queue: queue, status: status, drained: Guarded(nil)) { text in
            notices.withLock { $0.append(text) }
        }
        for id in 1...3 {
            let fields = id == 1 ? [] : codings.map { "Content-Encoding: \($0)" }
            // Neither text nor the beginning of a coding.
            let exchange = TapedExchanges.exchange(id, fields: fields, body: Array(repeating: UInt8(0x80 + id), count: 64))
            _ = queue.put(.exchange(exchange, stored: nil), now: 0)
        }
        _ = worker.turn()
        worker.end()
        let found = status.withLock { $0.unsearchedExchanges }
        #expect(found.count == (codings.isEmpty ? 0 : 2))
        let said = notices.withLock { $0 }
        #expect(said.count == (codings.isEmpty ? 0 : 1))
        #expect(said.allSatisfy { $0.contains("2 exchanges") && $0.contains("exchange 2") && $0.contains(codings.first ?? "") }, "\(said)")
    }

    @Test func memoryGoesBackOnceABurstIsOver() throws {
        let bench = try RecorderBench()
        func count() -> Int { bench.givenBack.withLock { $0 } }
        let text = String(repeating: "x", count: 1 << 20)
        for id in 1...15 { bench.put(TapedExchanges.simple(id, body: text)) }
        bench.turn()
        bench.turn(after: 200)
        #expect(count() == 0)
        for id in 16...17 { bench.put(TapedExchanges.simple(id, body: text)) }
        bench.turn(after: 200)
        bench.turn(after: 99)
        #expect(count() == 0)
        bench.turn(after: 1)
        #expect(count() == 1)
        bench.turn(after: 1000)
        #expect(count() == 1)
    }

    @Test func connectionsWaitForAPortionOfTheBatch() throws {
        let bench = try RecorderBench()
        let recorded = Guarded<[Int]>([])
        bench.drained.withLock { $0 = { [status = bench.status] in recorded.withLock { $0.append(status.withLock { $0.recorded }) } } }
        let text = String(repeating: "x", count: 1 << 20)
        for id in 1...9 { bench.put(TapedExchanges.simple(id, body: text)) }
        bench.turn()
        #expect(bench.now.recorded == 9)
        #expect(try #require(recorded.withLock { $0 }.first) < 9, "told before the batch was in the file")
    }

    @Test func theNumberOfProcessorsChangesNothing() throws {
        let exchanges = try CodedExchanges.sixty()
        func recorded(processors: Int) throws -> [[UInt8]] {
            let bench = try RecorderBench(processors: processors)
            for exchange in exchanges {
                bench.put(exchange)
                if exchange.interaction.id % 10 == 0 { bench.turn(after: 5) }
            }
            bench.worker.end()
            #expect(bench.now.recorded == exchanges.count)
            return [try bench.folder.read("tape.json"), try bench.folder.read("tape.bodies/undeveloped.raw")]
        }
        let one = try recorded(processors: 1)
        for processors in [2, 9] { #expect(try recorded(processors: processors) == one, "\(processors)") }
    }

    @Test func proofsBetweenBurstsChangeNothingAndAreDoneBeforeTheClose() throws {
        let exchanges = try CodedExchanges.sixty()
        func recorded(pauses: Bool) throws -> (files: [String: [UInt8]], proofs: RestorationProofs) {
            let bench = try RecorderBench()
            for exchange in exchanges {
                bench.put(exchange)
                guard exchange.interaction.id % 20 == 0 else { continue }
                bench.turn()
                #expect(bench.worker.restTime == RecorderWorker.nap, "it would work while others may come")
                guard pauses else { continue }
                bench.turn(after: 99)
                #expect(bench.worker.restTime == RecorderWorker.longNap)
                bench.turn(after: 1)
                for _ in 0..<20 where bench.worker.restTime == 0 { bench.turn() }
                #expect(bench.worker.restTime == RecorderWorker.longNap, "it does not come to an end")
            }
            bench.worker.end()
            let proofs = bench.file.proofs
            _ = try bench.file.close(keepsOld: false, hasUndecoded: true) { _, _ in }
            var files = ["tape.json": try bench.folder.read("tape.json")]
            for name in try bench.folder.names(in: "tape.bodies") { files[name] = try bench.folder.read("tape.bodies/\(name)") }
            #expect(try RecordedExchanges.read(bench.folder.file("tape.json")).allSatisfy { !$0.isUndecoded })
            return (files, proofs)
        }
        let busy = try recorded(pauses: false)
        let idle = try recorded(pauses: true)
        #expect(idle.files == busy.files)
        let bodies = exchanges.map { exchange -> [UInt8] in
            var digest = PortableSHA256()
            exchange.responseBody?.bytes.withUnsafeBytes { digest.update($0) }
            return digest.finalize()
        }
        func proved(by proofs: RestorationProofs) -> Int {
            bodies.count { identity in (1...9).contains { proofs.hold(DeflateParameters(level: $0), for: identity) } }
        }
        #expect(proved(by: busy.proofs) == 0)
        // Only those that were decoded immediately, and those that were changed.
        #expect(proved(by: idle.proofs) > 40)
    }

    #if compiler(>=6.3) && os(Linux)
    /// Needs a process of its own, since a limit on file sizes applies to the whole process.
    @Test func aFullDiskIsReportedOnceAndRecordingResumesWithRoom() async {
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            func limit(_ bytes: rlim_t) {
                var limit = rlimit()
                getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
                limit.rlim_cur = bytes == 0 ? limit.rlim_max : bytes
                setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            }
            let folder = try TemporaryFolder()
            let full = Gate("somebody was told of the full disk")
            let again = Gate("somebody was told of room")
            let path = folder.file("tape.json")
            let recorder = try #require(
                try Recorder(
                    RecordingPlan(path: path, mode: .all, exists: false), version: "1",
                    notify: { $0.hasPrefix("recording again") ? again.open() : full.open() }))
            func put(_ id: Int) throws {
                let stored = Gate("exchange \(id) is written, or could not be")
                _ = recorder.put(
                    .exchange(TapedExchanges.simple(id, body: String(repeating: "x", count: 10_000)), stored: { _ in stored.open() }))
                try stored.wait()
            }
            try put(1)
            #expect(!recorder.currentStatus.isDiskFull)
            limit(20_000)
            try put(2)
            try put(3)
            try full.wait()
            #expect(recorder.currentStatus.isDiskFull)
            #expect((recorder.currentStatus.obstacle?.cause as? CassetteError)?.code == .noSpace)
            #expect(recorder.currentStatus.held == 2)
            #expect(recorder.currentStatus.recorded == 1)
            #expect(recorder.currentStatus.firstProblem?.message.contains(path) == true)
            #expect(try RecordedExchanges.read(path).map(\.id) == [1])
            limit(0)
            try again.wait()
            try put(4)
            #expect(!recorder.currentStatus.isDiskFull)
            #expect(recorder.currentStatus.held == 0)
            #expect(recorder.currentStatus.lost == 0)
            _ = try recorder.close(keepsOld: false)
            #expect(try RecordedExchanges.read(path).map(\.id) == [1, 2, 3, 4])
        }
    }
    #endif

    @Test func aBodyTooLargeForMemoryComesInBlocksAndIsOneSidecar() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("tape.json")
        let recorder = try #require(try Recorder(RecordingPlan(path: path, mode: .all, exists: false), version: "1"))
        let block = [UInt8](repeating: 9, count: 70_000)
        for _ in 0..<3 { _ = recorder.put(.block(exchange: 1, side: .response, bytes: block)) }
        _ = recorder.put(
            .exchange(
                TapedExchanges.exchange(1, fields: ["Content-Type: image/png"], body: [1, 2], isSpilled: true, size: 210_002), stored: nil))
        _ = try recorder.close(keepsOld: false)
        let body = try #require(try RecordedExchanges.read(path).first?.response?.body)
        guard case .file(let sidecar) = body.content else { throw TestProblem("no sidecar") }
        #expect(try folder.read(sidecar.path) == block + block + block + [1, 2])
        #expect(sidecar.path.hasSuffix(".png"))
    }
}
