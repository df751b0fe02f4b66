import ClientTestSupport
import Foundation
import TapeBytes
import TapeTestSupport
import Testing
@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct HTTPSessionTests {
    @Test func requestsOnTheirWayAreListedInOrderAndCancelledTogether() async {
        let transport = ScriptedTransport()
        let session = HTTPSession.plain(transport)
        let tasks = ["a", "b", "c"].map { session.request("http://a.test/\($0)").serializingData() }
        session.withAllRequests { #expect($0.map { $0.sentRequest?.url.path } == ["/a", "/b", "/c"]) }
        session.cancelAllRequests()
        for task in tasks { #expect(await task.response.error?.isCancelled == true) }
        session.withAllRequests { #expect($0.isEmpty) }
        await session.waitUntilIdle()
    }

    @Test func waitingUntilIdleWaitsForTheLastRequest() async throws {
        let transport = ScriptedTransport()
        let session = HTTPSession.plain(transport)
        let task = session.request("http://a.test/x").serializingData()
        async let idle: Void = session.waitUntilIdle()
        await transport.exchange(1).answer()
        await idle
        session.withAllRequests { #expect($0.isEmpty) }
        _ = await task.response
    }

    @Test func aRequestComesToItsEndWithoutItsSession() async {
        let transport = ScriptedTransport()
        var session: HTTPSession? = .plain(transport)
        let task = session?.request("http://a.test/x").serializingData()
        let later = session?.request("http://a.test/y")
        session = nil
        await transport.exchange(1).answer(200, [:], "x")
        #expect(await task?.response.error == nil)
        async let second = later?.serializingData().response.error
        await transport.exchange(2).answer(200, [:], "y")
        #expect(await second == nil)
    }

    @Test func aRequestOnTheNetworkComesToItsEndWithoutItsSession() async throws {
        let (isAsked, answers) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let origin = try LoopbackOrigin { _ in
            isAsked.signal()
            answers.wait()
            return [.text("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")]
        }
        let text: String? = await withCheckedContinuation { continuation in
            // Only the closure is kept, as in a view that has disappeared.
            HTTPSession(transport: LiveTransport()).request("\(origin.url)/").responseString(queue: .global()) {
                continuation.resume(returning: $0.value)
            }
            DispatchQueue.global().async {
                isAsked.wait()
                answers.signal()
            }
        }
        #expect(text == "hi")
    }

    @Test func requestIDsDiffer() {
        let session = HTTPSession.plain(ScriptedTransport())
        let ids = Set((0..<100).map { _ in session.request("http://a.test/").id })
        #expect(ids.count == 100)
        #expect(session.configuration.headers.isEmpty)
    }
}

@Suite struct SessionRequestsTests {
    private enum Router: HTTPSession.URLRequestConvertible {
        case pet(Int)

        func asURLRequest() throws -> URLRequest {
            guard case .pet(let id) = self, id > 0 else { throw TransportFailure(.unsupported, "no such pet") }
            return try URLRequest(url: "http://a.test/pets/\(id)", method: .put, headers: ["X-A": "1"])
        }
    }

    private let transport = ScriptedTransport { exchange, _ in exchange.answer() }

    @Test func fieldsKeepTheirOrderAndDuplicates() async throws {
        let session = HTTPSession.plain(self.transport)
        let headers: HTTPSession.Headers = ["B": "1", "a": "2", "B": "3"]
        _ = await session.request("http://a.test/x", method: .delete, headers: headers).serializingData().response
        #expect(self.transport.requests.first?.method == "DELETE")
        #expect(self.transport.requests.first?.headers == headers)
    }

    @Test func theSessionsFieldsAreAddedWhereTheyAreMissing() async {
        let session = HTTPSession.plain(self.transport) { $0.headers = ["Accept": "*/*", "User-Agent": "t"] }
        _ = await session.request("http://a.test/x", headers: ["accept": "text/plain"]).serializingData().response
        #expect(self.transport.requests.first?.headers == ["accept": "text/plain", "User-Agent": "t"])
    }

    @Test func parametersGoIntoTheQueryOrTheBody() async {
        let session = HTTPSession.plain(self.transport)
        _ = await session.request("http://a.test/x", parameters: ["b": "2", "a": "1"], headers: ["Z": "1", "Y": "2"]).serializingData()
            .response
        _ = await session.request("http://a.test/x", method: .post, parameters: ["a": "1"]).serializingData().response
        _ = await session.request("http://a.test/x", method: .post, parameters: ["a": 1], encoder: .json).serializingData()
            .response
        let requests = self.transport.requests
        #expect(requests[0].url.absoluteString == "http://a.test/x?a=1&b=2")
        #expect(requests[0].headers == ["Z": "1", "Y": "2"])
        guard case .data(let form) = requests[1].body, case .data(let json) = requests[2].body else {
            Issue.record("no bodies")
            return
        }
        #expect(String(decoding: form, as: UTF8.self) == "a=1")
        #expect(requests[1].headers["Content-Type"] == "application/x-www-form-urlencoded; charset=utf-8")
        #expect(String(decoding: json, as: UTF8.self) == "{\"a\":1}")
    }

    @Test func aRouterMakesTheRequestAndItsCaseIsTheLabel() async {
        let session = HTTPSession.plain(self.transport)
        _ = await session.request(Router.pet(7)).serializingData().response
        #expect(self.transport.requests.first?.url.path == "/pets/7")
        #expect(self.transport.requests.first?.label == "pet")
        let error = await session.request(Router.pet(0)).serializingData().response.error
        #expect(error?.code == .unsupported)
        #expect(error?.message == "no such pet")
    }

    @Test func aModifierSeesTheRequestAndSetsItsTimeout() async {
        let session = HTTPSession.plain(self.transport)
        let request = session.request("http://a.test/x", headers: ["A": "1"]) {
            $0.setValue("2", forHTTPHeaderField: "X-B")
            $0.timeoutInterval = 0.25
        }
        _ = await request.serializingData().response
        #expect(self.transport.requests.first?.headers == ["A": "1", "X-B": "2"])
        #expect(request.data.withLock { $0.watch?.timeouts.idle } == .milliseconds(250))
    }

    @Test(arguments: ["ftp://a.test/", "http:///x", "no url", "http://a.test/%7"])
    func invalidURLIsTheRequestsError(url: String) async {
        let error = await HTTPSession.plain(self.transport).request(url).serializingData().response.error
        #expect(error?.code == .invalidRequest)
        #expect(self.transport.requests.isEmpty)
    }

    @Test func aLineEndInAFieldIsRefused() async {
        let error = await HTTPSession.plain(self.transport).request("http://a.test/", headers: ["A": "b\r\nC: d"]).serializingData()
            .response
            .error
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.contains("\"A\"") == true)
        #expect(self.transport.requests.isEmpty)
    }

    @Test func downloadsAndStreamsAreMadeTheSameWay() async throws {
        let session = HTTPSession.plain(self.transport)
        let file = try await session.download("http://a.test/d", parameters: ["q": "1"]).serializingDownloadedFileURL().value
        try FileManager.default.removeItem(at: file)
        for try await _ in session.stream("http://a.test/s", method: .post, parameters: ["q": "1"]).bytes {}
        for try await _ in session.stream(URLRequest(url: try "http://a.test/r".asURL())).bytes {}
        #expect(
            self.transport.requests.map { "\($0.method) \($0.url.absoluteString)" } == [
                "GET http://a.test/d?q=1", "POST http://a.test/s", "GET http://a.test/r",
            ])
    }
}

@Suite struct SessionUploadsTests {
    /// The bytes that a transport would send, read while the request is under way.
    private static func bytes(_ body: RequestBody) -> String {
        switch body {
        case .none, .unobservable: "none"
        case .data(let data): String(decoding: data, as: UTF8.self)
        case .file(let url, let size):
            "\((try? String(decoding: Data(contentsOf: url), as: UTF8.self)) ?? "unreadable") (\(size))"
        }
    }

    private let sent = Collected<String>()
    private let session: HTTPSession

    init() {
        let sent = self.sent
        self.session = .plain(
            ScriptedTransport { exchange, _ in
                sent.add(Self.bytes(exchange.request.body))
                exchange.answer()
            })
    }

    @Test func dataAndFilesAreBodies() async throws {
        let folder = try TemporaryFolder()
        try folder.write(Array("file".utf8), to: "f")
        let url = URL(fileURLWithPath: folder.file("f"))
        _ = await self.session.upload(Data("data".utf8), to: "http://a.test/").serializingData().response
        let response = await self.session.upload(url, to: "http://a.test/", method: .put).serializingData().response
        let given = URLRequest(url: try "http://a.test/".asURL())
        _ = await self.session.upload(url, with: given).serializingData().response
        _ = await self.session.upload(Data("with".utf8), with: given).serializingData().response
        #expect(self.sent.all == ["data", "file (4)", "file (4)", "with"])
        #expect(response.sentRequest?.method == "PUT")
    }

    @Test func aFileThatIsNotThereIsTheError() async throws {
        let folder = try TemporaryFolder()
        for path in [folder.file("none"), folder.path] {
            let error = await self.session.upload(URL(fileURLWithPath: path), to: "http://a.test/").serializingData().response.error
            #expect(error?.code == .requestBody)
            #expect(error?.message.contains("\"\(path)\"") == true)
        }
    }

    @Test func aStreamIsSpooledAndItsFileRemoved() async throws {
        let folder = try TemporaryFolder()
        let session = HTTPSession.plain(
            ScriptedTransport { [sent] exchange, _ in
                sent.add(Self.bytes(exchange.request.body))
                exchange.answer()
            }
        ) { $0.temporaryFolder = URL(fileURLWithPath: folder.path) }
        let text = String(repeating: "x", count: 200_000)
        _ = await session.upload(InputStream(data: Data(text.utf8)), to: "http://a.test/").serializingData().response
        var given = URLRequest(url: try "http://a.test/".asURL())
        given.httpMethod = "POST"
        given.httpBodyStream = InputStream(data: Data("own".utf8))
        _ = await session.request(given).serializingData().response
        _ = await session.upload(InputStream(data: Data("with".utf8)), with: given).serializingData().response
        #expect(self.sent.all == ["\(text) (200000)", "own (3)", "with (4)"])
        await session.waitUntilIdle()
        #expect(try folder.names().isEmpty)
    }

    @Test(arguments: [(1_000, "memory"), (10, "file")])
    func aFormIsEncodedInMemoryOrInAFile(threshold: Int, place: String) async throws {
        let folder = try TemporaryFolder()
        let session = HTTPSession.plain(
            ScriptedTransport { [sent] exchange, _ in
                if case .file = exchange.request.body { sent.add("file") } else { sent.add("memory") }
                sent.add(Self.bytes(exchange.request.body))
                exchange.answer()
            }
        ) { $0.temporaryFolder = URL(fileURLWithPath: folder.path) }
        let upload = session.upload(
            multipartFormData: { try $0.append("\u{AC00}", name: "name") }, to: "http://a.test/", usingThreshold: threshold)
        let type = await upload.serializingData().response.sentRequest?.headers["Content-Type"]
        #expect(self.sent.all.first == place)
        #expect(self.sent.all.last?.contains("name=\"name\"\r\n\r\n\u{AC00}\r\n--") == true)
        #expect(type?.hasPrefix("multipart/form-data; boundary=") == true)
        await session.waitUntilIdle()
        #expect(try folder.names().isEmpty)
    }

    @Test func aFormThatCannotBeFilledIsTheError() async {
        let error = await self.session.upload(
            multipartFormData: { try $0.append(fileURL: "file:///nowhere/x", name: "a") }, to: "http://a.test/"
        ).serializingData().response.error
        #expect(error?.code == .requestBody || error?.code == .invalidRequest)
        #expect(error?.cause is FormDataError)
        #expect(self.sent.all.isEmpty)
    }
}
