import Foundation
import TapeCore
import TapeExchange
import Testing
@testable import TapeProxy

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

@Suite struct RecorderWorkerTests {
    #if compiler(>=6.3) && os(Linux)
    /// In a process of its own, since a limit on the size of files is one of the whole process.
    @Test func aDiskThatIsFullIsSaidOnceAndRecordingGoesOnWhenThereIsRoom() async {
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            func limit(_ octets: rlim_t) {
                var limit = rlimit()
                getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
                limit.rlim_cur = octets == 0 ? limit.rlim_max : octets
                setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            }
            let folder = try TemporaryFolder()
            let full = Gate("somebody was told of the full disk")
            let again = Gate("somebody was told of room")
            let path = folder.file("tape.json")
            let recorder = try #require(
                try Recorder(RecordingPlan(path: path, mode: .all, exists: false), version: "1") {
                    $0.hasPrefix("recording again") ? again.open() : full.open()
                })
            func put(_ id: Int) throws {
                let stored = Gate("exchange \(id) is written, or could not be")
                _ = recorder.put(
                    .exchange(TapedExchanges.simple(id, body: String(repeating: "x", count: 10_000)), stored: { stored.open() }))
                try stored.wait()
            }
            try put(1)
            #expect(!recorder.isDiskFull)
            limit(20_000)
            try put(2)
            try put(3)
            try full.wait()
            #expect(recorder.isDiskFull)
            #expect(recorder.currentStatus.held == 2)
            #expect(recorder.currentStatus.recorded == 1)
            #expect(recorder.currentStatus.firstProblem?.contains(path) == true)
            #expect(try RunningProxy.interactions(path).map(\.id) == [1])
            limit(0)
            try again.wait()
            try put(4)
            #expect(!recorder.isDiskFull)
            #expect(recorder.currentStatus.held == 0)
            #expect(recorder.currentStatus.lost == 0)
            _ = try recorder.close(keepsOld: false)
            #expect(try RunningProxy.interactions(path).map(\.id) == [1, 2, 3, 4])
        }
    }

    @Test(arguments: [ProxyConfiguration.DiskFullPolicy.pass, .refuse])
    func trafficOnAFullDiskPassesOrIsRefusedAsAsked(policy: ProxyConfiguration.DiskFullPolicy) async {
        let refuses = policy == .refuse
        await #expect(processExitsWith: .success) { [refuses = refuses as Bool] in
            signal(SIGXFSZ, SIG_IGN)
            let body = String(repeating: "x", count: 30_000)
            let origin = try RawOrigin { connection in
                for _ in 0..<(refuses ? 1 : 2) {
                    try connection.expectRequest("GET /")
                    try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 30000\r\n\r\n\(body)")
                }
            }
            let proxy = try RunningProxy {
                $0.diskFullPolicy = refuses ? .refuse : .pass
                $0.durability = .full
            }
            var limit = rlimit(rlim_cur: 20_000, rlim_max: 20_000)
            getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            limit.rlim_cur = 20_000
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            let client = try proxy.connect()
            try client.send(origin.request())
            #expect(String(decoding: try client.readMessage(), as: UTF8.self).hasSuffix(body))
            try client.send(origin.request())
            let second = String(decoding: try client.readMessage(), as: UTF8.self)
            #expect(
                refuses ? second.hasPrefix("HTTP/1.1 507 Insufficient Storage\r\nWiretape-Error: disk-full\r\n") : second.hasSuffix(body))
            #expect(proxy.recorder?.currentStatus.isDiskFull == true)
            origin.finish()
        }
    }
    #endif

    @Test func withFullDurabilityTheAnswersEndComesBehindTheSyncedFile() throws {
        let origin = try RawOrigin { connection in
            for path in ["/1", "/2"] {
                try connection.expectRequest("GET \(path)")
                try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        }
        let proxy = try RunningProxy { $0.durability = .full }
        let client = try proxy.connect()
        for count in 1...2 {
            try client.send(origin.request("GET", "/\(count)"))
            #expect(String(decoding: try client.readMessage(), as: UTF8.self).hasSuffix("ok"))
            #expect(try RunningProxy.interactions(proxy.folder.file("tape.json")).count == count)
        }
        origin.finish()
    }

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
        let body = try #require(try RunningProxy.interactions(path).first?.response?.body)
        guard case .file(let sidecar) = body.content else { throw RawError("no sidecar") }
        #expect(try folder.read(sidecar.path) == block + block + block + [1, 2])
        #expect(sidecar.path.hasSuffix(".png"))
    }
}
