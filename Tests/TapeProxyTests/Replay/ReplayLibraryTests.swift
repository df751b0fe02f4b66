import CassetteFormat
import CassetteModel
import CassettePlayback
import CassetteStore
import Foundation
import NIOCore
import NIOPosix
import TapeBytes
import TapeExchange
@testable import TapeProxy
@testable import TapeRecorder
import TapeTestSupport
import Testing

@Suite struct ReplayLibraryTests {
    @Test func answerReadByOneLoopIsInTheMemoryOfAll() throws {
        let folder = try TemporaryFolder()
        try folder.write(RunningSessions.cassette("http://h.test/", "boris"), to: "tape.json")
        let cassette = try RecordedCassette(path: folder.file("tape.json"))
        let disk = WorkPool(threads: 1)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        defer {
            disk.stop()
            try? group.syncShutdownGracefully()
        }
        let loopGates = group.makeIterator().map { LoopGate($0) }
        let cache = ReplayCache(.one)
        let libraries = try PerLoop(through: loopGates) { _, loop in
            ReplayLibrary(loop: loop, cassette: cassette, disk: disk, cache: cache)
        }
        #expect(try libraries.map { $0.ready(0) == nil } == [true, true])
        let loop = loopGates[0].loop
        let read = loop.makePromise(of: Void.self)
        loop.execute { libraries.value(on: loop).answer(0) { read.completeWith($0.map { _ in }.mapError { $0 }) } }
        try read.futureResult.wait()
        // The file is gone from the disk, so it is not read again.
        try folder.write([], to: "tape.json")
        #expect(try libraries.map { $0.ready(0).map { String(decoding: $0.bytes, as: UTF8.self).hasSuffix("boris") } } == [true, true])
    }

    /// The payload of the only answer, and its bytes if they are streamed; nil if it is in memory.
    private func streamed(_ interaction: Interaction, _ folder: TemporaryFolder) throws -> (answer: RecordedAnswer, bytes: [UInt8]?) {
        let path = folder.file("tape.json")
        try? FileManager.default.removeItem(atPath: path)
        let appender = try CassetteAppender.create(path, recorder: "wiretape 1")
        var writer = JSONWriter(reserving: 1024)
        writer.removeAll(baseDepth: 2)
        InteractionEncoder.encode(interaction, into: &writer)
        appender.stage { $0 += writer.bytes }
        try appender.commit()
        let cassette = try RecordedCassette(path: path)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let disk = WorkPool(threads: 1)
        defer {
            try? group.syncShutdownGracefully()
            disk.stop()
        }
        let loop = group.next()
        let promise = loop.makePromise(of: (RecordedAnswer, [UInt8]?).self)
        loop.execute {
            let library = ReplayLibrary(loop: loop, cassette: cassette, disk: disk)
            library.answer(0) { result in
                guard case .success(let answer) = result, case .coded(let body, _) = answer.payload else {
                    return promise.completeWith(result.map { ($0, nil) }.mapError { $0 })
                }
                let stream = library.open(.coded(body))
                var bytes: [UInt8] = []
                func more() {
                    stream.next { piece in
                        switch piece {
                        case .bytes(let piece):
                            bytes += piece
                            more()
                        case .last(let piece): promise.succeed((answer, bytes + piece))
                        case .damaged: promise.succeed((answer, nil))
                        }
                    }
                }
                more()
            }
        }
        let (answer, bytes) = try promise.futureResult.wait()
        return (answer, bytes)
    }

    private func developed(_ content: [UInt8], _ type: String, level: Int = 6, wire own: [UInt8]? = nil, _ folder: TemporaryFolder) throws
        -> (interaction: Interaction, wire: [UInt8])
    {
        let parameters = DeflateParameters(level: level)
        let wire = try #require(own ?? content.withUnsafeBytes { Deflater.encode($0, parameters, format: .gzip) })
        let headers = HeaderFields(["Content-Type: \(type)", "Content-Encoding: gzip", "Content-Length: \(wire.count)"])
        var sink = BodyStoreSink(store: try BodyStore(cassettePath: folder.file("tape.json")), digest: { FastSHA256() })
        var developer = WireBodyDecoder(makeDigest: { FastSHA256() })
        let body = try developer.decode(wire, headers: headers, origin: "o", sink: &sink)
        return (
            Interaction(
                id: 1, started: Timestamp(microseconds: 0), request: RecordedRequest(method: "GET", url: "http://a/"),
                response: RecordedResponse(status: 200, reason: Array("OK".utf8), headers: headers, body: body)), wire
        )
    }

    private static let bytes = (0..<400_000).map { UInt8(truncatingIfNeeded: $0 >> 3 ^ $0 * $0) }
    private static let form =
        Array("--X\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nsmall\r\n--X\r\nContent-Type: image/png\r\n\r\n".utf8) + Self.bytes
        + Array("\r\n--X--\r\n".utf8)

    @Test(arguments: [
        (Self.form, "multipart/form-data; boundary=X"), (Self.bytes, "image/png"),
        ((0..<300_000).flatMap { Array("\($0) ".utf8) }, "text/plain"),
    ])
    func aLargeCodedBodyIsCodedAgainWhileItIsSent(_ content: [UInt8], _ type: String) throws {
        let folder = try TemporaryFolder()
        let (interaction, wire) = try self.developed(content, type, folder)
        #expect(interaction.response?.body?.original == nil)
        let (answer, bytes) = try self.streamed(interaction, folder)
        #expect(bytes == wire)
        #expect(answer.framing == .length(wire.count))
        // None of it is held in memory.
        #expect(answer.weight < 1024)
    }

    @Test func anEditedPartOfALargeCodedBodyIsSentWithItsLength() throws {
        // There are bytes after the stream, so no parameters reproduce them, and the wire bytes are kept.
        for tail in [[UInt8](), [0]] {
            let folder = try TemporaryFolder()
            let whole = try #require(Self.form.withUnsafeBytes { Deflater.encode($0, DeflateParameters(level: 6), format: .gzip) })
            var (interaction, wire) = try self.developed(Self.form, "multipart/form-data; boundary=X", wire: whole + tail, folder)
            #expect((interaction.response?.body?.original == nil) == tail.isEmpty)
            #expect(try self.streamed(interaction, folder).bytes == wire)
            guard case .multipart(var parts)? = interaction.response?.body?.content else {
                Issue.record("not taken apart")
                return
            }
            parts.parts[0].content = .data(.text(Array("edited by hand".utf8)))
            interaction.response?.body?.content = .multipart(parts)
            let (answer, bytes) = try self.streamed(interaction, folder)
            let read = try DecodedBeginning.read(ByteSource(try #require(bytes)), .coded([.gzip]))
            #expect(read.isWhole && read.bytes.count == Self.form.count + 9)
            #expect(answer.framing == .length(bytes?.count ?? 0))
        }
    }

    @Test func aSmallCodedBodyIsHeld() throws {
        let folder = try TemporaryFolder()
        let (interaction, wire) = try self.developed(Array(Self.bytes.prefix(2000)), "text/plain", folder)
        let (answer, streamed) = try self.streamed(interaction, folder)
        #expect(streamed == nil)
        guard case .bytes(let bytes) = answer.payload else {
            Issue.record("not in memory")
            return
        }
        #expect(bytes == wire)
    }

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
        let disk = WorkPool(threads: 1)
        let loop = group.next()
        let promise = loop.makePromise(of: [String].self)
        loop.execute {
            var log: [String] = []
            let library = ReplayLibrary(loop: loop, cassette: cassette, disk: disk)
            library.answer(0) { result in
                log.append((try? ReadyAnswer(result.get()).map { String(decoding: $0.bytes, as: UTF8.self) }) ?? "nothing")
                log.append(library.ready(0) == nil ? "not held" : "held")
                library.answer(0) { _ in
                    library.answer(0) { _ in log.append("at once") }
                    log.append("behind it")
                }
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
                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "held", "at once", "behind it", "400000 in a file",
            ])
        try group.syncShutdownGracefully()
        disk.stop()
    }
}

@Suite struct ReplayCheckTests {
    private func problem(_ lines: [String], status: Int = 200) -> String? {
        ReplayCheck.problem(
            of: Interaction(
                id: 1, started: Timestamp(microseconds: 0), request: RecordedRequest(method: "GET", url: "http://a.test/"),
                response: RecordedResponse(
                    status: status, headers: HeaderFields(lines), body: Body(size: 2, content: .text(Array("ab".utf8))))))
    }

    @Test func answerThatCanBeReplayedHasNoProblem() {
        #expect(self.problem(["Content-Length: 2", "X: y"]) == nil)
        #expect(self.problem(["Content-Length: 9"]) == nil, "the length follows an edited body")
        #expect(self.problem(["Transfer-Encoding: chunked"]) == nil && self.problem([], status: 204) == nil)
    }

    @Test func answerThatCannotBeReplayedHasAReason() {
        #expect(self.problem(["Content-Length: 2", "Content-Length: 3"])?.contains("Content-Length") == true)
        #expect(self.problem(["Content Type: x"])?.contains("white space") == true)
        #expect(self.problem([], status: 102)?.contains("interim") == true)
    }
}
