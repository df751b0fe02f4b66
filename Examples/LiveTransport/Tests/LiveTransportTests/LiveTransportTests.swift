import Foundation
import Testing
import Wiretape
import WiretapeAsyncHTTPClient
import WiretapeTesting

/// The origin's ports and files, for all tests of the process. It ends with its standard input, which ends with the process.
private struct Origin: Decodable {
    var clear: Int
    var tls: Int
    var mutual: Int
    var http2: Int
    var roots: String
    var certificate: String
    var key: String
    var pin: String

    static let shared: Origin = {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "python3", URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("origin.py").path,
        ]
        let output = Pipe()
        process.standardInput = Origin.input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        var line = Data()
        do {
            try process.run()
            while line.last != 10, let byte = try output.fileHandleForReading.read(upToCount: 1), !byte.isEmpty { line += byte }
            return try JSONDecoder().decode(Origin.self, from: line)
        } catch {
            // Without an origin no test has a meaning.
            fatalError("the origin did not start: \(error)")
        }
    }()

    private static let input = Pipe()

    func url(_ path: String) -> String { "http://127.0.0.1:\(self.clear)\(path)" }

    func transport(_ change: (inout AsyncHTTPClientTransport.Configuration) throws -> Void = { _ in }) throws -> AsyncHTTPClientTransport {
        var configuration = AsyncHTTPClientTransport.Configuration()
        configuration.trustedRoots = [self.roots]
        try change(&configuration)
        return try AsyncHTTPClientTransport(configuration: configuration)
    }
}

private func folder() throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("live-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
}

@Suite struct LiveTransportTests {
    private let origin = Origin.shared
    private let session: HTTPSession

    init() throws { self.session = HTTPSession(transport: try self.origin.transport()) }

    /// On Linux URLSession ends the process here.
    @Test(arguments: ["/trailers", "/announced"]) func trailersArrive(path: String) async throws {
        let response = await self.session.request(self.origin.url(path)).serializingString().response
        #expect(response.value == "hello")
        #expect(response.trailers.values(for: "X-Sum") == (path == "/trailers" ? ["5", "6"] : ["5"]))
    }

    // MARK: WebSockets

    private func socketURL(_ path: String = "/talk") -> String { "ws://127.0.0.1:\(self.origin.clear)\(path)" }

    @Test func messagesOfAWebSocketAreEchoed() async throws {
        let socket = try await self.session.webSocket(self.socketURL(), protocols: ["chat", "other"])
        #expect(socket.negotiatedProtocol == "chat")
        try await socket.send("hello")
        #expect(try await socket.receive()?.text == "hello")
        let large = Data(repeating: 7, count: 100_000)
        try await socket.send(large)
        #expect(try await socket.receive()?.data == large)
        await socket.close(code: .normal, reason: "done")
        #expect(socket.isClosed)
    }

    @Test func aWebSocketRunsInsideTLSWithPinsAndIdentity() async throws {
        let session = HTTPSession(
            transport: try self.origin.transport { configuration in
                configuration.pins = [try PublicKeyPin(self.origin.pin)]
                configuration.clientIdentity = .init(certificates: self.origin.certificate, privateKey: self.origin.key)
            })
        for port in [self.origin.tls, self.origin.mutual] {
            let socket = try await session.webSocket("wss://localhost:\(port)/talk")
            try await socket.send("hello")
            #expect(try await socket.receive()?.text == "hello")
            await socket.close()
        }
        let pin = try #require(PublicKeyPin(digest: Array(repeating: 1, count: 32)))
        let other = HTTPSession(transport: try self.origin.transport { $0.pins = [pin] })
        let error = await #expect(throws: WiretapeError.self) { _ = try await other.webSocket("wss://localhost:\(self.origin.tls)/talk") }
        #expect(error?.message.contains("none of the pinned ones") == true, "\(error?.message ?? "")")
        let untrusted = HTTPSession(transport: try AsyncHTTPClientTransport())
        let refused = await #expect(throws: WiretapeError.self) {
            _ = try await untrusted.webSocket("wss://localhost:\(self.origin.tls)/talk")
        }
        #expect(refused?.message.contains("not of a trusted authority") == true, "\(refused?.message ?? "")")
    }

    @Test func aServerThatOpensNoWebSocketIsTheRequestsError() async throws {
        await #expect(throws: WiretapeError.self) { _ = try await self.session.webSocket("ws://127.0.0.1:\(self.origin.clear)/duplicates") }
        await #expect(throws: WiretapeError.self) { _ = try await self.session.webSocket("ws://127.0.0.1:1/talk") }
    }

    /// 32 MiB: what is not received stays with the sender.
    @Test func aServerThatSendsFastWaitsForItsReader() async throws {
        let socket = try await self.session.webSocket(self.socketURL())
        try await socket.send("push 512")
        for _ in 0..<512 { #expect(try await socket.receive()?.data.count == 65_536) }
        await socket.close()
    }

    @Test func aReceiveThatIsCancelledEndsTheSocket() async throws {
        let socket = try await self.session.webSocket(self.socketURL())
        let waiting = Task { try await socket.receive() }
        waiting.cancel()
        await #expect(throws: (any Error).self) { _ = try await waiting.value }
    }

    @Test func aWebSocketIsRecordedAndReplayed() async throws {
        let path = try folder().appendingPathComponent("talk.json").path
        func talk(_ session: HTTPSession) async throws {
            let socket = try await session.webSocket(self.socketURL())
            for text in ["one", "two"] {
                try await socket.send(text)
                #expect(try await socket.receive()?.text == text)
            }
            await socket.close()
        }
        let recording = try Cassette(path, mode: .once)
        try await talk(HTTPSession(transport: RecordingTransport(recording, around: try self.origin.transport())))
        try await recording.finish()
        let replay = try await Cassette.open(path)
        try await talk(HTTPSession(cassette: replay))
        #expect(replay.verdict.misses == 0 && replay.verdict.unused.isEmpty)
    }

    @Test func duplicateFieldsStayApartAsTheyAreSpelled() async throws {
        let response = await self.session.request(self.origin.url("/duplicates")).serializingString().response
        let fields = response.response?.headers.headers.filter { ["set-cookie", "x-a"].contains($0.name.lowercased()) }
        #expect(fields?.map { "\($0.name): \($0.value)" } == ["Set-Cookie: a=1", "set-cookie: b=2", "X-a: 1", "x-A: 2"])
    }

    @Test func codingsAreTakenOffAndOnlyThoseAreAskedFor() async throws {
        let response = await self.session.request(self.origin.url("/gzip"), headers: ["Accept-Encoding": "br, gzip;q=0.5, zstd, deflate"])
            .serializingString().response
        #expect(response.value == String(repeating: "hello ", count: 100))
        #expect(response.response?.headers["X-Accepted"] == "gzip;q=0.5, deflate")
    }

    /// Their fields describe a body that does not come.
    @Test func answersWithoutABodyHaveNoCodingToTakeOff() async throws {
        let head = await self.session.request(self.origin.url("/gzip"), method: .head).serializingData().response
        #expect(head.error == nil && head.response?.status == 200 && head.response?.headers["Content-Encoding"] == "gzip")
        for path in ["/unchanged", "/empty"] {
            let response = await self.session.request(self.origin.url(path)).serializingData(emptyResponseCodes: [200, 304]).response
            #expect(response.error == nil && response.data?.isEmpty != false, "\(response.error as Any)")
        }
    }

    @Test(arguments: ["/corrupt", "/cut-gzip"]) func whatCannotBeDecodedIsMalformed(path: String) async throws {
        let response = await self.session.request(self.origin.url(path)).serializingData().response
        #expect("\((response.error?.cause as? TransportFailure)?.kind as Any)".contains("malformed"), "\(response.error as Any)")
    }

    /// A program may show them to people.
    @Test func failuresAreInPlainWords() async throws {
        for url in [
            self.origin.url("/truncated"), self.origin.url("/silent"), self.origin.url("/malformed"), "http://127.0.0.1:1/",
            "http://nowhere.invalid/", "https://localhost:\(self.origin.clear)/",
        ] {
            let message = await self.session.request(url).serializingData().response.error?.message ?? ""
            #expect(message.contains(" failed: "), "\(url): \(message)")
            for word in ["NIO", "Error", "HTTPClient", "errno", "(", "BoringSSL"] { #expect(!message.contains(word), "\(url): \(message)") }
        }
        let untrusted = try AsyncHTTPClientTransport()
        let refused = await HTTPSession(transport: untrusted).request("https://localhost:\(self.origin.tls)/").serializingData().response
        #expect(refused.error?.message.contains("name the authority in Configuration.trustedRoots") == true)
    }

    @Test func redirectsAreTheSessions() async throws {
        let response = await self.session.request(self.origin.url("/moved")).serializingString().response
        #expect(response.value == "two" && response.response?.url.path == "/duplicates")
    }

    @Test func bodiesGoOutFromMemoryAndFromFiles() async throws {
        let bytes = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
        let file = try folder().appendingPathComponent("body")
        try bytes.write(to: file)
        let memory = try await self.session.upload(bytes, to: self.origin.url("/")).serializingString().value
        let disk = try await self.session.upload(file, to: self.origin.url("/")).serializingString().value
        #expect(memory == disk && memory.hasPrefix("3000000 "))
    }

    @Test(arguments: [("/truncated", "truncated"), ("/silent", "reset"), ("/malformed", "malformed")])
    func whatTheOriginDoesWrongHasItsKind(path: String, kind: String) async throws {
        let response = await self.session.request(self.origin.url(path)).serializingData().response
        #expect("\((response.error?.cause as? TransportFailure)?.kind as Any)".contains(kind), "\(response.error as Any)")
    }

    @Test func nobodyThereIsRefusedAtOnce() async throws {
        let response = await self.session.request("http://127.0.0.1:1/").serializingData().response
        #expect("\((response.error?.cause as? TransportFailure)?.kind as Any)".contains("refused"), "\(response.error as Any)")
        let named = await self.session.request("http://nowhere.invalid/").serializingData().response
        #expect("\((named.error?.cause as? TransportFailure)?.kind as Any)".contains("dns"), "\(named.error as Any)")
    }

    /// Nothing is taken from the connection while nobody reads, and a stream that is left ends the exchange.
    @Test func anEndlessAnswerCanBeLeft() async throws {
        var count = 0
        for try await chunk in self.session.stream(self.origin.url("/endless")).bytes {
            count += chunk.count
            if count > 10_000_000 { break }
        }
        #expect(count > 10_000_000 && count < 20_000_000)
    }

    @Test func aCancelledTaskEndsItsRequest() async throws {
        let request = self.session.request(self.origin.url("/endless"))
        let task = Task { await request.serializingData().response }
        for await progress in request.downloadProgress() where progress.completedUnitCount > 0 { break }
        task.cancel()
        #expect(await task.value.error?.code == .cancelled)
    }

    @Test func manyAtOnce() async throws {
        let session = self.session
        let origin = self.origin
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<200 {
                group.addTask { try await session.request(origin.url("/\(index)")).serializingString().value == "/\(index)" }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }
}

@Suite struct LiveTLSTests {
    private let origin = Origin.shared

    private func get(_ port: Int, through transport: AsyncHTTPClientTransport) async -> HTTPSession.DataResponse<String> {
        await HTTPSession(transport: transport).request("https://localhost:\(port)/x").serializingString().response
    }

    @Test func http2IsSpokenWhereItIsOffered() async throws {
        #expect(await self.get(self.origin.http2, through: try self.origin.transport()).value == "HTTP/2.0")
        #expect(await self.get(self.origin.http2, through: try self.origin.transport { $0.onlyHTTP1 = true }).value == "HTTP/1.1")
    }

    @Test func aServerOfAnotherAuthorityIsRefused() async throws {
        let response = await self.get(self.origin.tls, through: try AsyncHTTPClientTransport())
        #expect("\((response.error?.cause as? TransportFailure)?.kind as Any)".contains("tls"), "\(response.error as Any)")
        #expect(await self.get(self.origin.tls, through: try self.origin.transport()).value == "/x")
    }

    @Test func aClientShowsItsCertificate() async throws {
        let origin = self.origin
        let known = try origin.transport { $0.clientIdentity = .init(certificates: origin.certificate, privateKey: origin.key) }
        #expect(await self.get(origin.mutual, through: known).value == "/x")
        #expect(await self.get(origin.mutual, through: try origin.transport()).error != nil)
        let error = #expect(throws: TransportFailure.self) {
            try origin.transport { $0.clientIdentity = .init(certificates: "/nowhere.pem", privateKey: origin.key) }
        }
        #expect(error?.message.contains("\"/nowhere.pem\"") == true)
    }

    @Test func aServerWithAnotherKeyGetsNothing() async throws {
        let right = try PublicKeyPin(self.origin.pin)
        let wrong = try #require(PublicKeyPin(digest: [UInt8](repeating: 1, count: 32)))
        for port in [self.origin.tls, self.origin.http2] {
            #expect(await self.get(port, through: try self.origin.transport { $0.pins = [wrong, right] }).error == nil)
            let response = await self.get(port, through: try self.origin.transport { $0.pins = [wrong] })
            #expect("\((response.error?.cause as? TransportFailure)?.kind as Any)".contains("tls"), "\(response.error as Any)")
            #expect(response.error?.message.contains(self.origin.pin) == true)
        }
    }
}

@Suite struct LiveRecordingTests {
    private let origin = Origin.shared

    @Test func whatItCarriesIsRecordedAndReplayed() async throws {
        let path = try folder().appendingPathComponent("a.json").path
        func ask(_ session: HTTPSession) async -> [String] {
            var lines: [String] = []
            for place in ["/trailers", "/duplicates", "/gzip", "/truncated"] {
                let response = await session.request(self.origin.url(place)).serializingData().response
                let kind = (response.error?.cause as? TransportFailure).map { "\($0.kind)" } ?? "complete"
                let sums = response.trailers.values(for: "X-Sum")
                lines.append(
                    "\(place) \(response.data?.count ?? 0) \(sums) \(response.response?.headers.values(for: "Set-Cookie").count ?? 0) \(kind)"
                )
            }
            return lines
        }
        let recording = try Cassette(path, mode: .once)
        let live = await ask(HTTPSession(transport: RecordingTransport(recording, around: try self.origin.transport())))
        try await recording.finish()
        let replay = try await Cassette.open(path)
        let replayed = await ask(HTTPSession(cassette: replay))
        #expect(live == replayed)
        #expect(live.first == #"/trailers 5 ["5", "6"] 0 complete"#)
        #expect(replay.verdict.misses == 0)
    }
}
