import Foundation
import Testing
@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The requests that a transport gets from real sessions.
@Suite struct LoadStartTests {
    private static let url = URL(string: "http://start.invalid/path?a=b") ?? URL(fileURLWithPath: "/")

    private static func post(_ change: (inout URLRequest) -> Void = { _ in }) -> URLRequest {
        var request = URLRequest(url: Self.url)
        request.httpMethod = "POST"
        request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
        change(&request)
        return request
    }

    private func text(_ body: RequestBody) throws -> String {
        switch body {
        case .none: "none"
        case .unobservable: "unobservable"
        case .data(let data): String(decoding: data, as: UTF8.self)
        case .file(let url, let size): "file \(try Data(contentsOf: url).count) of \(size)"
        }
    }

    @Test(arguments: [true, false]) func bodiesOfDataTasksAreSeen(inPlace: Bool) async throws {
        let transport = AdapterTransport { .answer($0) }
        let session = URLSession(configuration: .answered(by: transport, inPlace: inPlace))
        _ = try await session.data(for: Self.post { $0.httpBody = Data("data".utf8) })
        _ = try await session.data(for: Self.post { $0.httpBodyStream = InputStream(data: Data("stream".utf8)) })
        _ = try await session.data(for: Self.post())
        #expect(try transport.requests.map { try self.text($0.body) } == ["data", "stream", "none"])
        #expect(transport.requests.map(\.url) == [Self.url, Self.url, Self.url])
    }

    @Test func bodiesOfUploadsAreSeen() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("wiretape-start-\(UUID())")
        try Data(repeating: 1, count: 70_000).write(to: folder)
        defer { try? FileManager.default.removeItem(at: folder) }
        let transport = AdapterTransport { .answer($0) }
        let delegate = RecordingDelegate(stream: Data("streamed".utf8))
        let session = URLSession(configuration: .answered(by: transport, inPlace: true), delegate: delegate, delegateQueue: nil)
        _ = try await session.upload(for: Self.post { $0.httpBody = Data("decoy".utf8) }, from: Data("data".utf8))
        _ = try await session.upload(for: Self.post(), fromFile: folder)
        #if canImport(FoundationNetworking)
        #expect(await delegate.run(session.uploadTask(withStreamedRequest: Self.post())) == ["stream", "200", "complete"])
        #expect(try transport.requests.map { try self.text($0.body) } == ["data", "file 70000 of 70000", "streamed"])
        #endif
    }

    /// No delegate can provide the stream, so the adapter cannot see the body.
    @Test func anInvisibleBodyIsNotTreatedAsMissing() async throws {
        let transport = AdapterTransport { .answer($0) }
        let session = URLSession(configuration: .answered(by: transport, inPlace: true))
        let task = session.uploadTask(withStreamedRequest: Self.post())
        task.resume()
        transport.started.wait()
        #expect(try transport.requests.map { try self.text($0.body) } == ["unobservable"])
    }

    @Test func aFileThatIsNotThereFailsBeforeAnythingIsSent() async throws {
        let transport = AdapterTransport { .answer($0) }
        let session = URLSession(configuration: .answered(by: transport, inPlace: true))
        let missing = URL(fileURLWithPath: "/nowhere/at/all")
        let error = await #expect(throws: (any Error).self) { try await session.upload(for: Self.post(), fromFile: missing) }
        #if canImport(FoundationNetworking)
        #expect((error as NSError?)?.localizedDescription.contains("/nowhere/at/all") == true)
        #endif
        #expect(error != nil && transport.requests.isEmpty)
    }

    @Test func fieldsOfTheSessionGoOutAlsoThoseSetLater() async throws {
        let transport = AdapterTransport { .answer($0) }
        let configuration = URLSessionConfiguration.answered(by: transport, inPlace: true)
        configuration.httpAdditionalHeaders = ["X-Session": "1", "Content-Type": "from/session"]
        _ = try await URLSession(configuration: configuration).data(for: Self.post())
        #expect(transport.requests[0].headers.value(for: "X-Session") == "1")
        #expect(transport.requests[0].headers.values(for: "Content-Type") == ["text/plain"])
    }

    @Test func cookiesAreKeptAndSent() async throws {
        let transport = AdapterTransport { .answer($0, headers: ["Set-Cookie": "a=1; Path=/"]) }
        let session = URLSession(configuration: .answered(by: transport, inPlace: true))
        for _ in 0..<2 { _ = try await session.data(from: Self.url) }
        #expect(transport.requests.map { $0.headers.value(for: "Cookie") } == [nil, "a=1"])
    }

    @Test func aSessionWithoutItsTransportReportsThat() async throws {
        let transport = AdapterTransport { .answer($0) }
        let configuration = URLSessionConfiguration.answered(by: transport, inPlace: true)
        configuration.connectionProxyDictionary = nil
        let error = await #expect(throws: (any Error).self) { try await URLSession(configuration: configuration).data(from: Self.url) }
        #expect(
            (error as NSError?)?.localizedDescription.hasPrefix("there is no transport for \"http://start.invalid/path?a=…\":")
                == true)
        #expect(transport.requests.isEmpty)
    }

    @Test func aRequestOfNoSessionIsRefused() throws {
        #expect(throws: TransportFailure.self) { try LoadStart(URLRequest(url: Self.url), task: nil, session: nil) }
    }
}

@Suite struct LoadCookiesTests {
    private static let url = URL(string: "http://here.test/a") ?? URL(fileURLWithPath: "/")

    private func cookies(_ change: (URLSessionConfiguration) -> Void = { _ in }) -> LoadCookies? {
        let configuration = URLSessionConfiguration.ephemeral
        change(configuration)
        return LoadCookies(configuration, request: URLRequest(url: Self.url))
    }

    @Test func cookiesOfAnAnswerAreSentWithTheNextRequest() throws {
        let cookies = try #require(self.cookies())
        var headers = HTTPSession.Headers()
        headers.add(name: "Set-Cookie", value: "a=1; Expires=Wed, 21 Oct 2065 07:28:00 GMT")
        headers.add(name: "Set-Cookie", value: "b=2")
        cookies.store(HTTPSession.Response(url: Self.url, status: 200, headers: headers))
        let request = cookies.added(to: TransportRequest(method: "GET", url: Self.url, headers: ["Cookie": "old=1", "X": "y"]))
        let sent = try #require(request.headers.value(for: "Cookie")).components(separatedBy: "; ").sorted()
        #expect(sent == ["a=1", "b=2"])
        #expect(request.headers.count == 2)
    }

    @Test func aRequestKeepsItsOwnWhereTheStorageHasNone() throws {
        let cookies = try #require(self.cookies())
        let request = cookies.added(to: TransportRequest(method: "GET", url: Self.url, headers: ["Cookie": "own=1"]))
        #expect(request.headers.value(for: "Cookie") == "own=1")
    }

    @Test func sessionsThatWantNoCookiesGetNone() {
        #expect(self.cookies { $0.httpCookieStorage = nil } == nil)
        #expect(self.cookies { $0.httpShouldSetCookies = false } == nil)
        #expect(self.cookies { $0.httpCookieAcceptPolicy = .never } == nil)
        var request = URLRequest(url: Self.url)
        request.httpShouldHandleCookies = false
        #expect(LoadCookies(.ephemeral, request: request) == nil)
    }
}
