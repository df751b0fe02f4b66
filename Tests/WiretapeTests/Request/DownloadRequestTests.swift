import ClientTestSupport
import Foundation
import TapeBytes
import TapeTestSupport
import Testing
@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct DownloadRequestTests {
    @Test func theAnswerIsWrittenAsItComesAndPlacedAtItsEnd() async throws {
        let folder = try TemporaryFolder()
        let transport = ScriptedTransport()
        let session = HTTPSession.plain(transport) { $0.temporaryFolder = URL(fileURLWithPath: folder.path) }
        let request = session.download(
            "http://a.test/report.pdf",
            to: HTTPSession.DownloadRequest.suggestedDownloadDestination(
                in: URL(fileURLWithPath: folder.file("out")), options: .createIntermediateDirectories))
        let task = request.serializingDownloadedFileURL()
        let exchange = await transport.exchange(1)
        exchange.head()
        exchange.chunk("ab")
        #expect(try folder.names().count == 1)
        exchange.chunk("c")
        exchange.send(.end)
        let response = await task.response
        #expect(response.value?.path == folder.file("out/report.pdf"))
        #expect(response.fileURL == request.fileURL)
        #expect(try folder.read("out/report.pdf") == Array("abc".utf8))
        #expect(try folder.names() == ["out"])
    }

    @Test func serializersReadTheFile() async throws {
        let folder = try TemporaryFolder()
        let session = HTTPSession.plain(ScriptedTransport { exchange, _ in exchange.answer(200, [:], "[1,2]") }) {
            $0.temporaryFolder = URL(fileURLWithPath: folder.path)
        }
        let request = session.download("http://a.test/x")
        #expect(try await request.serializingDecodable([Int].self).value == [1, 2])
        #expect(try await request.serializingString().value == "[1,2]")
        #expect(try folder.names().count == 1, "the file is the caller's")
    }

    @Test func nothingIsLeftOfADownloadThatFailed() async throws {
        let folder = try TemporaryFolder()
        let session = HTTPSession.plain(ScriptedTransport { exchange, _ in exchange.answer(500, [:], "no") }) {
            $0.temporaryFolder = URL(fileURLWithPath: folder.path)
        }
        let response = await session.download("http://a.test/x").validate().serializingData().response
        #expect(response.error?.code == .validation)
        #expect(response.fileURL == nil)
        #expect(try folder.names().isEmpty)
    }

    @Test func nothingIsLeftOfADownloadThatWasCancelled() async throws {
        let folder = try TemporaryFolder()
        let transport = ScriptedTransport()
        let session = HTTPSession.plain(transport) { $0.temporaryFolder = URL(fileURLWithPath: folder.path) }
        let request = session.download("http://a.test/x")
        let task = request.serializingData()
        let exchange = await transport.exchange(1)
        exchange.head()
        exchange.chunk("half")
        request.cancel()
        _ = await task.response
        #expect(try folder.names().isEmpty)
    }

    // MARK: Resume data

    private static let head: HTTPSession.Headers = ["ETag": "\"v1\"", "Content-Length": "10", "Accept-Ranges": "bytes"]

    private func session(_ transport: ScriptedTransport, _ folder: TemporaryFolder) -> HTTPSession {
        HTTPSession.plain(transport) { $0.temporaryFolder = URL(fileURLWithPath: folder.path) }
    }

    /// The resume data of a download that has received "01234".
    private func interrupted(
        _ folder: TemporaryFolder, head: HTTPSession.Headers = Self.head, by end: TransportEvent? = nil,
        headers: HTTPSession.Headers = ["X-A": "1", "Authorization": "Basic eA=="]
    ) async throws -> Data? {
        let transport = ScriptedTransport()
        let request = self.session(transport, folder).download("http://a.test/x", headers: headers)
        let task = request.serializingData()
        let exchange = await transport.exchange(1)
        exchange.head(200, head)
        exchange.chunk("01234")
        if let end { exchange.send(end) } else { request.cancel(producingResumeData: true) }
        let response = await task.response
        #expect(response.error != nil && response.resumeData == request.resumeData)
        return response.resumeData
    }

    @Test func aCancelledDownloadGoesOn() async throws {
        let folder = try TemporaryFolder()
        let data = try #require(try await self.interrupted(folder))
        #expect(try folder.names().count == 1)
        let transport = ScriptedTransport()
        let request = self.session(transport, folder).download(resumingWith: data)
        let progress = request.downloadProgress()
        let task = request.serializingString()
        let exchange = await transport.exchange(1)
        #expect(
            exchange.request.headers.map { "\($0.name): \($0.value)" } == [
                "X-A: 1", "Authorization: Basic eA==", "Accept-Encoding: identity", "Range: bytes=5-", "If-Range: \"v1\"",
            ])
        exchange.head(206, ["ETag": "\"v1\"", "Content-Length": "5", "Content-Range": "bytes 5-9/10"])
        exchange.chunk("56789")
        exchange.send(.end)
        #expect(try await task.value == "0123456789")
        var steps: [TransferProgress] = []
        for await step in progress { steps.append(step) }
        #expect(steps.last == TransferProgress(completedUnitCount: 10, totalUnitCount: 10))
        #expect(request.resumeData == nil)
        #expect(try folder.names().count == 1, "the file of the first download has become the second one's")
    }

    @Test func aFailedDownloadGoesOnAndFailsAndGoesOn() async throws {
        let folder = try TemporaryFolder()
        let failure = TransportEvent.failed(TransportFailure(.network(.reset), "gone"))
        let first = try #require(try await self.interrupted(folder, by: failure))
        let transport = ScriptedTransport { exchange, number in
            let next = exchange.request.headers.value(for: "Range") == "bytes=5-" ? 5 : 7
            exchange.head(206, ["ETag": "\"v1\"", "Content-Range": "bytes \(next)-9/10"])
            exchange.chunk(String("0123456789".dropFirst(next).prefix(number == 1 ? 2 : 9)))
            exchange.send(number == 1 ? failure : .end)
        }
        let session = self.session(transport, folder)
        let second = try #require(await session.download(resumingWith: first).serializingData().response.resumeData)
        #expect(try await session.download(resumingWith: second).serializingString().value == "0123456789")
        #expect(transport.requests.map { $0.headers.value(for: "Range") } == ["bytes=5-", "bytes=7-"])
        // The first resume data names a file that no longer exists.
        let late = await session.download(resumingWith: first).serializingData().response
        #expect(late.error?.code == .file && late.error?.message.contains("was removed: start the download anew") == true)
    }

    /// The resume data was already used once: the file has grown since.
    @Test func theSameDataGoesOnTwice() async throws {
        let folder = try TemporaryFolder()
        let data = try #require(try await self.interrupted(folder))
        let transport = ScriptedTransport { exchange, number in
            exchange.head(206, ["ETag": "\"v1\"", "Content-Range": "bytes 5-9/10"])
            exchange.chunk(number == 1 ? "56" : "56789")
            exchange.send(number == 1 ? .failed(TransportFailure(.network(.reset), "gone")) : .end)
        }
        let session = self.session(transport, folder)
        #expect(await session.download(resumingWith: data).serializingData().response.error?.code == .network)
        #expect(try await session.download(resumingWith: data).serializingString().value == "0123456789")
    }

    @Test func aRetryGoesOnWhereTheDataEnds() async throws {
        let folder = try TemporaryFolder()
        let data = try #require(try await self.interrupted(folder))
        let transport = ScriptedTransport { exchange, number in
            exchange.head(206, ["ETag": "\"v1\"", "Content-Range": "bytes 5-9/10"])
            exchange.chunk(number == 1 ? "xx" : "56789")
            exchange.send(number == 1 ? .failed(TransportFailure(.network(.reset), "gone")) : .end)
        }
        let retrier = HTTPSession.RetryPolicy(retryLimit: 1, backoff: .init(scale: .zero))
        let request = self.session(transport, folder).download(resumingWith: data, interceptor: retrier)
        #expect(try await request.serializingString().value == "0123456789")
        #expect(request.retryCount == 1)
    }

    @Test func anotherVersionIsDownloadedCompletely() async throws {
        let folder = try TemporaryFolder()
        let data = try #require(try await self.interrupted(folder))
        let transport = ScriptedTransport { exchange, _ in exchange.answer(200, ["ETag": "\"v2\""], "new") }
        #expect(try await self.session(transport, folder).download(resumingWith: data).serializingString().value == "new")
        #expect(try folder.names().count == 1)
    }

    @Test(arguments: [
        "bytes 4-9/10", "bytes 5-8/10", "bytes 5-9/11", "bytes 5-7/*", "items 5-9/10", "bytes */10", "",
    ])
    func anotherPartIsNoRest(range: String) async throws {
        let folder = try TemporaryFolder()
        let data = try #require(try await self.interrupted(folder))
        let transport = ScriptedTransport { exchange, _ in exchange.answer(206, ["ETag": "\"v1\"", "Content-Range": range], "56789") }
        let response = await self.session(transport, folder).download(resumingWith: data).serializingData().response
        #expect(response.error?.message.contains("is not the rest of the download") == true, "\(response)")
        #expect(response.fileURL == nil)
    }

    @Test func downloadThatCannotBeResumedHasNoResumeData() async throws {
        let heads: [HTTPSession.Headers] = [
            [:], ["ETag": "W/\"v1\""], ["ETag": "\"v1\"", "Content-Encoding": "gzip"], ["ETag": "\"v1\"", "Accept-Ranges": "none"],
            ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"],
            ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": "Sun, 06 Nov 1994 08:49:37 GMT"],
        ]
        for head in heads {
            let folder = try TemporaryFolder()
            #expect(try await self.interrupted(folder, head: head) == nil, "\(head)")
            #expect(try folder.names().isEmpty)
        }
        let folder = try TemporaryFolder()
        let dated: HTTPSession.Headers = ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": "Sun, 06 Nov 1994 08:49:39 GMT"]
        #expect(try await self.interrupted(folder, head: dated) != nil)
        #expect(try await self.interrupted(folder, headers: ["Range": "bytes=2-"]) == nil)
    }

    @Test(.timeLimit(.minutes(5))) func unrequestedResumeDataIsRemoved() async throws {
        let folder = try TemporaryFolder()
        let transport = ScriptedTransport()
        do {
            let request = self.session(transport, folder).download("http://a.test/x")
            let task = request.serializingData()
            let exchange = await transport.exchange(1)
            exchange.head(200, Self.head)
            exchange.chunk("01234")
            exchange.send(.failed(TransportFailure(.network(.reset), "gone")))
            _ = await task.response
            #expect(try folder.names().count == 1)
        }
        // A task that is ending holds the last reference to the request.
        while try !folder.names().isEmpty { await Task.yield() }
    }

    @Test(arguments: ["", "{}", "<plist/>", #"{"version":2,"url":"http://a/","fields":[],"validator":"x","path":"/x","count":1}"#])
    func otherDataIsRefused(text: String) async throws {
        let folder = try TemporaryFolder()
        let transport = ScriptedTransport()
        let response = await self.session(transport, folder).download(resumingWith: Data(text.utf8)).serializingData().response
        #expect(response.error?.code == .invalidRequest && transport.requests.isEmpty)
        #expect(response.error?.message.contains("start the download anew") == true)
    }

    @Test func theHandlerOfACancelGetsTheData() async throws {
        let folder = try TemporaryFolder()
        let transport = ScriptedTransport()
        let request = self.session(transport, folder).download("http://a.test/x")
        let got = Guarded<Data??>(nil)
        request.cancel { data in got.withLock { $0 = data } }
        #expect(got.withLock { $0 } == .some(nil))
        #expect(request.isCancelled)
    }

    /// Live over URLSession first, and then from the cassette without the origin.
    @Test func aDownloadIsInterruptedAndGoesOnLiveAndInAReplay() async throws {
        let folder = try TemporaryFolder()
        let origin = try LoopbackOrigin { request in
            guard request.field("Range") == "bytes=5-", request.field("If-Range") == "\"v1\"" else {
                return [.text("HTTP/1.1 200 OK\r\nContent-Length: 10\r\nETag: \"v1\"\r\nAccept-Ranges: bytes\r\n\r\n01234"), .hang]
            }
            return [
                .text(
                    "HTTP/1.1 206 Partial Content\r\nContent-Length: 5\r\nETag: \"v1\"\r\nContent-Range: bytes 5-9/10\r\n\r\n56789")
            ]
        }
        let path = folder.file("a.json")
        for mode in [RecordMode.all, .none] {
            let cassette = try Cassette(path, mode: mode)
            let session = HTTPSession.plain(cassette.transport) { $0.temporaryFolder = URL(fileURLWithPath: folder.path) }
            let download = session.download("\(origin.url)/x")
            let progress = download.downloadProgress()
            let task = download.serializingData()
            for await step in progress where step.completedUnitCount == 5 { download.cancel(producingResumeData: true) }
            let data = try #require(await task.response.resumeData)
            #expect(try await session.download(resumingWith: data).validate().serializingString().value == "0123456789")
            _ = try cassette.close()
            if mode == .all { origin.stop() }
        }
    }

    // MARK: Names

    @Test(arguments: [
        ("attachment; filename=\"a.txt\"", "a.txt"), ("attachment; filename=\"../../etc/x\"", "x"),
        ("attachment; filename=\"..\"", "unknown"),
        ("attachment; filename=\"a.txt\"; filename*=UTF-8''%ED%8E%AB%2F%2E%2E%5C%ED%8E%AB.png", "펫.png"), ("inline", "report.pdf"),
    ])
    func noAnswerChoosesTheFolder(disposition: String, name: String) throws {
        let response = HTTPSession.Response(
            url: try "http://a.test/d/report.pdf".asURL(), status: 200, headers: ["Content-Disposition": disposition])
        #expect(HTTPSession.DownloadRequest.fileName(response) == name)
    }

    @Test func aDestinationMayCancelItsRequest() async throws {
        let folder = try TemporaryFolder()
        let session = HTTPSession.plain(ScriptedTransport { exchange, _ in exchange.answer(200, [:], "whole") }) {
            $0.temporaryFolder = URL(fileURLWithPath: folder.path)
        }
        let made = Guarded<HTTPSession.DownloadRequest?>(nil)
        let destination: HTTPSession.DownloadRequest.Destination = { _, _ in
            made.withLock { $0 }?.cancel()
            return (URL(fileURLWithPath: folder.file("result")), [])
        }
        let request = session.download("http://a.test/x", to: destination)
        made.withLock { $0 = request }
        let response = await request.serializingData().response
        made.withLock { $0 = nil }
        #expect(response.error?.isCancelled == true)
        #expect(try folder.names().isEmpty)
    }

    @Test func aValidationThatCancelsLeavesTheOldFile() async throws {
        let folder = try TemporaryFolder()
        try folder.write(Array("old".utf8), to: "result")
        let session = HTTPSession.plain(ScriptedTransport { exchange, _ in exchange.answer(200, [:], "whole") }) {
            $0.temporaryFolder = URL(fileURLWithPath: folder.path)
        }
        let made = Guarded<HTTPSession.DownloadRequest?>(nil)
        let destination: HTTPSession.DownloadRequest.Destination = { _, _ in
            (URL(fileURLWithPath: folder.file("result")), .removePreviousFile)
        }
        let request = session.download("http://a.test/x", to: destination)
        made.withLock { $0 = request }
        let response = await request.validate(HTTPSession.Validation { _, _, _ in made.withLock { $0 }?.cancel() }).serializingData()
            .response
        made.withLock { $0 = nil }
        #expect(response.error?.isCancelled == true)
        #expect(try folder.names() == ["result"])
        #expect(try folder.read("result") == Array("old".utf8))
    }
}

@Suite struct DownloadFileTests {
    private let folder: TemporaryFolder
    private let response = HTTPSession.Response(url: URL(fileURLWithPath: "/x"), status: 200)

    init() throws { self.folder = try TemporaryFolder() }

    private func file(to name: String? = nil, _ options: HTTPSession.DownloadRequest.Options = []) -> DownloadFile {
        guard let name else { return DownloadFile(folder: URL(fileURLWithPath: self.folder.path), destination: nil) }
        let target = URL(fileURLWithPath: self.folder.file(name))
        return DownloadFile(folder: URL(fileURLWithPath: self.folder.path)) { _, _ in (target, options) }
    }

    @Test func theFileIsInItsPlaceCompletelyOrNotAtAll() throws {
        let file = self.file(to: "result")
        try file.write(Data("ab".utf8))
        try file.write(Data("c".utf8))
        #expect(try !self.folder.names().contains("result"))
        try file.place(self.response)
        #expect(try self.folder.read("result") == Array("abc".utf8))
        #expect(file.url?.path == self.folder.file("result"))
        file.finish()
        #expect(try self.folder.names() == ["result"])
    }

    @Test func fileThatIsNotMovedIsRemoved() throws {
        let file = self.file(to: "result")
        try file.write(Data("ab".utf8))
        #expect(try self.folder.names().count == 1)
        file.finish()
        #expect(try self.folder.names().isEmpty)
        #expect(file.url == nil)
    }

    @Test func anotherAttemptStartsOver() throws {
        let file = self.file(to: "result")
        try file.write(Data("half".utf8))
        file.restart()
        try file.write(Data("whole".utf8))
        try file.place(self.response)
        #expect(try self.folder.read("result") == Array("whole".utf8))
    }

    @Test func aFileThatIsThereIsReplacedOnlyWhereThatIsWanted() throws {
        try self.folder.write(Array("old".utf8), to: "result")
        let refused = self.file(to: "result")
        let error = #expect(throws: WiretapeError.self) { try refused.place(self.response) }
        #expect(error?.message.contains("removePreviousFile") == true)
        refused.finish()
        #expect(try self.folder.read("result") == Array("old".utf8))
        try self.file(to: "result", .removePreviousFile).place(self.response)
        #expect(try self.folder.read("result").isEmpty)
    }

    @Test func foldersAreCreatedOnlyWhereThatIsWanted() throws {
        let refused = self.file(to: "a/b/result")
        let error = #expect(throws: WiretapeError.self) { try refused.place(self.response) }
        #expect(error?.message.contains("createIntermediateDirectories") == true)
        try self.file(to: "a/b/result", .createIntermediateDirectories).place(self.response)
        #expect(try self.folder.names(in: "a/b") == ["result"])
    }

    @Test func aFolderIsNoPlaceForAFile() throws {
        let error = #expect(throws: WiretapeError.self) { try self.file(to: "").place(self.response) }
        #expect(error?.code == .file)
    }

    @Test func aFolderThatIsNotThereIsTheError() {
        let file = DownloadFile(folder: URL(fileURLWithPath: "/nowhere/at/all"), destination: nil)
        let error = #expect(throws: WiretapeError.self) { try file.write(Data("a".utf8)) }
        #expect(error?.message.contains("\"/nowhere/at/all\"") == true)
    }

    @Test func onlyItsUserMayReadIt() throws {
        let file = self.file()
        try file.place(self.response)
        let attributes = try FileManager.default.attributesOfItem(atPath: try #require(file.url).path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }

    @Test func nothingIsWrittenAfterTheEnd() throws {
        try self.folder.write(Array("old".utf8), to: "result")
        let file = self.file(to: "result", .removePreviousFile)
        try file.write(Data("half".utf8))
        file.finish()
        try file.write(Data("late".utf8))
        try file.place(self.response)
        #expect(try self.folder.names() == ["result"])
        #expect(try self.folder.read("result") == Array("old".utf8))
        #expect(file.url == nil)
    }
}

@Suite struct DownloadRequestContentTests {
    /// Works on files alone.
    private struct NameSerializer: HTTPSession.DownloadResponseSerializer {
        func serializeDownload(request: URLRequest?, response: HTTPSession.Response?, fileURL: URL?, error: (any Error)?) -> String {
            fileURL?.lastPathComponent ?? "none"
        }
    }

    private let queue = DispatchQueue(label: "handlers")
    private let folder: TemporaryFolder
    private let session: HTTPSession

    init() throws {
        let folder = try TemporaryFolder()
        self.folder = folder
        self.session = .plain(ScriptedTransport { exchange, _ in exchange.answer(200, [:], "[1]") }) {
            $0.temporaryFolder = URL(fileURLWithPath: folder.path)
        }
    }

    @Test func handlersHaveTheFile() async throws {
        let request = self.session.download("http://a.test/")
        let seen = Collected<URL?>()
        await withCheckedContinuation { continuation in
            request.response(queue: self.queue) { seen.add($0.value ?? nil) }
                .responseURL(queue: self.queue) {
                    seen.add($0.value)
                    continuation.resume()
                }
        }
        let file = try #require(request.fileURL)
        #expect(seen.all == [file, file] && file.path.hasPrefix(self.folder.path))
    }

    @Test func downloadedFileURLIsInTheTemporaryFolder() async throws {
        #expect(try await self.session.download("http://a.test/").serializingDownloadedFileURL().value.path.hasPrefix(self.folder.path))
    }

    @Test func serializersOfFilesAloneWork() async throws {
        let request = self.session.download("http://a.test/")
        let task: HTTPSession.DownloadTask<String> = request.serializing(NameSerializer())
        let name = try await task.value
        #expect(name == request.fileURL?.lastPathComponent)
        let handled = await withCheckedContinuation { continuation in
            request.response(queue: self.queue, responseSerializer: NameSerializer()) { continuation.resume(returning: $0.value) }
        }
        #expect(handled == name)
    }
}
