import Foundation
import TapeTestSupport
import Testing
@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct InputStreamContentsTests {
    @Test func allBytesAreRead() throws {
        let data = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
        let folder = try TemporaryFolder()
        let file = try InputStream(data: data).spooled(in: URL(fileURLWithPath: folder.path))
        #expect(file.size == data.count)
        #expect(try Data(contentsOf: URL(fileURLWithPath: file.path)) == data)
    }

    @Test func anOpenStreamIsRefused() {
        let stream = InputStream(data: Data("a".utf8))
        stream.open()
        let error = #expect(throws: WiretapeError.self) { try stream.spooled(in: nil) }
        #expect(error?.code == .requestBody)
    }

    @Test func aStreamThatFailsIsTheErrorAndNoCrash() throws {
        let stream = try #require(InputStream(fileAtPath: "/nowhere/at/all"))
        let error = #expect(throws: WiretapeError.self) { try stream.spooled(in: nil) }
        #expect(error?.code == .requestBody)
    }
}

@Suite struct RequestContentTests {
    @Test func aFileIsReadLater() throws {
        let folder = try TemporaryFolder()
        try folder.write([1, 2, 3], to: "f")
        let content = try RequestContent(file: URL(fileURLWithPath: folder.file("f")))
        #expect(content.body.size == 3)
        #expect(content.type == nil && content.spool == nil)
    }

    @Test func noFileIsNoBody() throws {
        #expect(throws: WiretapeError.self) { try RequestContent(file: try "http://a.test/".asURL()) }
        #expect(throws: WiretapeError.self) { try RequestContent(file: URL(fileURLWithPath: "/nowhere/at/all")) }
        #expect(RequestContent.none.body.size == nil)
    }

    @Test func aSpooledStreamLivesAsLongAsItsContent() throws {
        let folder = try TemporaryFolder()
        var content: RequestContent? = try RequestContent(
            spooling: InputStream(data: Data("abc".utf8)), folder: URL(fileURLWithPath: folder.path))
        #expect(content?.body.size == 3)
        #expect(try folder.names().count == 1)
        content = nil
        #expect(try folder.names().isEmpty)
    }

    @Test func aFormHasItsType() throws {
        var form = FormData()
        try form.append("v", name: "n")
        let content = try RequestContent(form, threshold: 10_000, folder: nil)
        #expect(content.type == form.contentType)
        #expect(content.body.size == form.contentLength)
    }
}

@Suite struct RequestSourceMakingTests {
    @Test func aPlainRequestTakesTheTypeOfItsContentUnlessItHasOne() throws {
        let content: @Sendable () throws -> RequestContent = { RequestContent(body: .data(Data("x".utf8)), type: "a/b") }
        let plain = try RequestSource.plain("http://a.test/", .post, ["X": "1"], body: content, nil).make(nil)
        #expect(plain.request.headers == ["X": "1", "Content-Type": "a/b"])
        let own = try RequestSource.plain("http://a.test/", .post, ["content-type": "c/d"], body: content, nil).make(nil)
        #expect(own.request.headers == ["content-type": "c/d"])
        #expect(own.idleTimeout == nil)
    }

    @Test func aConvertedRequestKeepsItsBodyAndItsTimeout() throws {
        var given = URLRequest(url: try "http://a.test/".asURL())
        given.httpMethod = "PATCH"
        given.httpBody = Data("own".utf8)
        given.timeoutInterval = 0.5
        let draft = try RequestSource.converted(given, spoolFolder: nil).make(nil)
        #expect(draft.request.method == "PATCH")
        #expect(draft.request.body.size == 3)
        #expect(draft.idleTimeout == .milliseconds(500))
        let other = try RequestSource.converted(given, body: { RequestContent(body: .data(Data("other".utf8))) }, spoolFolder: nil).make(
            nil)
        #expect(other.request.body.size == 5)
    }

    @Test func anEncoderKeepsTheOrderOfFields() throws {
        let source = RequestSource.encoded("http://a.test/", .get, ["Z": "1", "A": "2", "Z": "3"], nil) {
            var request = $0
            request.setValue("new", forHTTPHeaderField: "X-New")
            return request
        }
        #expect(try source.make(nil).request.headers == ["Z": "1", "A": "2", "Z": "3", "X-New": "new"])
    }

    @Test(arguments: [.infinity, .greatestFiniteMagnitude, 1e300])
    func aTimeoutWithoutEndIsALongOne(seconds: TimeInterval) throws {
        var request = try URLRequest(url: "http://a.test/", method: .get)
        request.timeoutInterval = seconds
        #expect(request.ownTimeout == .seconds(1_000_000_000))
    }
}

@Suite struct UploadTargetTests {
    @Test func bothKindsTakeTheContent() throws {
        let plain = UploadTarget("http://a.test/", .put, ["A": "1"], nil)
        let converted = UploadTarget(URLRequest(url: try "http://a.test/".asURL()))
        for (target, method) in [(plain, "PUT"), (converted, "GET")] {
            let source = target.source({ RequestContent(body: .data(Data("abc".utf8))) }, isBlocking: true, spoolFolder: nil)
            #expect(source.isBlocking)
            let draft = try source.make(nil)
            #expect(draft.request.body.size == 3 && draft.request.method == method)
        }
    }
}

@Suite struct RequestDraftTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    @Test func aStreamIsReadWhenToldTo() throws {
        let given = TransportRequest(method: "PUT", url: try "http://a.test/".asURL(), body: .data(Data("old".utf8)))
        var draft = RequestDraft(given)
        try draft.change(from: URLRequest(given), to: self.streamed(given))
        guard case .unobservable = draft.request.body else { return #expect(Bool(false), "\(draft.request.body)") }
        #expect(draft.unread != nil)
        var whole: RequestDraft? = try draft.read(in: URL(fileURLWithPath: self.folder.path))
        guard case .file(let file, size: 6) = whole?.request.body else { return #expect(Bool(false), "\(draft.request.body)") }
        #expect(try Data(contentsOf: file) == Data("stream".utf8))
        #expect(whole?.unread == nil)
        whole = nil
        #expect(try self.folder.names().isEmpty)
    }

    @Test func anotherBodyTakesThePlaceOfAStreamFromBefore() throws {
        let given = TransportRequest(method: "PUT", url: try "http://a.test/".asURL())
        var draft = RequestDraft(given)
        try draft.change(from: URLRequest(given), to: self.streamed(given))
        let view = URLRequest(draft.request)
        var changed = view
        changed.httpBody = Data("new".utf8)
        try draft.change(from: view, to: changed)
        let whole = try draft.read(in: URL(fileURLWithPath: self.folder.path))
        guard case .data(let data) = whole.request.body else { return #expect(Bool(false), "\(whole.request.body)") }
        #expect(data == Data("new".utf8))
    }

    @Test(arguments: ["modifier", "adapter", "redirect"]) func streamFromAnySourceIsTheBody(by maker: String) async throws {
        let transport = ScriptedTransport()
        let folder = self.folder.path
        let session = HTTPSession.plain(transport) { $0.temporaryFolder = URL(fileURLWithPath: folder) }
        let request =
            switch maker {
            case "modifier": session.request("http://a.test/", method: .put) { $0.httpBodyStream = InputStream(data: Data("stream".utf8)) }
            case "adapter":
                session.request(
                    "http://a.test/", method: .put,
                    interceptor: HTTPSession.Interceptor.adapting { request, _ in
                        var request = request
                        request.httpBodyStream = InputStream(data: Data("stream".utf8))
                        return request
                    })
            case _:
                session.request("http://a.test/", method: .put).redirect(
                    using: .modify { proposed, _, _ in
                        var request = proposed
                        request.httpBodyStream = InputStream(data: Data("stream".utf8))
                        return request
                    })
            }
        let task = request.serializingData()
        if maker == "redirect" { await transport.exchange(1).answer(307, ["Location": "/next"], "") }
        let exchange = await transport.exchange(maker == "redirect" ? 2 : 1)
        guard case .file(let file, size: 6) = exchange.request.body else { return #expect(Bool(false), "\(exchange.request.body)") }
        #expect(try Data(contentsOf: file) == Data("stream".utf8))
        exchange.answer(200, [:], "x")
        #expect(try await task.value == Data("x".utf8))
        #expect(try self.folder.names().isEmpty)
    }

    private func streamed(_ request: TransportRequest) -> URLRequest {
        var view = URLRequest(request)
        view.httpBodyStream = InputStream(data: Data("stream".utf8))
        return view
    }
}
