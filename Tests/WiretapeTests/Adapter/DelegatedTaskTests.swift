#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking
import Testing

@testable import Wiretape

/// What a delegate of a real session is asked and told.
@Suite struct DelegatedTaskTests {
    private static let url = URL(string: "http://delegate.invalid/start") ?? URL(fileURLWithPath: "/")

    private static func redirecting(_ request: TransportRequest) -> [TransportEvent] {
        request.url.path == "/start"
            ? .answer(request, status: 302, headers: ["Location": "/next"], "moved") : .answer(request, request.url.path)
    }

    private func run(_ delegate: RecordingDelegate, inPlace: Bool) async -> ([String], [String]) {
        let transport = AdapterTransport { Self.redirecting($0) }
        let session = URLSession(configuration: .answered(by: transport, inPlace: inPlace), delegate: delegate, delegateQueue: nil)
        let calls = await delegate.run(session.dataTask(with: Self.url))
        return (calls, transport.requests.map(\.url.path))
    }

    @Test(arguments: [true, false]) func itIsAskedAboutARedirect(inPlace: Bool) async {
        let (calls, paths) = await self.run(RecordingDelegate(), inPlace: inPlace)
        #expect(calls == ["redirect 302 to GET /next", "200", "/next", "complete"])
        #expect(paths == ["/start", "/next"])
    }

    @Test(arguments: [true, false]) func itMayTakeTheRedirectForTheAnswer(inPlace: Bool) async {
        let (calls, paths) = await self.run(RecordingDelegate { _ in nil }, inPlace: inPlace)
        #expect(calls == ["redirect 302 to GET /next", "302", "moved", "complete"])
        #expect(paths == ["/start"])
    }

    @Test func itMayChangeTheRequest() async {
        let delegate = RecordingDelegate { request in
            var request = request
            request.url = URL(string: "http://delegate.invalid/other")
            return request
        }
        let (calls, paths) = await self.run(delegate, inPlace: true)
        #expect(calls == ["redirect 302 to GET /next", "200", "/other", "complete"])
        #expect(paths == ["/start", "/other"])
    }

    @Test func itIsToldWhatHasGoneOut() async {
        let transport = AdapterTransport { [.sent(3, of: 7), .sent(3, of: 7), .sent(7, of: 7)] + .answer($0) }
        let delegate = RecordingDelegate()
        let session = URLSession(configuration: .answered(by: transport, inPlace: true), delegate: delegate, delegateQueue: nil)
        var request = URLRequest(url: Self.url)
        request.httpMethod = "POST"
        let calls = await delegate.run(session.uploadTask(with: request, from: Data("1234567".utf8)))
        #expect(calls == ["sent 3, 3 of 7", "sent 4, 7 of 7", "200", "complete"])
    }
}
#endif
