import CassetteFormat
import CassetteModel
import CassetteRedaction
import CassetteStore
import Foundation
import TapeBytes
import TapeExchange
@testable import TapeRecorder
import TapeTestSupport
import Testing

@Suite struct CassetteFinisherTests {
    /// A cassette with raw bodies, as a killed recorder leaves it.
    private func undecoded(_ folder: TemporaryFolder, texts: [String]) throws {
        let path = folder.file("tape.json")
        let store = try BodyStore(cassettePath: path)
        var maker = InteractionMaker(store: store, digest: { PortableSHA256() })
        let appender = try CassetteAppender.create(path, recorder: "wiretape 1")
        var writer = JSONWriter(reserving: 1024)
        for (index, text) in texts.enumerated() {
            let wire = try #require(Array(text.utf8).withUnsafeBytes { Deflater.encode($0, DeflateParameters(level: 9), format: .gzip) })
            let exchange = TapedExchanges.exchange(
                index + 1, started: 100 - index, fields: ["Content-Type: text/plain", "Content-Encoding: gzip"], body: wire)
            let made = try maker.interaction(of: exchange, mayDecode: false)
            writer.removeAll(baseDepth: 2)
            InteractionEncoder.encode(made, into: &writer)
            appender.stage { $0 += writer.bytes }
        }
        try appender.commit()
        try store.syncAll()
        try appender.sync()
    }

    @Test func rawBodiesAreDevelopedPutInOrderAndTheSpoolRemoved() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("tape.json")
        try self.undecoded(folder, texts: ["first", "second"])
        #expect(try RecordedExchanges.read(path).allSatisfy { $0.isUndecoded })
        var told: [Int] = []
        #expect(try CassetteFinisher.decode(path, version: "1") { done, _ in told.append(done) } == 2)
        let interactions = try RecordedExchanges.read(path)
        #expect(interactions.map { $0.response?.body?.content } == [.text(Array("second".utf8)), .text(Array("first".utf8))])
        #expect(try folder.names(in: "tape.bodies").isEmpty)
        #expect(told == [0, 1, 2])
        #expect(try CassetteFinisher.decode(path, version: "1") { _, _ in } == 0)
    }

    @Test func anExchangeThatCannotBeReadEndsDecodingWithItsLine() throws {
        for number in [1, 64, 65, 130, 200] {
            let folder = try TemporaryFolder()
            let path = folder.file("tape.json")
            try self.undecoded(folder, texts: (1...200).map { "text \($0)" })
            // The file has the exchanges in the order of their numbers, and decoding reverses it.
            var text = String(decoding: try folder.read("tape.json"), as: UTF8.self)
            let part = try #require(text.range(of: "\"id\": \(number),"))
            let method = try #require(text.range(of: "\"method\": \"GET\"", range: part.upperBound..<text.endIndex))
            text.replaceSubrange(method, with: "\"method\": 7")
            let line = text[..<method.lowerBound].count { $0 == "\n" } + 1
            try folder.write(Array(text.utf8), to: "tape.json")
            let error = #expect(throws: CassetteError.self) { try CassetteFinisher.decode(path, version: "1") { _, _ in } }
            #expect(error?.message.contains("'\(path)' line \(line): request.method") == true, "\(error?.message ?? "")")
            #expect(try folder.read("tape.json") == Array(text.utf8))
            let redaction = #expect(throws: CassetteError.self) {
                try CassetteRedaction.redact(path, rules: .standard, version: "1", dryRun: false)
            }
            #expect(redaction?.message.contains("'\(path)' line \(line): request.method") == true, "\(redaction?.message ?? "")")
        }
    }

    @Test func aDamagedRawBodyStaysRawAndDelaysNothing() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("tape.json")
        try self.undecoded(folder, texts: ["first", "second"])
        var bytes = try folder.read("tape.bodies/undeveloped.raw")
        bytes[12] ^= 0xff
        try folder.write(bytes, to: "tape.bodies/undeveloped.raw")
        #expect(try CassetteFinisher.decode(path, version: "1") { _, _ in } == 1)
        #expect(try RecordedExchanges.read(path).map(\.isUndecoded) == [false, true])
        #expect(try folder.names(in: "tape.bodies").contains("undeveloped.raw"))
        let unreadable = try CassetteFinisher.unreadableBodies(in: path) { PortableSHA256() }
        #expect(unreadable.count == 1 && unreadable.allSatisfy { !$0.reason.isEmpty })
        try FileManager.default.removeItem(atPath: folder.file("tape.bodies/undeveloped.raw"))
        #expect(try CassetteFinisher.unreadableBodies(in: path, digest: { PortableSHA256() }).map(\.exchange) == unreadable.map(\.exchange))
    }

    /// An upload that was not parsed is as unreadable without its file as a body in the spool.
    @Test(arguments: ["changed", "missing"]) func anUploadThatStaysRawBecauseItsFileIsDamagedIsNamed(damage: String) throws {
        let folder = try TemporaryFolder()
        let path = folder.file("tape.json")
        let store = try BodyStore(cassettePath: path)
        let text = Array("--x\r\nContent-Disposition: form-data; name=a\r\n\r\nb\r\n--x--\r\n".utf8)
        let spool = try store.makeSpool()
        try spool.write(text)
        var digest = PortableSHA256()
        text.withUnsafeBytes { digest.update($0) }
        let sidecar = try spool.finish(sha256: Hex.encode(digest.finalize()), ext: "bin")
        let request = RecordedRequest(
            method: "POST", url: "http://a/", headers: HeaderFields(["Content-Type: multipart/form-data; boundary=x"]),
            body: Body(size: text.count, content: .file(sidecar)))
        let appender = try CassetteAppender.create(path, recorder: "test")
        var writer = JSONWriter(reserving: 1024)
        writer.removeAll(baseDepth: 2)
        InteractionEncoder.encode(Interaction(id: 1, started: Timestamp(microseconds: 1), request: request), into: &writer)
        appender.stage { $0 += writer.bytes }
        try appender.commit()
        try appender.sync()
        #expect(try CassetteFinisher.unreadableBodies(in: path, digest: { PortableSHA256() }).isEmpty)
        if damage == "missing" {
            try FileManager.default.removeItem(atPath: folder.file(sidecar.path))
        } else {
            try folder.write(text.map { $0 ^ 1 }, to: sidecar.path)
        }
        let unreadable = try CassetteFinisher.unreadableBodies(in: path) { PortableSHA256() }
        #expect(unreadable.map(\.exchange) == [1] && unreadable.allSatisfy { $0.reason.contains(sidecar.path) })
    }

    /// Stored blocks of seven bytes, which zlib never writes.
    private static func blocks(of text: [UInt8]) -> [UInt8] {
        var bytes = GzipHeader.plain.bytes
        for start in stride(from: 0, to: text.count, by: 7) {
            let block = text[start..<min(text.count, start + 7)]
            let size = UInt8(block.count)
            bytes += [start + 7 >= text.count ? 1 : 0, size, 0, ~size, 0xff] + block
        }
        for value in [PlainCRC32.value(text), UInt32(text.count)] {
            bytes += (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        return bytes
    }

    /// Bodies of two origins with different compressors, one of which is not zlib, repeated bodies, parts that go to files, and some bodies
    /// that are already readable.
    private func mixed(_ folder: TemporaryFolder) throws {
        let path = folder.file("tape.json")
        let store = try BodyStore(cassettePath: path)
        var maker = InteractionMaker(store: store, digest: { PortableSHA256() })
        let appender = try CassetteAppender.create(path, recorder: "wiretape 1")
        var writer = JSONWriter(reserving: 1024)
        var generator = SeededGenerator(seed: 9)
        for id in 1...220 {
            // Several levels reproduce short and repetitive content.
            var text = Array(
                (id % 7 == 0 ? "the same again" : String(repeating: String(generator.next(), radix: 4), count: 1 + id % 20)).utf8)
            if id % 40 == 0 { text = Array(repeatElement(text, count: 90_000 / text.count).joined()) }
            let levels = id % 3 == 0 ? [9, 1] : [6]
            let parameters = DeflateParameters(level: levels.randomElement(using: &generator) ?? 6)
            var wire = try #require(text.withUnsafeBytes { Deflater.encode($0, parameters, format: .gzip) })
            if id % 11 == 0 { wire = Self.blocks(of: text) }
            let isCoded = id % 5 != 0
            let type = id % 2 == 0 ? "text/plain" : "application/octet-stream"
            let fields = ["Content-Type: \(type)"] + (isCoded ? ["Content-Encoding: gzip"] : [])
            let taped = TapedExchanges.exchange(id, started: 1000 - id, fields: fields, body: isCoded ? wire : text)
            var interaction = taped.interaction
            interaction.connection = ConnectionInfo(id: 1, remote: "127.0.0.1:\(id % 3)", isReused: false)
            let exchange = TapedExchange(interaction: interaction, responseBody: taped.responseBody)
            let made = try maker.interaction(of: exchange, mayDecode: false)
            writer.removeAll(baseDepth: InteractionEncoder.depth)
            InteractionEncoder.encode(made, into: &writer)
            appender.stage { $0 += writer.bytes }
        }
        try appender.commit()
        try store.syncAll()
        try appender.sync()
    }

    @Test func theNumberOfThreadsChangesNothing() throws {
        func finished(threads: Int) throws -> [String: [UInt8]] {
            let folder = try TemporaryFolder()
            try self.mixed(folder)
            let path = folder.file("tape.json")
            let appender = try CassetteAppender.open(path, recorder: "wiretape 1")
            let store = try BodyStore(cassettePath: path)
            var finisher = CassetteFinisher(path: path, store: store, digest: { PortableSHA256() })
            finisher.threads = threads
            let count = try finisher.finish(try appender.finish()) { _, _ in }.decoded
            #expect(count == 176)
            #expect(try RecordedExchanges.read(path).allSatisfy { !$0.isUndecoded })
            var files = ["tape.json": try folder.read("tape.json")]
            for name in try folder.names(in: "tape.bodies") where name != "undeveloped.raw" {
                files[name] = try folder.read("tape.bodies/\(name)")
            }
            return files
        }
        let one = try finished(threads: 1)
        #expect(one.count > 2)
        for threads in [2, 8] { #expect(try finished(threads: threads) == one, "\(threads)") }
    }

    private func record(_ interaction: Interaction, to path: String) throws {
        let appender = try CassetteAppender.create(path, recorder: "wiretape 1")
        var writer = JSONWriter(reserving: 1024)
        writer.removeAll(baseDepth: 2)
        InteractionEncoder.encode(interaction, into: &writer)
        appender.stage { $0 += writer.bytes }
        try appender.commit()
        try appender.sync()
    }

    /// A build without br recorded these, and a build with br decodes them. gzip stands for br, since every build knows it.
    @Test func bodyFromABuildWithoutTheCodingIsDecodedLater() throws {
        for size in [40, 9000] {
            let folder = try TemporaryFolder()
            let path = folder.file("tape.json")
            let store = try BodyStore(cassettePath: path)
            let text = (0..<size).map { UInt8(truncatingIfNeeded: 97 + $0 * $0 % 23) }
            let wire = try #require(text.withUnsafeBytes { Deflater.encode($0, DeflateParameters(level: 6), format: .gzip) })
            var maker = InteractionMaker(store: store, digest: { PortableSHA256() })
            // Recorded under an unknown name, and then renamed.
            let exchange = TapedExchanges.exchange(
                1, fields: ["Content-Type: text/plain", "Content-Encoding: unheard"], body: wire)
            var interaction = try maker.interaction(of: exchange, mayDecode: true)
            #expect(!interaction.isUndecoded)
            interaction.response?.headers = HeaderFields(["Content-Type: text/plain", "Content-Encoding: gzip"])
            try self.record(interaction, to: path)

            #expect(try CassetteFinisher.decode(path, version: "1") { _, _ in } == 1)
            let body = try #require(try RecordedExchanges.read(path).first?.response?.body)
            #expect(body.content == .text(text) && body.note == nil && body.original == nil)
            #expect(try BodyReader(cassettePath: path).wireBytes(of: body, digest: { PortableSHA256() }).bytes == wire)
            #expect(try folder.names(in: "tape.bodies").isEmpty)
            #expect(try CassetteFinisher.decode(path, version: "1") { _, _ in } == 0)
        }
    }

    /// A large upload is recorded as one file, and split when the cassette closes; its parts are restored byte for byte.
    @Test func aLargeMultipartIsTakenApartLater() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("tape.json")
        let store = try BodyStore(cassettePath: path)
        var maker = InteractionMaker(store: store, digest: { PortableSHA256() })
        let photo = (0..<(WireBodyDecoder.memoryLimit + 5)).map { UInt8(truncatingIfNeeded: $0 >> 5) }
        let head = Array("--X\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Type: image/jpeg\r\n\r\n".utf8)
        let wire = head + photo + Array("\r\n--X--\r\n".utf8)
        let whole = try maker.multipart(wire, fields: ["Content-Type: multipart/form-data; boundary=X"])
        #expect(whole.isUndecoded)
        try self.record(whole, to: path)

        #expect(try CassetteFinisher.decode(path, version: "1") { _, _ in } == 1)
        let body = try #require(try RecordedExchanges.read(path).first?.response?.body)
        guard case .multipart(let parts) = body.content, case .data(.file(let sidecar))? = parts.parts.first?.content else {
            Issue.record("not split into parts: \(body.note ?? "no note")")
            return
        }
        #expect(sidecar.size == photo.count && sidecar.path.hasSuffix(".jpg"))
        // The file of the whole upload is gone.
        #expect(try folder.names(in: "tape.bodies").count == 1)
        let reader = BodyReader(cassettePath: path)
        let restored = try reader.wireBytes(of: body, digest: { PortableSHA256() })
        #expect(restored.bytes == wire && !restored.isEdited)
        #expect(try reader.uncodedSource(of: body, digest: { PortableSHA256() }).load() == wire)
        #expect(try CassetteFinisher.decode(path, version: "1") { _, _ in } == 0)
    }

    @Test func aLaterSecretGoesOutOfABodyThatWasKeptInItsCoding() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("tape.json")
        try self.undecoded(folder, texts: ["word s3cret-0123 word"])
        let vault = SecretVault()
        _ = vault.placeholder(for: Array("s3cret-0123".utf8), kind: "token")
        let appender = try CassetteAppender.open(path, recorder: "wiretape 1")
        let finisher = CassetteFinisher(
            path: path, store: try BodyStore(cassettePath: path), redactor: Redactor(vault: vault), unsettled: 1,
            digest: { PortableSHA256() })
        #expect(try finisher.finish(try appender.finish()) { _, _ in }.redacted == 1)
        let body = try #require(try RecordedExchanges.read(path).first?.response?.body)
        #expect(body.content == .text(Array("word {{token:1}} word".utf8)))
    }

    /// Not even in a file that is removed afterwards: a killed process would leave it.
    @Test func aLaterSecretIsInNoFileOfADecodedBody() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("tape.json")
        let long = String(repeating: "word ", count: 20_000)
        try self.undecoded(folder, texts: [long + "s3cret-0123", long, long + "2"])
        let vault = SecretVault()
        _ = vault.placeholder(for: Array("s3cret-0123".utf8), kind: "token")
        let appender = try CassetteAppender.open(path, recorder: "wiretape 1")
        let finisher = CassetteFinisher(
            path: path, store: try BodyStore(cassettePath: path), redactor: Redactor(vault: vault), unsettled: 2,
            digest: { PortableSHA256() })
        let result = try finisher.finish(try appender.finish()) { _, _ in }
        #expect(result.redacted == 1 && result.decoded == 2)
        let files = try folder.names(in: "tape.bodies").filter { $0 != "undeveloped.raw" }
        #expect(files.count == 3)
        for name in files {
            #expect(!String(decoding: try folder.read("tape.bodies/\(name)"), as: UTF8.self).contains("s3cret-0123"), "\(name)")
        }
    }

    @Test func anExchangeThatCannotBeClearedOfALaterSecretFailsTheCloseAndTheOthersAreCleared() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("tape.json")
        let plan = try RecordingPlan(path: path, mode: .once, exists: false)
        let recorder = try #require(try Recorder(plan, version: "1", redaction: nil))
        let large = Array((String(repeating: "word ", count: 300_000) + "s3cret-0123").utf8)
        for (id, body) in [(1, large), (2, Array("s3cret-0123".utf8))] {
            _ = recorder.put(.exchange(TapedExchanges.exchange(id, fields: ["Content-Type: text/plain"], body: body), stored: nil))
        }
        _ = try recorder.close(keepsOld: false)
        let name = try #require(try folder.names(in: "tape.bodies").first)
        try folder.write([1, 2, 3], to: "tape.bodies/" + name)

        let vault = SecretVault()
        _ = vault.placeholder(for: Array("s3cret-0123".utf8), kind: "token")
        let appender = try CassetteAppender.open(path, recorder: "wiretape 1")
        let finisher = CassetteFinisher(
            path: path, store: try BodyStore(cassettePath: path), redactor: Redactor(vault: vault), unsettled: 2,
            digest: { PortableSHA256() })
        let error = #expect(throws: CassetteError.self) { try finisher.finish(try appender.finish()) { _, _ in } }
        #expect(error?.message.contains("could not be removed from exchange 1 (") == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("s3cret") == false)
        let cleared = try RecordedExchanges.read(path)[1].response?.body?.content
        #expect(cleared == .text(Array("{{token:1}}".utf8)))
    }
}

extension InteractionMaker {
    /// An exchange whose answer arrived in blocks.
    fileprivate mutating func multipart(_ wire: [UInt8], fields: [String]) throws -> Interaction {
        try self.block(exchange: 1, side: .response, bytes: wire)
        let exchange = TapedExchanges.exchange(1, fields: fields, body: [], isSpilled: true, size: wire.count)
        return try self.interaction(of: exchange, mayDecode: true)
    }
}
